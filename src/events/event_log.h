// The log: append-only, one writer, one total order. Positions start at 1 and have no gaps. Two
// implementations pass one contract suite (tests/events/): memory_log.h and rocks_log.h. Thread
// safety: append and flush belong to the engine thread; end() and cursors may be used by other
// threads of the same process.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

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

// What the beginning of a log folded to, kept when that beginning was trimmed away
// (docs/decisions/0018).
struct Baseline {
  model::Position position;      // the last event folded into it: first() - 1
  std::string projection;        // version of the bytes (projections::kProjectionVersion)
  std::string decision_version;  // of the DaemonStarted that was in force; empty: of none
  std::string bytes;             // the state (projections::ClusterState::save)
};

inline constexpr std::uint64_t kTrimTile = 256;  // a log begins at 1, or behind a multiple of this

class EventLog {
 public:
  virtual ~EventLog() = default;

  virtual const model::LogId& id() const = 0;

  // All of the records or none, at end(), end()+1, …; returns the first position. An empty span is
  // a no-op. Errors: kFull (nothing was written; freeing space makes it work again), kCorrupt (the
  // log refuses all further appends).
  virtual base::Result<model::Position> append(std::span<const Record> records,
                                               Durability durability) = 0;

  // From `from` to the end. Errors: kInvalid for a position before first(), which says since when
  // it is not there, and which archive has it.
  virtual base::Result<std::unique_ptr<Cursor>> read(model::Position from) const = 0;

  // The position that the next append will get: 1 for an empty log.
  virtual model::Position end() const = 0;

  // The first position at hand: 1, but for a log that was trimmed. Whoever walks a log from its
  // beginning begins here. Logs that cannot be trimmed have no need for the next three.
  virtual model::Position first() const { return model::Position(1); }
  // What lies before first(), folded; nullopt when that is nothing. Errors: kCorrupt when its bytes
  // are not those that the log's LogTrimmed speaks of.
  virtual base::Result<std::optional<Baseline>> baseline() const {
    return std::optional<Baseline>();
  }
  // The leaf hashes (proof/merkle.h) of the positions 256 * tile + 1 to 256 * tile + 256, which are
  // all before first(): 32 bytes each. Errors: kGone when they are not, kCorrupt.
  virtual base::Result<std::string> trimmed_leaves(std::uint64_t tile) const;
};

}  // namespace karst::events
