#include "daemon/inbox.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace karst::daemon {
namespace {

using std::chrono::milliseconds;

ports::Fact beat(const std::string& version) {
  return {events::SourceBeat{"Pod", version}, base::WallTime(1), ""};
}

ports::Fact interruption_of(const std::string& message) {
  model::Interruption interruption;
  interruption.message = model::MessageId(message);
  return {events::InterruptionReceived{interruption}, base::WallTime(1), message};
}

ports::Fact outcome(std::uint64_t command) {
  model::Outcome result;
  result.command = model::Position(command);
  return {result, base::WallTime(1), ""};
}

std::vector<std::string> types(const std::vector<ports::Fact>& facts) {
  std::vector<std::string> names;
  for (const ports::Fact& fact : facts)
    names.emplace_back(events::event_type_name(events::type_of(fact.body)));
  return names;
}

TEST(Inbox, InterruptionsAndOutcomesGoFirst) {
  Inbox inbox(10);
  ASSERT_TRUE(inbox.offer(beat("1")));
  ASSERT_TRUE(inbox.offer(interruption_of("m")));
  ASSERT_TRUE(inbox.offer(beat("2")));
  ASSERT_TRUE(inbox.offer(outcome(7)));
  EXPECT_TRUE(inbox.has_urgent());
  EXPECT_EQ(types(inbox.take(10, milliseconds(0))),
            (std::vector<std::string>{"InterruptionReceived", "OutcomeReceived", "SourceBeat",
                                      "SourceBeat"}));
  EXPECT_FALSE(inbox.has_urgent());
}

TEST(Inbox, TellsInWhichOrderItWasOffered) {
  Inbox inbox(10);
  ASSERT_TRUE(inbox.offer({events::ListStarted{"Pod"}, base::WallTime(0), ""}));
  ASSERT_TRUE(inbox.offer({events::EpochOpened{7, "me"}, base::WallTime(0), ""}));
  const auto facts = inbox.take(10, milliseconds(0));
  ASSERT_EQ(types(facts), (std::vector<std::string>{"EpochOpened", "ListStarted"}));
  EXPECT_GT(facts[0].order, facts[1].order);
  EXPECT_GT(facts[1].order, 0U);
}

TEST(Inbox, TakesNoMoreThanAsked) {
  Inbox inbox(10);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(inbox.offer(beat(std::to_string(i))));
  EXPECT_EQ(inbox.take(3, milliseconds(0)).size(), 3U);
  EXPECT_EQ(inbox.size(), 2U);
}

TEST(Inbox, AFloodOfOrdinaryFactsKeepsNoUrgentOneOut) {
  Inbox inbox(2);
  ASSERT_TRUE(inbox.try_offer(beat("1")));
  ASSERT_TRUE(inbox.try_offer(beat("2")));
  EXPECT_FALSE(inbox.try_offer(beat("3"))) << "the lane is full";
  EXPECT_TRUE(inbox.try_offer(interruption_of("m")));
}

TEST(Inbox, AFullLaneHoldsItsSourceUntilThereIsRoom) {
  Inbox inbox(1);
  ASSERT_TRUE(inbox.offer(beat("1")));
  bool taken = false;
  std::thread source([&] { taken = inbox.offer(beat("2")); });
  EXPECT_EQ(inbox.take(1, milliseconds(10'000)).size(), 1U);
  EXPECT_EQ(inbox.take(1, milliseconds(10'000)).size(), 1U) << "the source went on";
  source.join();
  EXPECT_TRUE(taken);
}

TEST(Inbox, ClosingLetsWaitingSourcesGo) {
  Inbox inbox(1);
  ASSERT_TRUE(inbox.offer(beat("1")));
  bool taken = true;
  std::thread source([&] { taken = inbox.offer(beat("2")); });
  inbox.close();
  source.join();
  EXPECT_FALSE(taken);
  EXPECT_FALSE(inbox.offer(interruption_of("m")));
}

}  // namespace
}  // namespace karst::daemon
