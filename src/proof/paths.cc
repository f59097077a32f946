#include "proof/paths.h"

#include <bit>
#include <string>
#include <string_view>

namespace karst::proof {

base::Status check_tree_size(std::uint64_t size) {
  if (size <= kTreeSizeMax) return {};
  return base::fail(base::Kind::kInvalid, "a tree of " + std::to_string(size) + " leaves");
}

base::Result<Hash> TreeRanges::hash(std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t count = end - begin;
  if (std::has_single_bit(count))
    return perfect(begin, static_cast<unsigned>(std::countr_zero(count)));
  const std::uint64_t middle = begin + std::bit_floor(count);
  auto left = hash(begin, middle);
  if (!left) return left;
  auto right = hash(middle, end);
  if (!right) return right;
  return node_hash(*left, *right);
}

// The subtree of 2^height leaves at `begin`, a multiple of that.
base::Result<Hash> TreeRanges::perfect(std::uint64_t begin, unsigned height) {
  const unsigned level = height / kTileHeight, above = height % kTileHeight;
  const std::uint64_t first = begin >> (level * kTileHeight);
  const TileAt at{level, first / kTileWidth};
  Known& known = known_[level];
  if (known.index != at.index) KARST_TRY(know(at, known));
  return known.nodes[above][(first % kTileWidth) >> above];
}

base::Status TreeRanges::know(TileAt at, Known& known) const {
  known.index = UINT64_MAX;
  const auto tile = tiles_.read(at, tile_width(at, size_));
  if (!tile) return base::fail(tile.error());
  const std::string_view hashes = *tile;
  known.nodes[0].clear();
  for (std::size_t i = 0; i < hashes.size(); i += kHashSize)
    known.nodes[0].push_back(as_hash(hashes.substr(i, kHashSize)));
  for (unsigned height = 1; height < kTileHeight; ++height) {
    const std::vector<Hash>& below = known.nodes[height - 1];
    known.nodes[height].clear();
    for (std::size_t i = 0; i + 1 < below.size(); i += 2)
      known.nodes[height].push_back(node_hash(below[i], below[i + 1]));
  }
  known.index = at.index;
  return {};
}

base::Result<std::vector<Hash>> InclusionPaths::of(std::uint64_t index) {
  const std::uint64_t size = ranges_.size();
  KARST_TRY(check_tree_size(size));
  if (index >= size)
    return base::fail(base::Kind::kInvalid, "leaf " + std::to_string(index) +
                                                " is not in a tree of " + std::to_string(size));
  while (!steps_.empty() && (index < steps_.back().begin || index >= steps_.back().end))
    steps_.pop_back();
  std::uint64_t begin = steps_.empty() ? 0 : steps_.back().begin;
  std::uint64_t end = steps_.empty() ? size : steps_.back().end;
  while (end - begin > 1) {
    const std::uint64_t middle = begin + std::bit_floor(end - begin - 1);
    const bool left = index < middle;
    const auto aside = left ? ranges_.hash(middle, end) : ranges_.hash(begin, middle);
    if (!aside) return base::fail(aside.error());
    (left ? end : begin) = middle;
    steps_.push_back({begin, end, *aside});
  }
  // What was left aside at each step is the path, upside down.
  std::vector<Hash> path;
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) path.push_back(step->aside);
  return path;
}

}  // namespace karst::proof
