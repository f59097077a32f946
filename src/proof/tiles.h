// The tree cut into tiles of height 8, as https://c2sp.org/tlog-tiles has it: the tile (level L,
// index N) holds, 32 bytes each, the hashes of the 256 perfect subtrees of 256^L leaves that begin
// at leaf N * 256^(L+1); at the right edge of a tree fewer of them, a partial tile. Levels between
// are computed from a tile. Tiles that are full never change, and a partial one only grows.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "proof/merkle.h"

namespace karst::proof {

inline constexpr unsigned kTileHeight = 8;
inline constexpr unsigned kTileWidth = 1u << kTileHeight;
inline constexpr unsigned kTileLevelMax = 7;  // 256^8 leaves are more than kTreeSizeMax

struct TileAt {
  unsigned level = 0;
  std::uint64_t index = 0;
  friend auto operator<=>(const TileAt&, const TileAt&) = default;
};

// A tile's file below the folder of the log: tile/0/x001/x234/067, tile/1/003.p/17 for one with 17
// hashes; a bundle of 256 leaves is tile/entries/… in the same way. `width`: 1 to 256.
std::string tile_path(TileAt at, unsigned width);
std::string bundle_path(std::uint64_t index, unsigned width);

// How many hashes of this tile a tree of `size` has: 0 to 256.
unsigned tile_width(TileAt at, std::uint64_t size);

// Where tiles are read from. Thread rules: those of the implementation.
class TileReader {
 public:
  virtual ~TileReader() = default;
  // The first `width` hashes of the tile, exactly width * 32 bytes. A store that has more of the
  // tile by now answers with its beginning. Errors: kGone when it does not reach so far, kCorrupt
  // when what it has is not a tile.
  virtual base::Result<std::string> read(TileAt at, unsigned width) const = 0;
};

struct Tile {
  TileAt at;
  std::string hashes;  // 1 to 256 of them
};

// Tiles in memory. One thread.
class MemoryTiles final : public TileReader {
 public:
  void put(std::span<const Tile> tiles);  // replaces
  base::Result<std::string> read(TileAt at, unsigned width) const override;

 private:
  std::map<TileAt, std::string> tiles_;
};

// Makes tiles from leaf hashes: its memory is one tile a level. One thread. A writer appends the
// leaves that came, stores what take() gives (replacing what it has under the same name), then its
// size, as one atomic batch; after a restart it resumes from both.
class TileBuilder {
 public:
  TileBuilder() = default;
  // Goes on with a tree whose tiles are stored. Errors: those of the reader.
  static base::Result<TileBuilder> resume(const TileReader& tiles, std::uint64_t size);

  void append(const Hash& leaf);
  std::uint64_t size() const { return size_; }
  Hash root() const;

  // The tiles that changed since the last call: those that became full, and the partial ones at the
  // right edge.
  std::vector<Tile> take();

 private:
  void append_at(unsigned level, const Hash& hash);

  std::uint64_t size_ = 0;
  std::vector<std::string> edge_;  // the partial tile of each level; may be empty
  std::vector<bool> changed_;      // of edge_, since the last take()
  std::vector<Tile> full_;         // since the last take()
};

// A tree of `size` leaves over stored tiles. Errors: those of the reader, and kInvalid for an index
// or a size outside of the tree.
base::Result<Hash> tree_root(const TileReader& tiles, std::uint64_t size);
base::Result<std::vector<Hash>> inclusion_path(const TileReader& tiles, std::uint64_t index,
                                               std::uint64_t size);
base::Result<std::vector<Hash>> consistency_proof(const TileReader& tiles, std::uint64_t old_size,
                                                  std::uint64_t size);

}  // namespace karst::proof
