// Checks a log's static files as https://c2sp.org/tlog-tiles lays them out: the bundles of leaves,
// every tile, and the checkpoint. Memory: a tile a level, and a bundle.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "proof/checkpoint.h"

namespace karst::proof {

inline constexpr std::size_t kBundleBytesMax = 256 * (2 + 0xffff);

// The bytes of a file, by its path below the folder. Errors: kGone when it is not there, kInvalid
// when it is no file or too large for one, kDenied when it cannot be read.
using ReadFile = std::function<base::Result<std::string>(const std::string& path)>;

struct TileFindings {
  SignedCheckpoint checkpoint;
  std::uint64_t tiles = 0, bundles = 0;
  std::uint64_t hashes_alone = 0;  // leaves, from the first on, of which there is no bundle
  std::optional<Hash> since_root;  // of the tree of `since` leaves
};

// Proven against the checkpoint, whose signature is the caller's to check. Bundles may be missing
// from the first on, as those of a trimmed log are: the tiles of level 0 stand for them. `since`: a
// smaller tree whose root is wanted too; 0: none. Errors: kCorrupt with the file that is not true
// or not there; kInvalid when there is no checkpoint; those of `read` but kGone, which say nothing
// of the tree.
base::Result<TileFindings> check_tiles(const ReadFile& read, std::uint64_t since);

}  // namespace karst::proof
