// Deletes the oldest segments of an archive (docs/decisions/0020): whole ones, all of whose events
// are older than was asked for, and gone from the log too. What is left comes back as a trimmed
// log. Nothing goes unless all of the archive was read and is what the log says it is: leaf hash by
// leaf hash where the log was trimmed, byte by byte where it has the events. The steps, each after
// the one before is on stable storage; a crash between two leaves an archive that opens and comes
// back:
//   1. prepare: the archive is read and compared; leaf hashes, and the state before the first event
//      that stays, are kept in it
//   2. whoever appends tells the log: events::expired_of(note, look().segments)
//   3. that event is sealed into the archive, so that what comes back can be held against it
//   4. finish: the archive begins later; then the segments go
// Reads the log by cursors of its own: any one thread, which owns the archive.
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
#include "projections/cluster_state.h"

namespace karst::daemon {

struct ExpiryLook {
  model::Position first;       // the first event that would stay
  std::uint64_t segments = 0;  // that go; 0: none is old enough
  std::uint64_t events = 0;    // before first
  std::uint64_t bytes = 0;     // of the files that go
};

class Expirer {
 public:
  // Both outlive it. `folder`: the archive's. `go_on` hears how far it is, and says whether to go
  // on: prepare and check then end with kRetry, and nothing has changed. `kill_points`: finish
  // passes the three of expiry.
  Expirer(events::RocksLog& log, events::Archive& archive, const std::string& folder,
          std::function<bool(model::Position)> go_on, KillPoints kill_points = {});

  // What would go: segments whose last event is before this log time. Reads all of the archive, or,
  // when nothing is old enough, one segment. Errors: kInvalid when the archive is another log's;
  // kCorrupt when it is damaged or holds something else; kGone when this build cannot fold what it
  // begins with; those of the log.
  base::Result<ExpiryLook> check(base::LogTime before);
  // The same, and keeps what must stay of it; nullopt: nothing goes. Finishes first what a kill
  // left of an earlier one. Errors: as above; kFull, kDenied.
  base::Result<std::optional<events::BaselineNote>> prepare(base::LogTime before);
  const ExpiryLook& look() const { return look_; }  // of the last of these

  // REQUIRES: `event` is where the log was told (told_since, trimmer.h). Errors: those of
  // Archive::expire; kInvalid when the archive does not hold it yet.
  base::Status finish(const events::BaselineNote& note, model::Position event, base::WallTime now);

 private:
  base::Status may_go() const;
  base::Result<bool> find_old(base::LogTime before);
  base::Status compare();
  base::Status compare_leaf(const events::Event& event, const std::string& file);
  base::Status compare_segment(const events::ArchivedSegment& place, events::Cursor& ours);
  base::Status can_fold() const;
  base::Status check_beginning();
  base::Result<events::Baseline> fold_and_keep();
  base::Status keep_leaf(const events::Event& event, std::string& leaves, std::uint64_t& tile);

  events::RocksLog& log_;
  events::Archive& archive_;
  const std::string folder_;
  const std::function<bool(model::Position)> go_on_;
  KillPoints kill_points_;
  ExpiryLook look_;
  std::string tile_leaves_;  // as the log has them, of the tile that is compared
  std::optional<std::uint64_t> tile_;
};

}  // namespace karst::daemon
