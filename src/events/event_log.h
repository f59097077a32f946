// The log: append-only, one writer, one total order. Positions start at 1 and have no gaps. Two
// implementations pass one contract suite (tests/events/): memory_log.h and rocks_log.h. Thread
// safety: append and flush belong to the engine thread; end() and cursors may be used by other
// threads of the same process.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "base/result.h"
#include "events/event.h"
#include "model/ids.h"

namespace karst::events {

enum class Durability {
  kBuffered,  // survives the process, not the machine
  kSynced,    // on stable storage before append returns
};

// Forward over positions. Sees what was appended before it was made; a later append may or may not
// show.
class Cursor {
 public:
  virtual ~Cursor() = default;
  // The next event, valid until the next call; nullopt at the end. Errors: kCorrupt with the
  // position (also for a gap), kNewer.
  virtual base::Result<std::optional<Event>> next() = 0;
};

class EventLog {
 public:
  virtual ~EventLog() = default;

  virtual const model::LogId& id() const = 0;

  // All of the records or none, at end(), end()+1, …; returns the first position. An empty span is
  // a no-op. Errors: kFull (nothing was written; freeing space makes it work again), kCorrupt (the
  // log refuses all further appends).
  virtual base::Result<model::Position> append(std::span<const Record> records,
                                               Durability durability) = 0;

  // From `from` (at least 1) to the end.
  virtual base::Result<std::unique_ptr<Cursor>> read(model::Position from) const = 0;

  // The position that the next append will get: 1 for an empty log.
  virtual model::Position end() const = 0;
};

}  // namespace karst::events
