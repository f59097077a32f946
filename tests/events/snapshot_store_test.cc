#include "events/snapshot_store.h"

#include <gtest/gtest.h>

#include "tests/events/log_fixture.h"

namespace karst::events::testing {
namespace {

class SnapshotStoreTest : public ::testing::Test {
 protected:
  void SetUp() override { open(); }
  void open() {
    log_.reset();
    auto log = RocksLog::open(options_for(folder_ / "log"));
    ASSERT_TRUE(log) << log.error().message;
    log_ = std::move(*log);
  }
  void put(std::uint64_t position, const std::string& bytes, std::string_view version = "v1") {
    const auto status = log_->snapshots().put(version, {model::Position(position), bytes});
    ASSERT_TRUE(status) << status.error().message;
  }
  std::string latest(std::uint64_t position, std::string_view version = "v1") {
    const auto found = log_->snapshots().latest(version, model::Position(position));
    EXPECT_TRUE(found);
    if (!found || !*found) return "none";
    return std::to_string((*found)->position.value()) + ":" + (*found)->bytes.substr(0, 10);
  }
  TempFolder folder_;
  std::unique_ptr<RocksLog> log_;
};

TEST_F(SnapshotStoreTest, TheNewestAtOrBeforeAPosition) {
  EXPECT_EQ(latest(100), "none");
  put(10, "ten");
  put(20, "twenty");
  EXPECT_EQ(latest(9), "none");
  EXPECT_EQ(latest(10), "10:ten");
  EXPECT_EQ(latest(19), "10:ten");
  EXPECT_EQ(latest(20), "20:twenty");
  EXPECT_EQ(latest(UINT64_MAX), "20:twenty");
}

TEST_F(SnapshotStoreTest, AnotherVersionIsPassedOver) {
  put(10, "ten", "v1");
  put(20, "twenty", "v2");
  EXPECT_EQ(latest(30, "v1"), "10:ten");
  EXPECT_EQ(latest(30, "v2"), "20:twenty");
  EXPECT_EQ(latest(30, "v3"), "none");
}

// Of a build that was replaced: nobody reads it again, and in its slot another one is missed.
TEST_F(SnapshotStoreTest, AnotherVersionGoesWithTheFirstOfThisOne) {
  put(10, "ten", "v1");
  put(20, "twenty", "v1");
  open();
  EXPECT_EQ(latest(30, "v1"), "20:twenty");
  put(15, "fifteen", "v2");
  EXPECT_EQ(latest(30, "v1"), "none");
  EXPECT_EQ(latest(30, "v2"), "15:fifteen");
}

TEST_F(SnapshotStoreTest, LargeAndEmptyOnesComeBack) {
  std::string large(5'000'001, '\0');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * i >> 7);
  put(5, large);
  put(6, "");
  open();  // a clean close keeps them
  const auto found = log_->snapshots().latest("v1", model::Position(5));
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->bytes, large);
  EXPECT_EQ(latest(6), "6:");
}

// One every 100 positions, over three hundred times as many as are dense.
TEST(KeptSnapshotsTest, DenseNearTheEndAndSparseFurtherBack) {
  constexpr std::uint64_t kStep = 100, kCount = 50'000;
  std::vector<model::Position> stored;
  for (std::uint64_t number = 1; number <= kCount; ++number) {
    stored.insert(stored.begin(), model::Position(number * kStep));
    stored = kept_snapshots(stored);
    ASSERT_EQ(stored.front(), model::Position(number * kStep));
    ASSERT_LE(stored.size(), kSnapshotsMax);
  }
  const std::uint64_t newest = stored.front().value();
  std::uint64_t after = newest;
  for (const model::Position position : stored) {
    const std::uint64_t gap = after - position.value(), distance = newest - position.value();
    EXPECT_LE(gap, std::max(kStep, 2 * distance / kSnapshotsDense + kStep)) << distance;
    if (distance < kStep * kSnapshotsDense) {
      EXPECT_TRUE(gap == 0 || gap == kStep) << distance;
    }
    after = position.value();
  }
  EXPECT_EQ(stored.back().value(), kStep);  // the beginning is never given up
  EXPECT_LT(stored.size(), 1'600U);
  EXPECT_GT(stored.size(), 5 * kSnapshotsDense);
}

TEST_F(SnapshotStoreTest, WhatIsKeptIsFoundAndTheRestIsGone) {
  for (std::uint64_t position = 1; position <= 300; ++position)
    put(position * 2, std::to_string(position));
  put(100'000, "far");  // now all of those lie in slots of 512
  EXPECT_EQ(latest(99'999), "512:256");
  EXPECT_EQ(latest(511), "2:1");
  EXPECT_EQ(latest(1), "none");
  EXPECT_EQ(latest(100'000), "100000:far");
}

TEST_F(SnapshotStoreTest, ADamagedOneIsPassedOver) {
  put(10, "ten");
  // Right size, wrong bytes; then one whose pieces are missing.
  auto db = std::shared_ptr<RocksDb>();
  log_.reset();
  {
    auto opened = RocksDb::open(folder_ / "log", Recovery::kTornTail, Compactions::kOn);
    ASSERT_TRUE(opened) << opened.error().message;
    db = std::move(*opened);
    SnapshotStore store;
    store.use(db);
    ASSERT_TRUE(store.put("v1", {model::Position(20), "twenty"}));
    ASSERT_TRUE(store.put("v1", {model::Position(30), "thirty"}));
    const std::string piece("\0\0\0\1", 4);
    db->put(Family::kSnapshots, std::string(PositionKey(model::Position(20)).view()) + piece,
            "twentx", {});
    db->remove(Family::kSnapshots, std::string(PositionKey(model::Position(30)).view()) + piece);
    ASSERT_TRUE(db->write(RocksDb::Sync::kYes));
    store.use(nullptr);
    db.reset();
  }
  open();
  EXPECT_EQ(latest(40), "10:ten");
}

}  // namespace
}  // namespace karst::events::testing
