#include "proof/tile_check.h"

#include "proof/tiles.h"

namespace karst::proof {
namespace {

tl::unexpected<base::Error> untrue(const std::string& path, const std::string& what) {
  return base::fail(base::Kind::kCorrupt, path + ": " + what);
}

class Check {
 public:
  Check(const ReadFile& read, std::uint64_t since, TileFindings& found)
      : read_(read), since_(since), found_(found) {}

  base::Status run() {
    const Checkpoint& head = found_.checkpoint.checkpoint;
    while (builder_.size() < head.size) {
      const std::uint64_t index = builder_.size() / kTileWidth;
      const unsigned width = tile_width({0, index}, head.size);
      KARST_TRY(is_trimmed(index, width) ? hashes_of(index) : bundle(index, width));
      KARST_TRY(compare(builder_.size() == head.size));
    }
    if (builder_.root() != head.root)
      return untrue("checkpoint", "the leaves do not lead to its root");
    return {};
  }

 private:
  base::Result<std::string> get(const std::string& path) {
    auto bytes = read_(path);
    if (bytes) return bytes;
    if (bytes.error().kind == base::Kind::kGone)
      return untrue(path, "it is not there: " + bytes.error().message);
    if (bytes.error().kind == base::Kind::kInvalid)
      return untrue(path, "it is no such file: " + bytes.error().message);
    return bytes;
  }

  // A log is trimmed by whole tiles, and something of it is always left.
  bool is_trimmed(std::uint64_t index, unsigned width) const {
    if (found_.bundles > 0 || builder_.size() + width >= found_.checkpoint.checkpoint.size)
      return false;
    const auto there = read_(bundle_path(index, width));
    return !there && there.error().kind == base::Kind::kGone;
  }

  base::Status hashes_of(std::uint64_t index) {
    const std::string path = tile_path({0, index}, kTileWidth);
    auto hashes = get(path);
    if (!hashes) return base::fail(hashes.error());
    if (hashes->size() != kTileWidth * kHashSize) return untrue(path, "it is no tile");
    for (std::size_t at = 0; at < hashes->size(); at += kHashSize) {
      builder_.append(as_hash(std::string_view(*hashes).substr(at, kHashSize)));
      if (builder_.size() == since_) found_.since_root = builder_.root();
    }
    found_.hashes_alone += kTileWidth;
    return {};
  }

  base::Status bundle(std::uint64_t index, unsigned width) {
    const std::string path = bundle_path(index, width);
    auto bytes = get(path);
    if (!bytes) return base::fail(bytes.error());
    std::string_view rest = *bytes;
    for (unsigned i = 0; i < width; ++i) {
      const auto byte = [&](std::size_t at) {
        return static_cast<std::size_t>(static_cast<unsigned char>(rest[at]));
      };
      const std::size_t length = rest.size() < 2 ? 0 : byte(0) << 8 | byte(1);
      if (rest.size() < 2 + length) return untrue(path, "it is cut off");
      builder_.append(leaf_hash(rest.substr(2, length)));
      if (builder_.size() == since_) found_.since_root = builder_.root();
      rest.remove_prefix(2 + length);
    }
    if (!rest.empty()) return untrue(path, "there is more than its leaves in it");
    ++found_.bundles;
    return {};
  }

  // Tiles that are full, and at the end the partial ones too.
  base::Status compare(bool at_end) {
    for (const Tile& tile : builder_.take()) {
      const auto width = static_cast<unsigned>(tile.hashes.size() / kHashSize);
      if (width != kTileWidth && !at_end) {
        open_.insert_or_assign(tile.at, tile.hashes);
        continue;
      }
      open_.erase(tile.at);
      KARST_TRY(compare_one(tile.at, tile.hashes));
    }
    if (!at_end) return {};
    for (const auto& [at, hashes] : open_) KARST_TRY(compare_one(at, hashes));
    return {};
  }

  base::Status compare_one(TileAt at, const std::string& hashes) {
    const std::string path = tile_path(at, static_cast<unsigned>(hashes.size() / kHashSize));
    auto bytes = get(path);
    if (!bytes) return base::fail(bytes.error());
    if (*bytes != hashes) return untrue(path, "it has other hashes than the leaves lead to");
    ++found_.tiles;
    return {};
  }

  const ReadFile& read_;
  std::uint64_t since_;
  TileFindings& found_;
  TileBuilder builder_;
  std::map<TileAt, std::string> open_;  // partial tiles that had changed before the last bundle
};

}  // namespace

base::Result<TileFindings> check_tiles(const ReadFile& read, std::uint64_t since) {
  auto bytes = read("checkpoint");
  if (!bytes && bytes.error().kind == base::Kind::kDenied) return base::fail(bytes.error());
  if (!bytes)
    return base::fail(base::Kind::kInvalid, "there is no checkpoint: " + bytes.error().message);
  TileFindings found;
  auto checkpoint = parse_checkpoint_bytes(*bytes);
  if (!checkpoint) return untrue("checkpoint", checkpoint.error().message);
  found.checkpoint = std::move(*checkpoint);
  KARST_TRY(Check(read, since, found).run());
  return found;
}

}  // namespace karst::proof
