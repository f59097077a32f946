#include "index/tile_store.h"

#include <string_view>

#include "model/ids.h"

namespace karst::index {
namespace {

using events::Family;

constexpr std::string_view kTreeKey = "tree";

std::string key_of(proof::TileAt at) {
  std::string key(1, static_cast<char>(at.level));
  return key.append(events::PositionKey(model::Position(at.index)).view());
}

}  // namespace

base::Result<std::string> TileStore::read(proof::TileAt at, unsigned width) const {
  const std::size_t size = width * proof::kHashSize;
  auto hashes = db_.get(Family::kTiles, key_of(at));
  if (!hashes) return base::fail(hashes.error());
  if (!*hashes || (*hashes)->size() < size)
    return base::fail(base::Kind::kGone,
                      "the index has no tile " + proof::tile_path(at, width) + " (yet)");
  if ((*hashes)->size() % proof::kHashSize != 0 ||
      (*hashes)->size() > proof::kTileWidth * proof::kHashSize)
    return base::fail(base::Kind::kCorrupt,
                      "what the index has as " + proof::tile_path(at, width) + " is no tile");
  (*hashes)->resize(size);
  return std::move(**hashes);
}

base::Result<std::uint64_t> TileStore::tree_size() const {
  const auto value = db_.get(Family::kMeta, kTreeKey);
  if (!value) return base::fail(value.error());
  if (!*value) return 0;
  const auto size = events::parse_position_key(**value);
  if (!size) return base::fail(base::Kind::kCorrupt, "the index says 'tree' in other than 8 bytes");
  return size->value();
}

void put_tiles(events::RocksDb& db, std::span<const proof::Tile> tiles, std::uint64_t tree_size) {
  for (const proof::Tile& tile : tiles) db.put(Family::kTiles, key_of(tile.at), tile.hashes, {});
  db.put(Family::kMeta, kTreeKey, events::PositionKey(model::Position(tree_size)).view(), {});
}

}  // namespace karst::index
