// Looks things up in the index of a log, also beside the daemon that writes it, and on a file
// system that cannot be written: a secondary opening, with a scratch folder of its own. What it
// finds may be too much (terms.h), never too little up to through(); what is after that must be
// looked for in the log. One thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "events/event_log.h"
#include "events/rocks_db.h"
#include "index/terms.h"
#include "index/tile_store.h"
#include "model/ids.h"

namespace karst::index {

inline constexpr std::size_t kPositionsMax = 1 << 20;  // 8 MiB of them

class Reader {
 public:
  // `secret`: the log's. `scratch`: a folder of this opening alone. Errors: kGone when there is no
  // index; kInvalid when it is another log's, of another history of it (same_history.h) or of
  // another format; kCorrupt, also for a table that is missing or cut; kDenied, those of the log.
  // All of them mean: do without.
  static base::Result<std::unique_ptr<Reader>> open(const std::string& folder,
                                                    const events::EventLog& log,
                                                    const std::string& secret,
                                                    const std::string& scratch);

  // The last position that is indexed.
  model::Position through() const { return through_; }
  // Sees what was written since. Errors: kCorrupt.
  base::Status refresh();

  // Positions from `from` on whose events may have this term, rising. Errors: kCorrupt; kInvalid
  // when there are more than kPositionsMax.
  base::Result<std::vector<model::Position>> positions(Term term, model::Position from) const;

  // The tiles of the tree over the events 1 to tree_size(), at most through().
  const proof::TileReader& tiles() const { return tiles_; }
  std::uint64_t tree_size() const { return tree_size_; }

 private:
  explicit Reader(std::unique_ptr<events::RocksDb> db) : db_(std::move(db)), tiles_(*db_) {}

  std::unique_ptr<events::RocksDb> db_;
  TileStore tiles_;
  std::uint64_t tree_size_ = 0;
  model::Position through_;
};

}  // namespace karst::index
