// How far a damaged log can be read, from its first event. Inner part of src/events. Reads the
// whole log, so only where something is known to be wrong.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "events/high_water.h"
#include "events/rocks_db.h"

namespace karst::events {

struct SoundPart {
  model::Position last;  // the one before the first at hand: not even that
  std::string why;       // what is wrong with the next one; empty: nothing, the log ends there
};

// Every event at hand up to the first that is missing, cannot be read, is not what its position
// says, or, at the mark, is another one than the mark saw.
SoundPart sound_part(const RocksDb& db, const HighWaterMark& mark);

// Opens what can be opened, to look, while nobody writes.
struct DamagedDb {
  std::unique_ptr<RocksDb> db;  // nullptr: nothing can be opened
  bool tables_open = true;      // else some table cannot be, of whichever family
};
DamagedDb open_damaged(const std::string& folder);

// kCorrupt: "FOLDER: all N events can be read, but WHAT. …".
base::Error events_are_whole(const std::string& folder, const SoundPart& sound,
                             const std::string& what);

// kCorrupt: "FOLDER: the first damaged position is N: WHY. …".
base::Error first_damage(const std::string& folder, const SoundPart& sound);

}  // namespace karst::events
