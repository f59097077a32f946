#include "events/snapshot_store.h"

#include <algorithm>
#include <bit>

#include "base/bytes.h"
#include "base/set_digest.h"
#include "events/pieces.h"

namespace karst::events {
namespace {

// A snapshot is a header under (position, 0) and its bytes in pieces under (position, 1),
// (position, 2), …; the header is written last. Keys are 8 and 4 bytes, big-endian.

struct Header {
  std::string version;
  std::uint64_t size = 0;
  std::uint64_t hash_low = 0;
  std::uint64_t hash_high = 0;
};
template <class Archive>
void fields(Archive& a, Header& h) {
  a(h.version, h.size, h.hash_low, h.hash_high);
}

std::string key_of(model::Position position, std::uint32_t piece) {
  std::string key(PositionKey(position).view());
  for (int shift = 24; shift >= 0; shift -= 8) key.push_back(static_cast<char>(piece >> shift));
  return key;
}
std::optional<model::Position> position_of(std::string_view key) {
  if (key.size() != 12) return std::nullopt;
  return parse_position_key(key.substr(0, 8));
}
std::optional<Header> read_header(const RocksDb& db, model::Position position) {
  const auto value = db.get(Family::kSnapshots, key_of(position, 0));
  if (!value || !*value) return std::nullopt;
  Header header;
  base::ByteReader reader(**value);
  reader(header);
  if (!reader.ok() || !reader.at_end() || header.size > kPieceBytes * kPiecesMax)
    return std::nullopt;
  return header;
}

// nullopt when a piece is missing, unreadable or not what was written.
std::optional<std::string> read_bytes(const RocksDb& db, model::Position position,
                                      const Header& header) {
  std::string bytes;
  bytes.reserve(header.size);
  for (std::uint32_t piece = 1; piece <= pieces_of(header.size); ++piece) {
    const auto value = db.get(Family::kSnapshots, key_of(position, piece));
    if (!value || !*value) return std::nullopt;
    bytes.append(**value);
  }
  if (base::hash128(bytes) != base::Hash128{header.hash_low, header.hash_high}) return std::nullopt;
  return bytes;
}

// The newest position at or before `from` that has anything stored. Reads up to a piece of it.
std::optional<model::Position> stored_at(RocksIterator& it, model::Position from) {
  it.seek_for_prev(key_of(from, UINT32_MAX));
  const std::optional<model::Position> position = it.valid() ? position_of(it.key()) : std::nullopt;
  return position && position->value() > 0 ? position : std::nullopt;
}

// All of them, newest first.
std::vector<model::Position> stored_positions(const RocksDb& db) {
  std::vector<model::Position> positions;
  const std::unique_ptr<RocksIterator> it = db.iterate(Family::kSnapshots);
  for (auto at = stored_at(*it, model::Position(UINT64_MAX));
       at && positions.size() <= kSnapshotsMax;
       at = stored_at(*it, model::Position(at->value() - 1)))
    positions.push_back(*at);
  return positions;
}

}  // namespace

std::vector<model::Position> kept_snapshots(const std::vector<model::Position>& positions) {
  std::vector<model::Position> kept;
  for (std::size_t i = 0; i < positions.size() && i < kSnapshotsMax; ++i) {
    const std::uint64_t distance = positions.front().value() - positions[i].value();
    const std::uint64_t slot =
        std::bit_floor(std::max<std::uint64_t>(1, distance / kSnapshotsDense));
    const bool older_in_slot =
        i + 1 < positions.size() && positions[i + 1].value() / slot == positions[i].value() / slot;
    if (!older_in_slot) kept.push_back(positions[i]);
  }
  return kept;
}

base::Status SnapshotStore::put(std::string_view version, const Snapshot& snapshot) {
  if (!db_) return closed();
  const std::uint32_t pieces = pieces_of(snapshot.bytes.size());
  if (pieces > kPiecesMax)
    return base::fail(base::Kind::kInvalid, "a snapshot of " +
                                                std::to_string(snapshot.bytes.size()) +
                                                " bytes is above the bound of 4 GiB");
  db_->discard();
  const std::string_view bytes = snapshot.bytes;
  for (std::uint32_t piece = 1; piece <= pieces; ++piece) {
    db_->put(Family::kSnapshots, key_of(snapshot.position, piece),
             bytes.substr((piece - 1) * kPieceBytes, kPieceBytes), {});
    KARST_TRY(db_->write(RocksDb::Sync::kUnlogged));
  }
  const base::Hash128 hash = base::hash128(bytes);
  const Header header{std::string(version), bytes.size(), hash.low, hash.high};
  base::ByteWriter writer;
  writer(header);
  db_->put(Family::kSnapshots, key_of(snapshot.position, 0), writer.view(), {});
  KARST_TRY(db_->write(RocksDb::Sync::kUnlogged));
  const bool is_first = stored_.empty();
  if (is_first || snapshot.position <= stored_.front())
    stored_ = stored_positions(*db_);
  else
    stored_.insert(stored_.begin(), snapshot.position);
  return prune(is_first ? version : std::string_view());
}

tl::unexpected<base::Error> SnapshotStore::closed() {
  return base::fail(base::Kind::kFull, "no snapshots while the disk of the log is full");
}

base::Status SnapshotStore::prune(std::string_view only_of) {
  std::vector<model::Position> kept = stored_;
  if (!only_of.empty())
    std::erase_if(kept, [&](model::Position position) {
      const std::optional<Header> header = read_header(*db_, position);
      return !header || header->version != only_of;
    });
  kept = kept_snapshots(kept);
  const std::unique_ptr<RocksIterator> it = db_->iterate(Family::kSnapshots);
  for (const model::Position position : stored_) {
    if (std::binary_search(kept.rbegin(), kept.rend(), position)) continue;
    for (it->seek(key_of(position, 0)); it->valid() && position_of(it->key()) == position;
         it->next())
      db_->remove(Family::kSnapshots, it->key());
  }
  KARST_TRY(db_->write(RocksDb::Sync::kUnlogged));
  stored_ = std::move(kept);
  return db_->flush(Family::kSnapshots);
}

base::Result<std::optional<Snapshot>> SnapshotStore::latest(std::string_view version,
                                                            model::Position position) const {
  if (!db_) return closed();
  const std::unique_ptr<RocksIterator> it = db_->iterate(Family::kSnapshots);
  // One after another, for a look at each costs as much as a piece.
  for (auto at = stored_at(*it, position); at;
       at = stored_at(*it, model::Position(at->value() - 1))) {
    const std::optional<Header> header = read_header(*db_, *at);
    if (!header || header->version != version) continue;
    std::optional<std::string> bytes = read_bytes(*db_, *at, *header);
    if (bytes) return std::optional<Snapshot>(Snapshot{*at, std::move(*bytes)});
  }
  return std::optional<Snapshot>();
}

}  // namespace karst::events
