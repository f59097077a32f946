// An index and a log of one id that are not of one history.
#include "index/same_history.h"

#include <gtest/gtest.h>

#include "tests/events/trim_fixture.h"
#include "tests/index/index_fixture.h"

namespace karst::index {
namespace {

using events::testing::TempFolder;

// A log that was put back from a copy has the id of the one that went on, and another history: an
// index that was left behind is of neither use nor harm.
class AnotherHistoryTest : public IndexTest, public ::testing::WithParamInterface<bool> {
 protected:
  // Goes on with `here` events of its own, and with `left` in the history that the index is of.
  void left_behind(std::size_t here, std::size_t left) {
    append(1'000);
    fill(*open_index());
    if (GetParam()) events::testing::trim_log(*log_, 769);
    log_.reset();
    events::testing::copy_folder(folder_ / "log", folder_ / "copy");
    open_log();
    append(left);
    fill(*open_index());
    log_.reset();
    events::testing::copy_folder(folder_ / "copy", folder_ / "log");
    open_log();
    for (std::size_t i = 0; i < here; ++i) append(events::ListStarted{"Node"});
  }
};

TEST_P(AnotherHistoryTest, IsNotIndexedByTheOneThatWasLeftBehind) {
  for (const std::size_t left : {1, 400, 5'000}) {
    SCOPED_TRACE(left);
    left_behind(600, left);
    const TempFolder scratch;
    const auto reader = Reader::open(folder_ / "index", *log_, log_->secret(), scratch / "s");
    ASSERT_FALSE(reader);
    EXPECT_EQ(reader.error().kind, base::Kind::kInvalid);
    EXPECT_NE(reader.error().message.find("another history"), std::string::npos);
    {
      const auto index = open_index();
      EXPECT_EQ(index->through().value(), 0U);
      EXPECT_NE(index->replaced_because(), "");
      fill(*index);
    }
    const auto rebuilt = contents();
    std::filesystem::remove_all(folder_ / "index");
    fill(*open_index());
    EXPECT_EQ(contents(), rebuilt);
    EXPECT_EQ(found("source/Node").size(), 600U);
    log_.reset();
    std::filesystem::remove_all(folder_ / "index");
    std::filesystem::remove_all(folder_ / "log");
    open_log();
  }
}

INSTANTIATE_TEST_SUITE_P(All, AnotherHistoryTest, ::testing::Bool(),
                         [](const auto& tested) { return tested.param ? "Trimmed" : "Whole"; });

// Put back with the log's beginning gone since: the leaves that are kept say whose it is.
TEST_F(IndexTest, OneThatEndsInWhatWasTrimmedIsHeldAgainstTheLeaves) {
  append(1'000);
  const auto stop_at = [&](std::uint64_t through) {
    std::filesystem::remove_all(folder_ / "index");
    const auto index = open_index();
    ASSERT_TRUE(index->advance(*log_, model::Position(through)));
  };
  stop_at(300);
  events::testing::trim_log(*log_, 769);
  EXPECT_EQ(open_index()->replaced_because(), "");
  stop_at(300);
  {
    auto db = events::RocksDb::open(folder_ / "index", events::Recovery::kUpToDamage,
                                    events::Compactions::kOn, events::Contents::kIndex);
    ASSERT_TRUE(db);
    auto hashes = TileStore(**db).read({0, 1}, 44);
    ASSERT_TRUE(hashes);
    hashes->back() = static_cast<char>(hashes->back() ^ 1);
    const proof::Tile tile{{0, 1}, *hashes};
    put_tiles(**db, {&tile, 1}, 300);
    ASSERT_TRUE((*db)->write(events::RocksDb::Sync::kYes));
  }
  const auto index = open_index();
  EXPECT_NE(index->replaced_because().find("position 300"), std::string::npos)
      << index->replaced_because();
}

}  // namespace
}  // namespace karst::index
