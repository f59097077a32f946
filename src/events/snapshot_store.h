// Snapshots beside the log, in its column family of that name. Written without the write-ahead log
// and without a sync: after a crash the newest may be missing. A damaged one is passed over. The
// first that is put removes those of other versions. Same thread rules as RocksDb.
//
// Kept by distance: dense near the newest, sparse further back. At the distance D from the newest,
// positions are cut into slots of W, the greatest power of two that is at most D / kSnapshotsDense;
// of each slot the oldest is kept. So whatever the place, the next snapshot before it is at most 2
// W away, or what lies between two that were made; and each doubling of the distance holds at most
// 2 * kSnapshotsDense of them. With one every 50,000 positions all of the last ten million stay.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "events/rocks_db.h"
#include "events/snapshots.h"

namespace karst::events {

inline constexpr std::uint64_t kSnapshotsDense = 160;
inline constexpr std::size_t kSnapshotsMax = 2'000;  // whatever is older than so many goes

// Which of the positions of snapshots, newest first, are kept by that rule; in the same order.
std::vector<model::Position> kept_snapshots(const std::vector<model::Position>& positions);

class SnapshotStore final : public Snapshots {
 public:
  // From another opening of the same database, or null while there is none: then put and latest are
  // refused with kFull.
  void use(std::shared_ptr<RocksDb> db) {
    db_ = std::move(db);
    stored_.clear();
  }

  base::Status put(std::string_view version, const Snapshot& snapshot) override;
  base::Result<std::optional<Snapshot>> latest(std::string_view version,
                                               model::Position position) const override;

 private:
  // `only_of`: those of another version go too, for they would stand in the place of others; empty:
  // all were looked at before.
  base::Status prune(std::string_view only_of);
  static tl::unexpected<base::Error> closed();
  std::shared_ptr<RocksDb> db_;
  std::vector<model::Position> stored_;  // newest first; empty: not looked for yet
};

}  // namespace karst::events
