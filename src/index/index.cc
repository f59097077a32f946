#include "index/index.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "index/meta.h"
#include "index/same_history.h"
#include "index/tile_store.h"

namespace karst::index {
namespace {

using events::Contents;
using events::Family;
using events::RocksDb;

// Why this index cannot be gone on with; empty: it can.
base::Result<std::string> unfit(const RocksDb& db, const model::LogId& log,
                                model::Position synced) {
  const base::Result<Meta> meta = read_meta(db);
  if (!meta) return base::fail(meta.error());
  if (meta->format != kIndexFormat)
    return "it has the format '" + meta->format + "', this build writes " +
           std::string(kIndexFormat);
  if (meta->log != log) return "it is the index of another log, " + meta->log.str();
  if (meta->through > synced)
    return "it reaches position " + std::to_string(meta->through.value()) +
           ", but the log is on disk up to " + std::to_string(synced.value()) + " only";
  if (const base::Status whole = db.check_tables(); !whole) return base::fail(whole.error());
  return std::string();
}

base::Result<std::unique_ptr<RocksDb>> make(const std::string& folder, const model::LogId& log) {
  std::error_code ignored;  // what cannot be removed is in the way of the next step, which says so
  std::filesystem::remove_all(folder, ignored);
  std::filesystem::create_directories(folder, ignored);
  auto db = RocksDb::create(folder, Contents::kIndex);
  if (!db) return db;
  put_meta(**db, {std::string(kIndexFormat), log, model::Position(0)});
  KARST_TRY((*db)->write(RocksDb::Sync::kNo));
  return db;
}

bool is_damage(const base::Error& error) {
  return error.kind == base::Kind::kCorrupt || error.kind == base::Kind::kInvalid;
}

}  // namespace

std::string index_folder(const std::string& data) {
  return data + "/index";
}

base::Result<std::unique_ptr<Index>> Index::take_over(std::unique_ptr<RocksDb> db,
                                                      const std::string& secret) {
  const base::Result<Meta> meta = read_meta(*db);
  if (!meta) return base::fail(meta.error());
  const TileStore tiles(*db);
  const base::Result<std::uint64_t> size = tiles.tree_size();
  if (!size) return base::fail(size.error());
  if (*size > meta->through.value())
    return base::fail(base::Kind::kCorrupt, "its tree is greater than what it has indexed");
  auto tree = proof::TileBuilder::resume(tiles, *size);
  if (!tree) return base::fail(base::Kind::kCorrupt, tree.error().message);
  std::unique_ptr<Index> index(new Index(std::move(db), secret, meta->through));
  index->tree_ = std::move(*tree);
  return index;
}

base::Result<std::unique_ptr<Index>> Index::open(const std::string& folder,
                                                 const events::EventLog& log,
                                                 const std::string& secret,
                                                 model::Position synced) {
  std::error_code ignored;
  const bool exists = std::filesystem::exists(folder + "/CURRENT", ignored);
  std::string why;
  if (exists) {
    auto db = RocksDb::open(folder, events::Recovery::kUpToDamage, events::Compactions::kOn,
                            Contents::kIndex);
    const auto wrong = db ? unfit(**db, log.id(), synced) : base::fail(db.error());
    if (!wrong && !is_damage(wrong.error())) return base::fail(wrong.error());
    why = wrong ? *wrong : wrong.error().message;
    if (why.empty()) {
      auto other = other_history(TileStore(**db), log, secret);
      if (!other) return base::fail(other.error());
      why = std::move(*other);
    }
    if (why.empty()) {
      auto taken_over = take_over(std::move(*db), secret);
      if (taken_over) return taken_over;
      why = taken_over.error().message;
    }
  }
  auto db = make(folder, log.id());
  if (!db) return base::fail(db.error());
  std::unique_ptr<Index> index(new Index(std::move(*db), secret, model::Position(0)));
  index->replaced_because_ = std::move(why);
  return index;
}

base::Status Index::advance(const events::EventLog& log, model::Position last) {
  if (last <= through_) return {};
  next_ = std::max(next_, model::Position(1));
  last = std::min(last, model::Position(through_.value() + kEventsPerBatchMax));
  if (next_ < log.first()) {
    const model::Position gone(log.first().value() - 1);
    KARST_TRY(add_trimmed(log, std::min(last, gone)));
  }
  if (next_ > last) return write();
  auto cursor = log.read(next_);
  if (!cursor) return base::fail(cursor.error());
  while (next_ <= last) {
    const auto event = (*cursor)->next();
    if (!event) return base::fail(event.error());
    if (!*event) break;
    const model::Position at = (*event)->envelope.position;
    if (!entries_.empty() && block_of(at) != block_) {
      put_block(model::Position(through_.value() + 1));
      entries_.clear();
    }
    add(**event);
    next_ = model::Position(at.value() + 1);
  }
  put_block(model::Position(through_.value() + 1));
  return write();
}

// The tree goes on over the positions up to `last`, which are all before the log's first.
base::Status Index::add_trimmed(const events::EventLog& log, model::Position last) {
  while (tree_.size() < last.value()) {
    const std::uint64_t tile = tree_.size() / events::kTrimTile;
    const auto leaves = log.trimmed_leaves(tile);
    if (!leaves) return base::fail(leaves.error());
    const std::uint64_t end = std::min(last.value(), (tile + 1) * events::kTrimTile);
    while (tree_.size() < end)
      tree_.append(proof::as_hash(std::string_view(*leaves).substr(
          tree_.size() % events::kTrimTile * proof::kHashSize, proof::kHashSize)));
  }
  entries_.clear();
  next_ = model::Position(last.value() + 1);
  return {};
}

void Index::add(const events::Event& event) {
  const model::Position at = event.envelope.position;
  block_ = block_of(at);
  terms_.clear();
  append_terms(event, terms_);
  const auto offset = static_cast<std::uint16_t>(at.value() - block_.value());
  for (const Term term : terms_) entries_.push_back({term, offset});
  if (at.value() == tree_.size() + 1) tree_.append(proof::event_leaf_hash(event.raw, secret_));
}

// The keys of the present block that have a position from `fresh` on; the others are written.
void Index::put_block(model::Position fresh) {
  if (entries_.empty()) return;
  const std::uint64_t fresh_offset =
      fresh.value() > block_.value() ? fresh.value() - block_.value() : 0;
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const Entry& a, const Entry& b) { return a.term < b.term; });
  std::string value;
  for (std::size_t i = 0; i < entries_.size();) {
    const Term term = entries_[i].term;
    std::optional<std::uint16_t> before;
    value.clear();
    for (; i < entries_.size() && entries_[i].term == term; ++i) {
      if (before == entries_[i].offset) continue;  // found by the same term twice
      append_offset(value, before, entries_[i].offset);
      before = entries_[i].offset;
    }
    if (*before >= fresh_offset) db_->put(Family::kStreams, posting_key(term, block_), value, {});
  }
}

base::Status Index::write() {
  const model::Position reached(next_.value() - 1);
  if (reached <= through_) {
    db_->discard();
    return {};
  }
  put_tiles(*db_, tree_.take(), tree_.size());
  put_through(*db_, reached);
  KARST_TRY(db_->write(RocksDb::Sync::kNo));
  through_ = reached;
  // While nothing is written, so that one write-ahead log holds all that no table does.
  if (db_->unflushed_bytes() < kUnflushedBytesMax) return {};
  return db_->flush_all();
}

}  // namespace karst::index
