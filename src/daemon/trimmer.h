// Trims a log behind an archive and a baseline (docs/decisions/0018): nothing goes that the archive
// does not hold as the log has it, event by event. The steps, each after the one before is on
// stable storage; a crash between two leaves a log that opens and folds as before, and is trimmed
// again:
//   1. prepare: the archive is read and compared, leaf hashes and the state before the first event
//      that stays are kept
//   2. whoever appends tells the log: events::told_of(note)
//   3. finish: the events go; then their space is given back
// Reads by cursors of its own: any one thread, beside the engine's.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "daemon/kill_points.h"
#include "events/archive.h"
#include "events/rocks_log.h"

namespace karst::daemon {

// The last place at or before `wanted` where a log may begin.
model::Position trim_place(model::Position wanted);

// The first position at hand whose log time is at or after `time`; end() when there is none. Log
// times never step back. Errors: those of the log.
base::Result<model::Position> first_since(const events::EventLog& log, base::LogTime time);

// Where the log was told of a baseline, by LogTrimmed or by ArchiveExpired (`type`), from `from`
// on; nullopt until that is on stable storage. Errors: those of the log.
base::Result<std::optional<model::Position>> told_since(const events::RocksLog& log,
                                                        events::EventType type,
                                                        const events::BaselineNote& note,
                                                        model::Position from);

struct TrimLook {
  model::Position first;     // the first event that stays
  std::uint64_t events = 0;  // that go
  std::uint64_t bytes = 0;   // of those, as stored
};

class Trimmer {
 public:
  // Both outlive it. `folder`: the archive's, which the log will name in full. `go_on` hears how
  // far it is, and says whether to go on: prepare and check then end with kRetry, and nothing has
  // changed. `kill_points`: finish passes the three of trimming.
  Trimmer(events::RocksLog& log, const events::Archive& archive, const std::string& folder,
          std::function<bool(model::Position)> go_on, KillPoints kill_points = {});

  // What would go; the log may be a reader. REQUIRES: first == trim_place(first). Errors: kInvalid
  // when that is nothing or everything, or the archive is another log's or does not reach so far;
  // kCorrupt when it is damaged or holds something else; those of the log.
  base::Result<TrimLook> check(model::Position first);
  // The same, and keeps what must stay of it. Errors: as above; kFull; kGone when this build cannot
  // fold the log.
  base::Result<events::BaselineNote> prepare(model::Position first);
  const TrimLook& look() const { return look_; }  // of the last of these

  // Where the log was told of it, from `from` on, once that is on stable storage.
  base::Result<std::optional<model::Position>> told(const events::BaselineNote& note,
                                                    model::Position from) const;
  // REQUIRES: `event` is from told(). Errors: those of RocksLog::trim.
  base::Status finish(const events::BaselineNote& note, model::Position event, base::WallTime now);

 private:
  base::Status may_go(model::Position first) const;
  base::Status compare(model::Position first, bool keep);
  base::Status compare_segment(const events::ArchivedSegment& place, events::Cursor& ours,
                               model::Position first, bool keep);
  base::Status take(const events::Event& event, bool keep);

  events::RocksLog& log_;
  const events::Archive& archive_;
  const std::string folder_;
  const std::function<bool(model::Position)> go_on_;
  KillPoints kill_points_;
  TrimLook look_;
  std::string leaves_;            // of the tile that is read
  std::string decision_version_;  // of the last DaemonStarted that goes
};

}  // namespace karst::daemon
