// One contract, two logs.
#include <gtest/gtest.h>

#include "events/memory_log.h"
#include "tests/events/log_fixture.h"

namespace karst::events::testing {
namespace {

class LogContract : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { open(); }
  void open() {
    if (GetParam() == std::string("memory")) {
      if (!log_) log_ = std::make_unique<MemoryLog>(model::LogId("abc"));
      return;
    }
    open_again(folder_ / "log", log_);
  }
  TempFolder folder_;
  std::unique_ptr<EventLog> log_;
};

TEST_P(LogContract, BeginsWithLogCreated) {
  EXPECT_EQ(log_->end(), model::Position(2));
  auto cursor = log_->read(model::Position(1));
  ASSERT_TRUE(cursor);
  auto event = (*cursor)->next();
  ASSERT_TRUE(event && *event);
  EXPECT_EQ(std::get<LogCreated>(decode_body(**event)).id, log_->id());
  event = (*cursor)->next();
  ASSERT_TRUE(event);
  EXPECT_FALSE(*event);
}

TEST_P(LogContract, PositionsHaveNoGaps) {
  std::uint64_t next = 2;
  for (const std::size_t count : {1, 3, 1, 100}) {
    for (const Durability durability : {Durability::kBuffered, Durability::kSynced}) {
      const auto first = append_numbered(*log_, count, durability);
      ASSERT_TRUE(first) << first.error().message;
      EXPECT_EQ(first->value(), next);
      next += count;
      EXPECT_EQ(log_->end().value(), next);
    }
  }
  const auto last = read_all(*log_);
  ASSERT_TRUE(last) << last.error().message;
  EXPECT_EQ(*last, next - 1);
}

TEST_P(LogContract, AnEmptyAppendIsNothing) {
  const auto first = log_->append({}, Durability::kSynced);
  ASSERT_TRUE(first);
  EXPECT_EQ(*first, model::Position(2));
  EXPECT_EQ(log_->end(), model::Position(2));
}

TEST_P(LogContract, EveryFieldOfARecordComesBack) {
  Record record = record_for(2);
  record.log_time = base::LogTime(-5);
  record.wall_time = base::WallTime(7);
  record.causation = model::Position(1);
  record.correlation = model::Position(1);
  record.stream = "some/stream";
  ASSERT_TRUE(log_->append({&record, 1}, Durability::kBuffered));
  auto cursor = log_->read(model::Position(2));
  auto event = (*cursor)->next();
  ASSERT_TRUE(event && *event);
  const Envelope& e = (*event)->envelope;
  EXPECT_EQ(e.position, model::Position(2));
  EXPECT_EQ(e.log_time, record.log_time);
  EXPECT_EQ(e.wall_time, record.wall_time);
  EXPECT_EQ(e.causation, record.causation);
  EXPECT_EQ(e.correlation, record.correlation);
  EXPECT_EQ(e.type, record.type);
  EXPECT_EQ(e.stream, record.stream);
  EXPECT_EQ((*event)->payload, record.payload);
}

TEST_P(LogContract, ReadsFromAnyPosition) {
  ASSERT_TRUE(append_numbered(*log_, 50, Durability::kBuffered));
  for (std::uint64_t from = 1; from <= 51; ++from) EXPECT_EQ(*read_all(*log_, from), 51u);
  for (const std::uint64_t from : {52u, 53u, 1000u}) {
    auto cursor = log_->read(model::Position(from));
    ASSERT_TRUE(cursor);
    auto event = (*cursor)->next();
    ASSERT_TRUE(event) << event.error().message;
    EXPECT_FALSE(*event);
  }
}

TEST_P(LogContract, ACursorSeesWhatWasThereWhenItWasMade) {
  ASSERT_TRUE(append_numbered(*log_, 5, Durability::kBuffered));
  auto cursor = log_->read(model::Position(1));
  ASSERT_TRUE(append_numbered(*log_, 5, Durability::kBuffered));
  for (int i = 0; i < 6; ++i) {
    auto event = (*cursor)->next();
    ASSERT_TRUE(event && *event) << i;
  }
}

TEST_P(LogContract, ALargePayloadComesBack) {
  const std::size_t size = kPayloadMax - 1000;
  ASSERT_TRUE(append_numbered(*log_, 2, Durability::kSynced, size));
  ASSERT_TRUE(append_numbered(*log_, 1, Durability::kSynced));
  open();
  EXPECT_EQ(*read_all(*log_), 4u);
}

TEST_P(LogContract, OpeningAgainKeepsEverything) {
  const model::LogId id = log_->id();
  ASSERT_TRUE(append_numbered(*log_, 10, Durability::kSynced));
  open();
  EXPECT_EQ(log_->id(), id);
  EXPECT_EQ(log_->end(), model::Position(12));
  ASSERT_TRUE(append_numbered(*log_, 10, Durability::kBuffered));
  open();
  EXPECT_EQ(log_->id(), id);
  EXPECT_EQ(log_->end(), model::Position(22));
  EXPECT_EQ(*read_all(*log_), 21u);
}

INSTANTIATE_TEST_SUITE_P(Logs, LogContract, ::testing::Values("memory", "rocks"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace karst::events::testing
