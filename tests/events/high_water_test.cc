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

}  // namespace
}  // namespace karst::events::testing
