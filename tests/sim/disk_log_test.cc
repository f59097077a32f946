#include "sim/disk_log.h"

#include <gtest/gtest.h>

#include "events/codec.h"

namespace karst::sim {
namespace {

events::Record beat(const std::string& version) {
  return events::make_record(events::SourceBeat{"Pod", version});
}

std::vector<std::string> versions(const events::EventLog& log) {
  std::vector<std::string> found;
  auto cursor = log.read(model::Position(2));
  while (true) {
    auto event = (*cursor)->next();
    if (!event || !*event) return found;
    found.push_back(std::get<events::SourceBeat>(events::decode_body(**event)).version);
  }
}

TEST(DiskLog, PowerLossTakesWhatWasNotSynced) {
  DiskLog log(model::LogId("log"), 0);
  const std::vector<events::Record> first{beat("1")};
  const std::vector<events::Record> second{beat("2"), beat("3")};
  ASSERT_TRUE(log.append(first, events::Durability::kSynced));
  ASSERT_TRUE(log.append(second, events::Durability::kBuffered));
  EXPECT_EQ(log.durable_end(), 3u);
  log.lose_power();
  EXPECT_EQ(versions(log), (std::vector<std::string>{"1"}));
  EXPECT_EQ(log.end().value(), 3u);
}

TEST(DiskLog, ACrashStrikesBeforeOrAfterAndStopsTheProcess) {
  const struct {
    const char* name;
    DiskLog::Fate fate;
    base::Kind kind;
    std::size_t written;
    bool crashed;
  } cases[] = {{"before", DiskLog::Fate::kCrashBefore, base::Kind::kCorrupt, 0, true},
               {"after", DiskLog::Fate::kCrashAfter, base::Kind::kCorrupt, 2, true},
               {"full", DiskLog::Fate::kFull, base::Kind::kFull, 0, false}};
  for (const auto& one : cases) {
    DiskLog log(model::LogId("log"), 0);
    log.on_append([&](std::span<const events::Record>) { return one.fate; });
    const std::vector<events::Record> records{beat("1"), beat("2")};
    const auto result = log.append(records, events::Durability::kSynced);
    ASSERT_FALSE(result) << one.name;
    EXPECT_EQ(result.error().kind, one.kind) << one.name;
    EXPECT_EQ(versions(log).size(), one.written) << one.name;
    EXPECT_EQ(log.crashed(), one.crashed) << one.name;
    log.on_append({});
    EXPECT_EQ(log.append(records, events::Durability::kSynced).has_value(), !one.crashed)
        << one.name;
    log.reopen();
    EXPECT_TRUE(log.append(records, events::Durability::kSynced)) << one.name;
  }
}

}  // namespace
}  // namespace karst::sim
