// Places where a test ends this process as a power cut would: KARST_KILL_POINT=NAME or NAME:N in
// the environment means SIGKILL when the place is passed for the N-th time (from 1); NAME:N:stop
// means SIGSTOP, after which the test may let it go on. NAME@TYPE counts the passings with an event
// of that type alone: one that is written, the outcome of such a command, such a command that
// leaves; NAME@TYPE|OTHER those with either; NAME@FIRST,TYPE those after something of the type
// FIRST has passed any place. Unset: nothing happens. A decorator each for the log and the
// snapshots marks the places around their writes; the trimmer and the daemon mark the others. Of
// one thread: the engine's, and a copy where the log is trimmed, and its archive.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "events/event_log.h"
#include "events/snapshots.h"

namespace karst::daemon {

enum class KillPoint {
  kBeforeRecover,
  kAfterRecover,
  kBeforeAppendFacts,
  kAfterAppendFacts,
  kBeforeAppendAnswer,
  kAfterAppendAnswer,
  kBeforeAcknowledge,
  kAfterAcknowledge,
  kBeforeDispatch,
  kAfterDispatch,
  kBeforeSnapshot,
  kAfterSnapshot,
  kBeforeTrimMark,
  kAfterTrimMark,
  kAfterTrimCompaction,
  kBeforeExpiryMark,
  kAfterExpiryMark,
  kAfterExpiredSegment,
  kBeforeStop,
};
inline constexpr std::array<std::string_view, 19> kKillPointNames = {
    "before-recover",     "after-recover",        "before-append-facts",
    "after-append-facts", "before-append-answer", "after-append-answer",
    "before-acknowledge", "after-acknowledge",    "before-dispatch",
    "after-dispatch",     "before-snapshot",      "after-snapshot",
    "before-trim-mark",   "after-trim-mark",      "after-trim-compaction",
    "before-expiry-mark", "after-expiry-mark",    "after-expired-segment",
    "before-stop"};

class KillPoints {
 public:
  using Types = std::vector<std::string_view>;  // names of event types

  // "" (nothing), "NAME", "NAME:N" or "NAME:N:stop", the name with "@TYPE" or "@FIRST,TYPE" or
  // without; TYPE is one or several, parted by "|". Errors: kInvalid for an unknown name or type,
  // or an N that is no number from 1.
  static base::Result<KillPoints> parse(std::string_view text);
  static base::Result<KillPoints> from_environment();

  // Counts the passing; if this is the one, does not return, or not before SIGCONT. `types`: of
  // what is written or leaves there, empty where nothing does or nobody asks.
  void pass(KillPoint point, const Types& types = {});
  bool asks_for_types() const { return armed() && !types_.empty(); }
  bool armed() const { return left_ > 0; }
  KillPoint point() const { return point_; }
  std::uint64_t left() const { return left_; }
  bool stops() const { return stops_; }

 private:
  KillPoint point_ = KillPoint::kBeforeRecover;
  std::uint64_t left_ = 0;
  std::string first_;               // until it has passed
  std::vector<std::string> types_;  // any of them; empty: whatever passes
  bool stops_ = false;
};

class KillPointLog final : public events::EventLog {
 public:
  KillPointLog(events::EventLog& log, KillPoints& points) : log_(log), points_(points) {}
  const model::LogId& id() const override { return log_.id(); }
  base::Result<model::Position> append(std::span<const events::Record> records,
                                       events::Durability durability) override;
  base::Result<std::unique_ptr<events::Cursor>> read(model::Position from) const override {
    return log_.read(from);
  }
  model::Position end() const override { return log_.end(); }
  model::Position first() const override { return log_.first(); }
  base::Result<std::optional<events::Baseline>> baseline() const override {
    return log_.baseline();
  }
  base::Result<std::string> trimmed_leaves(std::uint64_t tile) const override {
    return log_.trimmed_leaves(tile);
  }

 private:
  KillPoints::Types types_of(std::span<const events::Record> records) const;

  events::EventLog& log_;
  KillPoints& points_;
};

class KillPointSnapshots final : public events::Snapshots {
 public:
  KillPointSnapshots(events::Snapshots& snapshots, KillPoints& points)
      : snapshots_(snapshots), points_(points) {}
  base::Status put(std::string_view version, const events::Snapshot& snapshot) override;
  base::Result<std::optional<events::Snapshot>> latest(std::string_view version,
                                                       model::Position position) const override {
    return snapshots_.latest(version, position);
  }

 private:
  events::Snapshots& snapshots_;
  KillPoints& points_;
};

}  // namespace karst::daemon
