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
      {"before-append-facts@PodObserved", true, 1, KillPoint::kBeforeAppendFacts},
      {"before-dispatch@TaintRequested,EvictRequested:2", true, 2, KillPoint::kBeforeDispatch},
      {"before-dispatch@TaintRequested|EvictRequested:2", true, 2, KillPoint::kBeforeDispatch},
      {"before-dispatch@TaintRequested|", false, 0, KillPoint::kBeforeRecover},
      {"before-dispatch@|TaintRequested", false, 0, KillPoint::kBeforeRecover},
      {"before-dispatch@TaintRequested|Nothing", false, 0, KillPoint::kBeforeRecover},
      {"before-dispatch@", false, 0, KillPoint::kBeforeRecover},
      {"before-dispatch@Nothing", false, 0, KillPoint::kBeforeRecover},
      {"before-dispatch@,EvictRequested", false, 0, KillPoint::kBeforeRecover},
      {"before-dispatch@TaintRequested,", false, 0, KillPoint::kBeforeRecover},
      {"before-dispatch@Nothing,EvictRequested", false, 0, KillPoint::kBeforeRecover},
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

TEST(KillPoints, AskForTypesWhenOneIsNamed) {
  EXPECT_FALSE(KillPoints::parse("before-append-facts")->asks_for_types());
  EXPECT_TRUE(KillPoints::parse("before-append-facts@PodGone")->asks_for_types());
}

// A launch is written, leaves, and its outcome is written: each is of the launch's type.
TEST(KillPointsDeathTest, TellsTypesApart) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto story = [](const char* place) {
    auto points = KillPoints::parse(place);
    events::MemoryLog log(model::LogId("aaaa"));
    KillPointLog killing(log, *points);
    const auto append = [&](std::vector<events::Body> bodies) {
      std::vector<events::Record> records;
      for (events::Body& body : bodies) records.push_back(events::make_record(std::move(body)));
      return *killing.append(records, events::Durability::kSynced);
    };
    append({events::PodGone{}, events::NodeGone{}});
    const model::Position launch =
        append({model::Command{.spec = model::Launch{}}, events::RoundClosed{}});
    points->pass(KillPoint::kBeforeDispatch, {"LaunchRequested"});
    model::Outcome outcome;
    outcome.command = launch;
    append({std::move(outcome)});
    append({events::NodeClaimGone{}});
    std::exit(7);
  };
  for (const char* place :
       {"before-append-facts@NodeGone", "after-append-answer@LaunchRequested",
        "before-dispatch@LaunchRequested", "before-append-facts@LaunchRequested",
        "after-append-facts@OutcomeReceived", "before-append-facts@TaintRequested|NodeGone",
        "before-append-facts@LaunchRequested,NodeClaimGone"})
    EXPECT_EXIT(story(place), testing::KilledBySignal(SIGKILL), "") << place;
  for (const char* place :
       {"before-append-facts@NodeGone:2", "before-append-facts@TaintRequested|EvictRequested",
        "before-append-answer@OutcomeReceived", "before-dispatch@TerminateRequested",
        "after-append-facts@LaunchRequested:2", "before-append-facts@LaunchRequested,NodeGone",
        "before-append-facts@TaintRequested,NodeClaimGone"})
    EXPECT_EXIT(story(place), testing::ExitedWithCode(7), "") << place;
}

}  // namespace
}  // namespace karst::daemon
