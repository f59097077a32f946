// Hashes of ranges of a tree, and paths of leaves, over stored tiles; what the last question read
// and hashed stays, so that asking leaf after leaf costs a few hashes each. Pure but for the
// reader.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "proof/merkle.h"
#include "proof/tiles.h"

namespace karst::proof {

// kInvalid: there are no trees of so many leaves.
base::Status check_tree_size(std::uint64_t size);

// The tree of `size` leaves; `tiles` outlives it. One thread.
class TreeRanges {
 public:
  TreeRanges(const TileReader& tiles, std::uint64_t size) : tiles_(tiles), size_(size) {}

  std::uint64_t size() const { return size_; }
  // Over the leaves [begin, end), as RFC 6962 names it: MTH(D[begin:end]). REQUIRES: a range that
  // the tree's own splits lead to. Errors: those of the reader.
  base::Result<Hash> hash(std::uint64_t begin, std::uint64_t end);

 private:
  // A tile with the perfect subtrees over its hashes, by height; its whole width is a hash of the
  // tile above.
  struct Known {
    std::uint64_t index = UINT64_MAX;
    std::array<std::vector<Hash>, kTileHeight> nodes;
  };
  base::Result<Hash> perfect(std::uint64_t begin, unsigned height);
  base::Status know(TileAt at, Known& known) const;

  const TileReader& tiles_;
  std::uint64_t size_;
  std::array<Known, kTileLevelMax + 1> known_;  // by level, the tile that was asked for last
};

// Paths of a tree's leaves, as inclusion_path has them: cheap when indices rise.
class InclusionPaths {
 public:
  InclusionPaths(const TileReader& tiles, std::uint64_t size) : ranges_(tiles, size) {}

  // From the leaf up. Errors: those of inclusion_path.
  base::Result<std::vector<Hash>> of(std::uint64_t index);

 private:
  struct Step {
    std::uint64_t begin = 0, end = 0;  // the half that was gone into
    Hash aside;                        // of the other one
  };
  TreeRanges ranges_;
  std::vector<Step> steps_;  // from the root down to the leaf that was asked for last
};

}  // namespace karst::proof
