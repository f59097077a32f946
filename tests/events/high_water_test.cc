#include "events/high_water.h"

#include <gtest/gtest.h>

#include "tests/events/log_fixture.h"

namespace karst::events::testing {
namespace {

HighWaterMark mark(std::uint64_t position) {
  HighWaterMark made{model::Position(position), {}};
  made.root.fill(static_cast<std::uint8_t>(position));
  return made;
}

std::uint64_t read_position(const std::string& path) {
  const auto found = HighWaterFile::read(path);
  EXPECT_TRUE(found);
  if (!found || !*found) return 0;
  EXPECT_EQ((*found)->root, mark((*found)->position.value()).root);
  return (*found)->position.value();
}

TEST(HighWater, NoFileIsNoMark) {
  TempFolder folder;
  const auto found = HighWaterFile::read(folder / "high-water");
  ASSERT_TRUE(found);
  EXPECT_FALSE(*found);
}

TEST(HighWater, TheLastWriteCounts) {
  TempFolder folder;
  const std::string path = folder / "high-water";
  for (int opening = 0; opening < 3; ++opening) {
    HighWaterFile file;
    ASSERT_TRUE(file.open(path));
    for (std::uint64_t i = 1; i <= 3; ++i) {
      const std::uint64_t position = static_cast<std::uint64_t>(opening) * 10 + i;
      ASSERT_TRUE(file.write(mark(position)));
      EXPECT_EQ(read_position(path), position);
    }
  }
}

TEST(HighWater, AWriteTornAtAnyByteLeavesTheOneBefore) {
  TempFolder folder;
  const std::string path = folder / "high-water";
  HighWaterFile file;
  ASSERT_TRUE(file.open(path));
  for (std::uint64_t i = 1; i <= 3; ++i) ASSERT_TRUE(file.write(mark(i)));
  const std::string before = read_file(path);
  ASSERT_TRUE(file.write(mark(4)));
  const std::string after = read_file(path);
  int torn = 0;
  for (std::size_t at = 0; at < after.size(); ++at) {
    if (before[at] == after[at]) continue;
    ++torn;
    write_file(path, after.substr(0, at) + before.substr(at));
    EXPECT_EQ(read_position(path), 3u) << at;
  }
  EXPECT_GT(torn, 10);
}

TEST(HighWater, NothingWholeIsCorrupt) {
  TempFolder folder;
  for (const std::string& bytes :
       {std::string(), std::string("karst"), std::string(8192, '\0'), std::string(100, 'x')}) {
    write_file(folder / "high-water", bytes);
    const auto found = HighWaterFile::read(folder / "high-water");
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().kind, base::Kind::kCorrupt);
  }
}

TEST(HighWater, EveryFlippedBitAndEveryCutIsSaid) {
  TempFolder folder;
  const std::string path = folder / "high-water";
  for (std::uint64_t writes = 1; writes <= 3; ++writes) {
    HighWaterFile file;
    ASSERT_TRUE(file.open(path));
    ASSERT_TRUE(file.write(mark(writes)));
    EXPECT_EQ(HighWaterFile::oddity(path), "");
    const std::string whole = read_file(path);
    const auto said = [&](const std::string& bytes) {
      write_file(path, bytes);
      return !HighWaterFile::read(path) || !HighWaterFile::oddity(path).empty();
    };
    for (std::size_t bit = 0; bit < whole.size() * 8; bit += whole[bit / 8] == 0 ? 5 : 1) {
      std::string flipped = whole;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
      ASSERT_TRUE(said(flipped)) << bit;
    }
    for (std::size_t size = 0; size < whole.size(); size += 7)
      ASSERT_TRUE(said(whole.substr(0, size))) << size;
    write_file(path, whole);
  }
}

TEST(HighWater, WhatIsOddIsPutRightByWriting) {
  TempFolder folder;
  const std::string path = folder / "high-water";
  {
    HighWaterFile file;
    ASSERT_TRUE(file.open(path));
    for (std::uint64_t i = 1; i <= 2; ++i) ASSERT_TRUE(file.write(mark(i)));
  }
  std::string bytes = read_file(path);
  for (const std::size_t at : {20, 500, 8191})
    bytes[at] = static_cast<char>(bytes[at] + 1);  // a slot, both gaps
  write_file(path, bytes + "more");
  EXPECT_NE(HighWaterFile::oddity(path), "");
  HighWaterFile file;
  ASSERT_TRUE(file.open(path));
  EXPECT_NE(HighWaterFile::oddity(path).find("at byte 0,"), std::string::npos)
      << HighWaterFile::oddity(path);
  for (std::uint64_t i = 3; i <= 4; ++i) ASSERT_TRUE(file.write(mark(i)));
  EXPECT_EQ(HighWaterFile::oddity(path), "");
  EXPECT_EQ(read_position(path), 4u);
}

}  // namespace
}  // namespace karst::events::testing
