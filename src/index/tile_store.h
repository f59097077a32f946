// The tree's tiles (proof/tiles.h) in the index's family `tiles`:
//   level, 1 byte | index, 8 bytes big-endian → its hashes, as many as there are
// and in `meta` "tree" → the tree's size, 8 bytes big-endian, written with them. Inner part of
// src/index, but for its being a proof::TileReader.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "events/rocks_db.h"
#include "proof/tiles.h"

namespace karst::index {

class TileStore final : public proof::TileReader {
 public:
  // `db` outlives it.
  explicit TileStore(const events::RocksDb& db) : db_(db) {}

  base::Result<std::string> read(proof::TileAt at, unsigned width) const override;
  // 0 when there is no tree yet. Errors: kCorrupt.
  base::Result<std::uint64_t> tree_size() const;

 private:
  const events::RocksDb& db_;
};

// Gathered for the next write.
void put_tiles(events::RocksDb& db, std::span<const proof::Tile> tiles, std::uint64_t tree_size);

}  // namespace karst::index
