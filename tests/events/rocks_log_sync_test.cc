// What a log says of itself is on stable storage.
#include "tests/events/log_fixture.h"

namespace karst::events::testing {
namespace {

TEST(RocksLog, SyncMakesTheHighWaterMarkReachTheEnd) {
  TempFolder folder;
  auto log = RocksLog::open(options_for(folder / "log"));
  ASSERT_TRUE(log);
  ASSERT_TRUE(append_numbered(**log, 5, Durability::kBuffered));
  EXPECT_EQ((*log)->synced(), model::Position(1));
  ASSERT_TRUE((*log)->sync());
  EXPECT_EQ((*log)->synced(), model::Position(6));
  const auto mark = HighWaterFile::read(folder / "log/high-water");
  ASSERT_TRUE(mark && *mark);
  EXPECT_EQ((*mark)->position, model::Position(6));
  ASSERT_TRUE((*log)->sync()) << "nothing to do";
  log->reset();
  log = RocksLog::open(options_for(folder / "log"));
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_EQ(*read_all(**log), 6U);
}

}  // namespace
}  // namespace karst::events::testing
