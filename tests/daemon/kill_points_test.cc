#include "daemon/kill_points.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "events/codec.h"
#include "events/memory_log.h"

namespace karst::daemon {
namespace {

TEST(KillPoints, Parses) {
  struct Case {
    std::string text;
    bool good;
    std::uint64_t left;
    KillPoint point;
  };
  const std::vector<Case> cases = {
      {"", true, 0, KillPoint::kBeforeRecover},
      {"after-recover", true, 1, KillPoint::kAfterRecover},
      {"before-append-answer:3", true, 3, KillPoint::kBeforeAppendAnswer},
      {"after-expired-segment:2", true, 2, KillPoint::kAfterExpiredSegment},
      {"after-snapshot:1", true, 1, KillPoint::kAfterSnapshot},
      {"before-dispatch:2:stop", true, 2, KillPoint::kBeforeDispatch},
      {"before-dispatch:stop", false, 0, KillPoint::kBeforeRecover},
      {"before-append-answer:0", false, 0, KillPoint::kBeforeRecover},
      {"before-append-answer:", false, 0, KillPoint::kBeforeRecover},
      {"before-append-answer:x", false, 0, KillPoint::kBeforeRecover},
      {"before-append-answer:3x", false, 0, KillPoint::kBeforeRecover},
      {"nowhere", false, 0, KillPoint::kBeforeRecover},
      {":1", false, 0, KillPoint::kBeforeRecover},
  };
  for (const Case& c : cases) {
    const auto points = KillPoints::parse(c.text);
    ASSERT_EQ(points.has_value(), c.good) << c.text;
    if (!points) {
      EXPECT_EQ(points.error().kind, base::Kind::kInvalid) << c.text;
      continue;
    }
    EXPECT_EQ(points->left(), c.left) << c.text;
    if (c.left > 0) {
      EXPECT_EQ(points->point(), c.point) << c.text;
    }
  }
}

TEST(KillPoints, EveryPlaceHasAName) {
  EXPECT_EQ(kKillPointNames.size(), static_cast<std::size_t>(KillPoint::kBeforeStop) + 1);
  for (const std::string_view name : kKillPointNames)
    EXPECT_TRUE(KillPoints::parse(name).has_value()) << name;
}

TEST(KillPointsDeathTest, KillsAtTheCountedPassing) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        auto points = KillPoints::parse("before-dispatch:2");
        points->pass(KillPoint::kBeforeDispatch);
        points->pass(KillPoint::kAfterDispatch);
        points->pass(KillPoint::kBeforeDispatch);
        std::exit(7);  // not reached
      },
      testing::KilledBySignal(SIGKILL), "");
}

TEST(KillPointsDeathTest, TellsFactsFromAnswers) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto append = [](const char* place, bool answer) {
    auto points = KillPoints::parse(place);
    events::MemoryLog log(model::LogId("aaaa"));
    KillPointLog killing(log, *points);
    std::vector<events::Record> records{events::make_record(events::SourceBeat{"Pod", "1"})};
    if (answer) records.push_back(events::make_record(events::RoundClosed{}));
    (void)killing.append(records, events::Durability::kSynced);
    std::exit(7);
  };
  EXPECT_EXIT(append("before-append-facts", false), testing::KilledBySignal(SIGKILL), "");
  EXPECT_EXIT(append("before-append-facts", true), testing::ExitedWithCode(7), "");
  EXPECT_EXIT(append("after-append-answer", true), testing::KilledBySignal(SIGKILL), "");
  EXPECT_EXIT(append("after-append-answer", false), testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace karst::daemon
