#include "index/reader.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "index/index.h"
#include "index/meta.h"
#include "index/postings.h"
#include "index/same_history.h"

namespace karst::index {

using events::Family;

base::Result<std::unique_ptr<Reader>> Reader::open(const std::string& folder,
                                                   const events::EventLog& log,
                                                   const std::string& secret,
                                                   const std::string& scratch) {
  std::error_code ignored;
  if (!std::filesystem::exists(folder + "/CURRENT", ignored))
    return base::fail(base::Kind::kGone, folder + " holds no index");
  auto db = events::RocksDb::open_secondary(folder, scratch, events::Contents::kIndex);
  if (!db) return base::fail(db.error());
  std::unique_ptr<Reader> reader(new Reader(std::move(*db)));
  KARST_TRY(reader->refresh());
  const base::Result<Meta> meta = read_meta(*reader->db_);
  if (!meta) return base::fail(meta.error());
  if (meta->format != kIndexFormat)
    return base::fail(base::Kind::kInvalid, folder + " has the format '" + meta->format +
                                                "', this build reads " + std::string(kIndexFormat));
  if (meta->log != log.id())
    return base::fail(base::Kind::kInvalid, folder + " is the index of another log");
  const auto other = other_history(reader->tiles_, log, secret);
  if (!other) return base::fail(other.error());
  if (!other->empty()) return base::fail(base::Kind::kInvalid, folder + ": " + *other);
  return reader;
}

base::Status Reader::refresh() {
  KARST_TRY(db_->check_seen());
  const base::Result<Meta> meta = read_meta(*db_);
  if (!meta) return base::fail(meta.error());
  const base::Result<std::uint64_t> size = tiles_.tree_size();
  if (!size) return base::fail(size.error());
  through_ = meta->through;
  tree_size_ = *size;
  return {};
}

base::Result<std::vector<model::Position>> Reader::positions(Term term,
                                                             model::Position from) const {
  std::vector<model::Position> found;
  const std::unique_ptr<events::RocksIterator> it = db_->iterate(Family::kStreams);
  for (it->seek(posting_key(term, block_of(from))); it->valid(); it->next()) {
    const std::optional<model::Position> block = block_in_key(it->key(), term);
    if (!block) break;
    if (!read_offsets(it->value(), *block, found))
      return base::fail(base::Kind::kCorrupt,
                        "the index is damaged: a list of positions of block " +
                            std::to_string(block->value()) + " cannot be read");
    if (found.size() > kPositionsMax)
      return base::fail(base::Kind::kInvalid, "there are too many events to look at one by one");
  }
  KARST_TRY(it->status());
  found.erase(found.begin(), std::lower_bound(found.begin(), found.end(), from));
  return found;
}

}  // namespace karst::index
