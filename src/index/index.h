// Writes the index of a log: DIR/index, a RocksDB with the families
//   streams  postings.h
//   tiles    tile_store.h: of the tree over the events 1 to N, N at most what is indexed
//   meta     "format" → kIndexFormat, "log" → the log's id, "through" → the last position indexed,
//            8 bytes big-endian; "tree" → the tree's size
// Owner: one thread of the process that holds the log's lock (the daemon's indexer, src/daemon/
// indexer.h). Derived and disposable: an index that is missing, damaged, of another format, log or
// history (same_history.h), or ahead of the log is removed and built again, and nothing of the log
// is ever touched. Nothing
// is synced: after a power loss the newest part is missing, and is written again. Only positions
// that are on stable storage may be indexed (RocksLog::synced), so a crash never leaves the index
// ahead of the log. Of a log whose beginning was trimmed the tree is the same: its leaves are kept
// (EventLog::trimmed_leaves). Postings begin with the first event at hand.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "events/event_log.h"
#include "events/rocks_db.h"
#include "index/postings.h"
#include "index/tile_store.h"
#include "proof/tiles.h"

namespace karst::index {

inline constexpr std::string_view kIndexFormat = "1";
inline constexpr std::uint64_t kEventsPerBatchMax = 4096;     // read and written in one go
inline constexpr std::uint64_t kUnflushedBytesMax = 5 << 20;  // in memory, before tables are made

// "DIR/index"
std::string index_folder(const std::string& data);

class Index {
 public:
  // `secret`: the log's, for leaves (events/event.h). `synced`: how far the log is on stable
  // storage. Reads all tables of the index once. Errors: kFull, kDenied, kTaken, those of the log;
  // whatever else is wrong with an index ends in a new one.
  static base::Result<std::unique_ptr<Index>> open(const std::string& folder,
                                                   const events::EventLog& log,
                                                   const std::string& secret,
                                                   model::Position synced);

  // Why the one that was there is gone: "" when it was taken over, or there was none.
  const std::string& replaced_because() const { return replaced_because_; }
  model::Position through() const { return through_; }
  // The tree over the events 1 to through().
  std::uint64_t tree_size() const { return tree_.size(); }
  const proof::TileReader& tiles() const { return tiles_; }

  // Indexes the positions after through(), up to `last`, at most kEventsPerBatchMax of them. After
  // an error the index takes no more: open it again. Errors: those of the log's cursor; kFull,
  // kCorrupt of the index.
  base::Status advance(const events::EventLog& log, model::Position last);

 private:
  struct Entry {
    Term term;
    std::uint16_t offset;  // in the block
  };

  Index(std::unique_ptr<events::RocksDb> db, std::string secret, model::Position through)
      : db_(std::move(db)),
        tiles_(*db_),
        secret_(std::move(secret)),
        through_(through),
        next_(block_of(through)) {}
  static base::Result<std::unique_ptr<Index>> take_over(std::unique_ptr<events::RocksDb> db,
                                                        const std::string& secret);
  base::Status add_trimmed(const events::EventLog& log, model::Position last);
  void add(const events::Event& event);
  void put_block(model::Position fresh);
  base::Status write();

  std::unique_ptr<events::RocksDb> db_;
  const TileStore tiles_;
  const std::string secret_;
  proof::TileBuilder tree_;
  std::string replaced_because_;
  model::Position through_;     // written
  model::Position next_;        // to read; before through_ when a block is taken up again
  model::Position block_;       // the one that was read last
  std::vector<Entry> entries_;  // of it
  std::vector<Term> terms_;     // scratch
};

}  // namespace karst::index
