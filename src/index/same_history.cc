#include "index/same_history.h"

#include <algorithm>

#include "proof/merkle.h"

namespace karst::index {
namespace {

static_assert(events::kTrimTile == proof::kTileWidth, "a tile is trimmed as a whole, or not");

// The first `width` leaf hashes of this tile, as the log has them.
base::Result<std::string> leaves_of(const events::EventLog& log, const std::string& secret,
                                    std::uint64_t tile, unsigned width) {
  const model::Position first(tile * proof::kTileWidth + 1);
  if (first < log.first()) {
    auto leaves = log.trimmed_leaves(tile);
    if (leaves) leaves->resize(width * proof::kHashSize);
    return leaves;
  }
  auto cursor = log.read(first);
  if (!cursor) return base::fail(cursor.error());
  std::string leaves;
  for (unsigned i = 0; i < width; ++i) {
    const auto event = (*cursor)->next();
    if (!event) return base::fail(event.error());
    if (!*event)
      return base::fail(base::Kind::kCorrupt, "the log cannot be read at position " +
                                                  std::to_string(first.value() + i) +
                                                  ", so its index cannot be held against it");
    leaves += proof::as_text(proof::event_leaf_hash((*event)->raw, secret));
  }
  return leaves;
}

}  // namespace

base::Result<std::string> other_history(const TileStore& tiles, const events::EventLog& log,
                                        const std::string& secret) {
  const auto size = tiles.tree_size();
  if (!size) return size.error().message;
  const std::uint64_t both = std::min(*size, log.end().value() - 1);
  if (both == 0) return std::string();
  const std::uint64_t tile = (both - 1) / proof::kTileWidth;
  const auto width = static_cast<unsigned>((both - 1) % proof::kTileWidth + 1);
  const auto indexed = tiles.read({0, tile}, width);
  if (!indexed) return indexed.error().message;
  const auto leaves = leaves_of(log, secret, tile, width);
  if (!leaves) return base::fail(leaves.error());
  if (*indexed == *leaves) return std::string();
  const auto differ = std::mismatch(indexed->begin(), indexed->end(), leaves->begin()).first;
  const auto byte = static_cast<std::uint64_t>(differ - indexed->begin());
  return "it is of another history of this log: it was made over another event at position " +
         std::to_string(tile * proof::kTileWidth + byte / proof::kHashSize + 1) +
         " than the log has there, as when one of the two is put back from a copy and the other "
         "is not";
}

}  // namespace karst::index
