#include "proof/merkle.h"

#include <gtest/gtest.h>

#include <bit>
#include <utility>

#include "proof/paths.h"
#include "proof/tiles.h"

namespace karst::proof {
namespace {

Hash leaf(std::uint64_t index) {
  return leaf_hash("leaf " + std::to_string(index));
}

// MTH(D[begin:end]) as RFC 6962 section 2.1 defines it, word for word.
Hash by_definition(std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t n = end - begin;
  if (n == 0) return empty_root();
  if (n == 1) return leaf(begin);
  std::uint64_t k = 1;
  while (2 * k < n) k *= 2;
  return node_hash(by_definition(begin, begin + k), by_definition(begin + k, end));
}

struct Tree {
  MemoryTiles tiles;
  TileBuilder builder;

  void grow_to(std::uint64_t size) {
    while (builder.size() < size) builder.append(leaf(builder.size()));
    tiles.put(builder.take());
  }
};

TEST(Merkle, HashesAreThoseOfRfc6962) {
  EXPECT_EQ(base::hex_lower(empty_root()),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  // SHA-256 of one zero byte.
  EXPECT_EQ(base::hex_lower(leaf_hash("")),
            "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d");
}

TEST(Merkle, RootsOfAllSizesAreTheDefinitions) {
  Frontier frontier;
  Tree tree;
  for (std::uint64_t size = 0; size <= 600; ++size) {
    if (size > 0) frontier.append(leaf(size - 1));
    tree.grow_to(size);
    const Hash want = by_definition(0, size);
    ASSERT_EQ(frontier.root(), want) << size;
    ASSERT_EQ(tree.builder.root(), want) << size;
    auto root = tree_root(tree.tiles, size);
    ASSERT_TRUE(root) << root.error().message;
    ASSERT_EQ(*root, want) << size;
  }
}

TEST(Merkle, InclusionOfEachLeafInEachSizeHoldsAndNothingElseDoes) {
  Tree tree;
  tree.grow_to(70);
  for (std::uint64_t size = 1; size <= 70; ++size) {
    const Hash root = by_definition(0, size);
    for (std::uint64_t index = 0; index < size; ++index) {
      auto path = inclusion_path(tree.tiles, index, size);
      ASSERT_TRUE(path) << path.error().message;
      ASSERT_TRUE(inclusion_holds(leaf(index), index, size, *path, root)) << index << " " << size;
      EXPECT_FALSE(inclusion_holds(leaf(index + 1), index, size, *path, root));
      EXPECT_FALSE(inclusion_holds(leaf(index), index, size, *path, empty_root()));
      for (Hash& hash : *path) {
        hash[7] ^= 1;
        EXPECT_FALSE(inclusion_holds(leaf(index), index, size, *path, root));
        hash[7] ^= 1;
      }
      path->push_back(root);
      EXPECT_FALSE(inclusion_holds(leaf(index), index, size, *path, root));
      path->pop_back();
      if (path->empty()) continue;
      path->pop_back();
      EXPECT_FALSE(inclusion_holds(leaf(index), index, size, *path, root));
    }
    EXPECT_FALSE(inclusion_holds(leaf(size), size, size, {}, root));
    EXPECT_FALSE(inclusion_path(tree.tiles, size, size));
  }
}

TEST(Merkle, ConsistencyOfEachPairOfSizesHoldsAndNothingElseDoes) {
  Tree tree;
  tree.grow_to(70);
  for (std::uint64_t size = 1; size <= 70; ++size) {
    const Hash root = by_definition(0, size);
    for (std::uint64_t old_size = 1; old_size <= size; ++old_size) {
      const Hash old_root = by_definition(0, old_size);
      auto proof = consistency_proof(tree.tiles, old_size, size);
      ASSERT_TRUE(proof) << proof.error().message;
      ASSERT_TRUE(consistency_holds(old_size, old_root, size, root, *proof)) << old_size << size;
      EXPECT_FALSE(consistency_holds(old_size, leaf(0), size, root, *proof) && old_size != 1);
      EXPECT_FALSE(consistency_holds(old_size, old_root, size, empty_root(), *proof));
      for (Hash& hash : *proof) {
        hash[31] ^= 128;
        EXPECT_FALSE(consistency_holds(old_size, old_root, size, root, *proof));
        hash[31] ^= 128;
      }
      proof->push_back(root);
      EXPECT_FALSE(consistency_holds(old_size, old_root, size, root, *proof));
    }
    EXPECT_FALSE(consistency_proof(tree.tiles, 0, size));
    EXPECT_FALSE(consistency_proof(tree.tiles, size + 1, size));
    EXPECT_FALSE(consistency_holds(0, empty_root(), size, root, {}));
  }
}

TEST(Tiles, PathsAreThoseOfTheSpecification) {
  const struct {
    TileAt at;
    unsigned width;
    const char* want;
  } cases[] = {
      {{0, 0}, 256, "tile/0/000"},
      {{0, 1234067}, 256, "tile/0/x001/x234/067"},
      {{1, 999}, 17, "tile/1/999.p/17"},
      {{2, 1000}, 255, "tile/2/x001/000.p/255"},
  };
  for (const auto& c : cases) EXPECT_EQ(tile_path(c.at, c.width), c.want);
  EXPECT_EQ(bundle_path(67, 3), "tile/entries/067.p/3");
  EXPECT_EQ(bundle_path(1067, 256), "tile/entries/x001/067");
}

// The example of the specification: 70,000 leaves.
TEST(Tiles, WidthsAreThoseOfTheSpecification) {
  constexpr std::uint64_t kSize = 70'000;
  const struct {
    TileAt at;
    unsigned want;
  } cases[] = {{{0, 272}, 256}, {{0, 273}, 112}, {{0, 274}, 0}, {{1, 0}, 256}, {{1, 1}, 17},
               {{1, 2}, 0},     {{2, 0}, 1},     {{2, 1}, 0},   {{3, 0}, 0},   {{9, 0}, 0}};
  for (const auto& c : cases)
    EXPECT_EQ(tile_width(c.at, kSize), c.want) << c.at.level << "/" << c.at.index;
  EXPECT_EQ(tile_width({0, 0}, 256), 256U);
  EXPECT_EQ(tile_width({1, 0}, 256), 1U);
}

TEST(Tiles, ABuilderThatResumesGoesOnAsIfItHadNeverStopped) {
  Tree whole;
  whole.grow_to(70'000);
  Tree parts;
  for (const std::uint64_t stop : {1, 255, 256, 257, 511, 512, 65'535, 65'536, 65'537, 70'000}) {
    parts.grow_to(stop);
    auto resumed = TileBuilder::resume(parts.tiles, stop);
    ASSERT_TRUE(resumed) << resumed.error().message;
    parts.builder = std::move(*resumed);
    EXPECT_EQ(parts.builder.root(), *tree_root(whole.tiles, stop)) << stop;
  }
  for (std::uint64_t index = 0; index < 274; ++index) {
    const unsigned width = tile_width({0, index}, 70'000);
    EXPECT_EQ(*parts.tiles.read({0, index}, width), *whole.tiles.read({0, index}, width));
  }
  EXPECT_EQ(*parts.tiles.read({2, 0}, 1), *whole.tiles.read({2, 0}, 1));
  auto path = inclusion_path(parts.tiles, 65'535, 70'000);
  ASSERT_TRUE(path);
  EXPECT_TRUE(inclusion_holds(leaf(65'535), 65'535, 70'000, *path, whole.builder.root()));
}

// Tiles, and how often one was asked for.
class CountedTiles final : public TileReader {
 public:
  explicit CountedTiles(const TileReader& tiles) : tiles_(tiles) {}
  base::Result<std::string> read(TileAt at, unsigned width) const override {
    ++reads_;
    return tiles_.read(at, width);
  }
  int take_reads() { return std::exchange(reads_, 0); }

 private:
  const TileReader& tiles_;
  mutable int reads_ = 0;
};

TEST(InclusionPaths, AreTheSameInAnyOrderAndReadEachTileOnceWhenTheyRise) {
  Tree tree;
  tree.grow_to(70'000);
  const Hash root = tree.builder.root();
  CountedTiles tiles(tree.tiles);
  InclusionPaths paths(tiles, 70'000);
  for (std::uint64_t index = 0; index < 70'000; ++index) {
    const auto path = paths.of(index);
    ASSERT_TRUE(path) << path.error().message;
    if (index % 97 != 0) continue;
    ASSERT_TRUE(inclusion_holds(leaf(index), index, 70'000, *path, root)) << index;
  }
  const int whole_tiles = 70'000 / 256, partial_tiles = 3;
  EXPECT_LE(tiles.take_reads(), whole_tiles + 20 * partial_tiles);
  for (const std::uint64_t index : {69'999, 0, 65'536, 65'535, 69'887, 12'345, 12'345, 12'344}) {
    EXPECT_EQ(*paths.of(index), *inclusion_path(tree.tiles, index, 70'000)) << index;
    EXPECT_FALSE(paths.of(70'000));
  }
}

TEST(Tiles, ReadersSayWhatIsMissing) {
  Tree tree;
  tree.grow_to(300);
  EXPECT_FALSE(tree.tiles.read({0, 1}, 45));
  auto missing = tree.tiles.read({1, 1}, 17);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, base::Kind::kGone);
  EXPECT_EQ(missing.error().message, "there is no tile tile/1/001.p/17");
  EXPECT_FALSE(TileBuilder::resume(tree.tiles, 400));
  EXPECT_FALSE(inclusion_path(tree.tiles, 3, 400));
}

}  // namespace
}  // namespace karst::proof
