#include "proof/tiles.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "base/check.h"
#include "proof/paths.h"

namespace karst::proof {
namespace {

std::string index_path(std::uint64_t index, unsigned width) {
  const auto three = [](std::uint64_t number) {
    const std::string digits = std::to_string(number % 1000);
    return std::string(3 - digits.size(), '0') + digits;
  };
  std::string path = three(index);
  for (std::uint64_t rest = index / 1000; rest > 0; rest /= 1000)
    path = "x" + three(rest) + "/" + path;
  return width == kTileWidth ? path : path + ".p/" + std::to_string(width);
}

tl::unexpected<base::Error> missing(TileAt at, unsigned width) {
  return base::fail(base::Kind::kGone, "there is no tile " + tile_path(at, width));
}

}  // namespace

std::string tile_path(TileAt at, unsigned width) {
  return "tile/" + std::to_string(at.level) + "/" + index_path(at.index, width);
}

std::string bundle_path(std::uint64_t index, unsigned width) {
  return "tile/entries/" + index_path(index, width);
}

unsigned tile_width(TileAt at, std::uint64_t size) {
  const std::uint64_t hashes = at.level > kTileLevelMax ? 0 : size >> (at.level * kTileHeight);
  const std::uint64_t tiles = hashes / kTileWidth;
  if (at.index < tiles) return kTileWidth;
  return at.index == tiles ? static_cast<unsigned>(hashes % kTileWidth) : 0;
}

void MemoryTiles::put(std::span<const Tile> tiles) {
  for (const Tile& tile : tiles) tiles_[tile.at] = tile.hashes;
}

base::Result<std::string> MemoryTiles::read(TileAt at, unsigned width) const {
  const auto found = tiles_.find(at);
  if (found == tiles_.end() || width == 0 || found->second.size() < width * kHashSize)
    return missing(at, width);
  return found->second.substr(0, width * kHashSize);
}

base::Result<TileBuilder> TileBuilder::resume(const TileReader& tiles, std::uint64_t size) {
  KARST_TRY(check_tree_size(size));
  TileBuilder builder;
  builder.size_ = size;
  for (unsigned level = 0; level <= kTileLevelMax && size >> (level * kTileHeight) > 0; ++level) {
    const TileAt at{level, (size >> (level * kTileHeight)) / kTileWidth};
    const unsigned width = tile_width(at, size);
    std::string hashes;
    if (width > 0) {
      auto tile = tiles.read(at, width);
      if (!tile) return base::fail(tile.error());
      hashes = std::move(*tile);
    }
    builder.edge_.push_back(std::move(hashes));
    builder.changed_.push_back(false);
  }
  return builder;
}

void TileBuilder::append(const Hash& leaf) {
  KARST_CHECK(size_ < kTreeSizeMax, "trees have at most 2^62 leaves");
  append_at(0, leaf);
  ++size_;
}

void TileBuilder::append_at(unsigned level, const Hash& hash) {
  if (level == edge_.size()) {
    edge_.emplace_back();
    changed_.push_back(false);
  }
  edge_[level].append(as_text(hash));
  changed_[level] = true;
  if (edge_[level].size() < kTileWidth * kHashSize) return;
  const Hash root = perfect_root(edge_[level]);
  const std::uint64_t index = size_ >> ((level + 1) * kTileHeight);
  full_.push_back({{level, index}, std::move(edge_[level])});
  edge_[level].clear();
  changed_[level] = false;
  append_at(level + 1, root);
}

std::vector<Tile> TileBuilder::take() {
  std::vector<Tile> tiles = std::exchange(full_, {});
  for (unsigned level = 0; level < edge_.size(); ++level) {
    if (!changed_[level]) continue;
    changed_[level] = false;
    tiles.push_back({{level, (size_ >> (level * kTileHeight)) / kTileWidth}, edge_[level]});
  }
  return tiles;
}

Hash TileBuilder::root() const {
  if (size_ == 0) return empty_root();
  // Perfect subtrees from the right, the smallest first: the bits of each level's width.
  std::optional<Hash> root;
  for (const std::string& hashes : edge_) {
    std::size_t end = hashes.size() / kHashSize;
    while (end > 0) {
      const std::size_t count = std::size_t{1} << std::countr_zero(end);
      end -= count;
      const Hash left =
          perfect_root(std::string_view(hashes).substr(end * kHashSize, count * kHashSize));
      root = root ? node_hash(left, *root) : left;
    }
  }
  return *root;
}

base::Result<Hash> tree_root(const TileReader& tiles, std::uint64_t size) {
  KARST_TRY(check_tree_size(size));
  if (size == 0) return empty_root();
  return TreeRanges(tiles, size).hash(0, size);
}

base::Result<std::vector<Hash>> inclusion_path(const TileReader& tiles, std::uint64_t index,
                                               std::uint64_t size) {
  return InclusionPaths(tiles, size).of(index);
}

base::Result<std::vector<Hash>> consistency_proof(const TileReader& tiles, std::uint64_t old_size,
                                                  std::uint64_t size) {
  KARST_TRY(check_tree_size(size));
  if (old_size == 0 || old_size > size)
    return base::fail(base::Kind::kInvalid, "a tree of " + std::to_string(old_size) +
                                                " cannot have become one of " +
                                                std::to_string(size));
  TreeRanges ranges(tiles, size);
  std::vector<Hash> proof;
  // Down the right edge of the old tree, until what is left of it is one subtree of both.
  std::uint64_t begin = 0, end = size;
  while (end != old_size) {
    const std::uint64_t middle = begin + std::bit_floor(end - begin - 1);
    const bool left = old_size <= middle;
    auto aside = left ? ranges.hash(middle, end) : ranges.hash(begin, middle);
    if (!aside) return base::fail(aside.error());
    proof.push_back(*aside);
    (left ? end : begin) = middle;
  }
  if (begin > 0) {
    auto common = ranges.hash(begin, end);
    if (!common) return base::fail(common.error());
    proof.push_back(*common);
  }
  std::reverse(proof.begin(), proof.end());
  return proof;
}

}  // namespace karst::proof
