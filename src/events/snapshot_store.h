// Snapshots beside the log, in its column family of that name. Written without the write-ahead log
// and without a sync: after a crash the newest may be missing. A damaged one is passed over. Same
// thread rules as RocksDb.
#pragma once

#include <memory>

#include "events/rocks_db.h"
#include "events/snapshots.h"

namespace karst::events {

inline constexpr int kSnapshotsKept = 3;

class SnapshotStore final : public Snapshots {
 public:
  // From another opening of the same database, or null while there is none: then put and latest are
  // refused with kFull.
  void use(std::shared_ptr<RocksDb> db) { db_ = std::move(db); }

  base::Status put(std::string_view version, const Snapshot& snapshot) override;
  base::Result<std::optional<Snapshot>> latest(std::string_view version,
                                               model::Position position) const override;

 private:
  base::Status prune();
  static tl::unexpected<base::Error> closed();
  std::shared_ptr<RocksDb> db_;
};

}  // namespace karst::events
