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

// The mark steps back where its newest slot is damaged: nobody is left to think that nothing was.
TEST(RocksLog, ADamagedSlotOfTheHighWaterFileIsReportedToReadersAndTheWriter) {
  TempFolder folder;
  {
    auto log = RocksLog::open(options_for(folder / "log"));
    ASSERT_TRUE(log && append_numbered(**log, 5, Durability::kSynced));
    EXPECT_EQ((*log)->open_report().mark_oddity, "");
  }
  std::string bytes = read_file(folder / "log/high-water");
  bytes[4096 + 30] = static_cast<char>(bytes[4096 + 30] + 1);
  write_file(folder / "log/high-water", bytes);
  std::filesystem::create_directories(folder / "scratch");
  const auto reader = RocksLog::open_reader(folder / "log", folder / "scratch");
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_NE((*reader)->open_report().mark_oddity.find("at byte 4096,"), std::string::npos);
  const auto log = RocksLog::open(options_for(folder / "log"));
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_NE((*log)->open_report().mark_oddity.find("at byte 4096,"), std::string::npos);
}

}  // namespace
}  // namespace karst::events::testing
