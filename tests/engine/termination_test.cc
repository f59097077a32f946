// The way down of a node, rule by rule (Karpenter 1.14: its termination controller and eviction
// queue): tiers, who is waited for, disruption budgets, do-not-disrupt.
#include "tests/engine/way_down.h"

namespace karst::engine {
namespace {

using namespace testing;

TEST(Termination, PodsLeaveInFourTiersEachAfterTheOneBefore) {
  WayDown down;
  down.add({"app", ""});
  down.add({"app-2", "my-priority"});
  down.add({"daemon", "", model::OwnerKind::kDaemonSet});
  down.add({"dns", "system-cluster-critical"});
  down.add({"proxy", "system-node-critical", model::OwnerKind::kDaemonSet});
  down.leave();
  EXPECT_EQ(down.told_to_go(), (Names{"app", "app-2"}));
  for (const auto& command : down.last)
    EXPECT_EQ(down.story.state().commands().find(command.id.position)->command.reason, "drain");
  down.gone("app");
  down.story.step();
  EXPECT_EQ(down.told_to_go(), Names{}) << "not before the whole tier is gone";
  const std::pair<const char*, const char*> next[] = {
      {"app-2", "daemon"}, {"daemon", "dns"}, {"dns", "proxy"}};
  for (const auto& [left, then] : next) {
    down.gone(left);
    down.story.step();
    EXPECT_EQ(down.told_to_go(), Names{then});
  }
}

TEST(Termination, WhoIsNotWaitedFor) {
  WayDown down;
  PodOf tolerating{"tolerating", ""};
  tolerating.tolerates_disrupted = true;
  down.add(tolerating);
  down.add({"mirror", "", model::OwnerKind::kNode});
  down.add({"stuck", ""}, down.story.now() - 61 * kSecond);
  down.add({"leaving", ""}, down.story.now() - 30 * kSecond);
  down.leave();
  EXPECT_EQ(down.told_to_go(), Names{});
  EXPECT_TRUE(down.story.take<model::ReadBackNode>().empty()) << "one is still on its way";
  down.story.step(32 * kSecond);
  EXPECT_EQ(down.story.take<model::ReadBackNode>().size(), 1u)
      << "a minute after its deletion nobody waits for it";
  EXPECT_EQ(down.told_to_go(), Names{});
}

TEST(Termination, AReadBackThatNamesAStuckPodDoesNotHoldTheNode) {
  WayDown down;
  down.add({"stuck", ""}, down.story.now() - 61 * kSecond);
  down.leave();
  for (const auto& command : down.story.take<model::ReadBackNode>()) {
    model::Outcome outcome;
    outcome.command = command.id.position;
    outcome.attempt = command.attempt;
    outcome.read_back = model::NodeReadBack{
        true, true, {{model::PodUid("stuck"), "default", "stuck", true, false, false}}};
    down.story.fact(std::move(outcome));
  }
  down.story.step();
  EXPECT_TRUE(down.looks_for_the_instance());
}

// One that was there when emptiness was confirmed, and has gone since.
TEST(Termination, AReadBackThatNamesAPodThatHasGoneIsRepeatedSoon) {
  WayDown down;
  down.leave();
  const auto read = [&](const Names& names) {
    const auto reads = down.story.take<model::ReadBackNode>();
    EXPECT_EQ(reads.size(), 1u);
    for (const auto& command : reads) {
      model::Outcome outcome;
      outcome.command = command.id.position;
      outcome.attempt = command.attempt;
      outcome.read_back = model::NodeReadBack{true, true, {}};
      for (const std::string& name : names)
        outcome.read_back->pods.push_back(
            {model::PodUid(name), "default", name, true, true, false});
      down.story.fact(std::move(outcome));
    }
    down.story.step();
  };
  read({"agent"});
  EXPECT_FALSE(down.looks_for_the_instance());
  EXPECT_TRUE(down.story.take<model::ReadBackNode>().empty()) << "not at once";
  down.story.step(2 * kSecond);
  read({});
  EXPECT_TRUE(down.looks_for_the_instance());
}

TEST(Termination, AReadBackWithoutTheTaintCarriesNothing) {
  WayDown down;
  down.leave();
  for (const bool tainted : {false, false, true}) {
    const auto reads = down.story.take<model::ReadBackNode>();
    ASSERT_EQ(reads.size(), 1u) << tainted;
    model::Outcome outcome;
    outcome.command = reads[0].id.position;
    outcome.attempt = reads[0].attempt;
    outcome.read_back = model::NodeReadBack{true, tainted, {}};
    down.story.fact(std::move(outcome));
    down.story.step();
    EXPECT_EQ(down.looks_for_the_instance(), tainted);
    down.story.step(2 * kSecond);
  }
}

TEST(Termination, ABudgetsRefusalIsTriedAgainWithinTenSeconds) {
  WayDown down;
  down.add({"app", ""});
  down.leave();
  ASSERT_EQ(down.told_to_go(), Names{"app"});
  std::int64_t shortest = 60 * kSecond, longest = 0;
  for (int refused = 0; refused < 8; ++refused) {
    const std::int64_t waited = refuse_and_wait(down, down.story.now() + 60 * kSecond);
    ASSERT_EQ(down.last.size(), 1u) << refused;
    shortest = std::min(shortest, waited);
    longest = std::max(longest, waited);
  }
  EXPECT_LE(shortest, 2 * kSecond);
  EXPECT_GE(longest, 9 * kSecond);
  EXPECT_LE(longest, 11 * kSecond);
}

TEST(Termination, TwoBudgetsOfOnePodAreTriedAgainAsWell) {
  WayDown down;
  down.add({"app", ""});
  down.leave();
  ASSERT_EQ(down.told_to_go(), Names{"app"});
  down.story.answer(down.last[0], model::OutcomeKind::kRefused, {}, model::RefusalCode::kRetry);
  down.story.step();
  down.story.step(2 * kSecond);
  EXPECT_EQ(down.told_to_go(), Names{"app"});
}

TEST(Termination, DoNotDisruptHoldsTheDrainUntilItIsOver) {
  struct Case {
    const char* name;
    model::DoNotDisrupt hold;
    bool ends;  // after its minute
  };
  for (const Case& test : {Case{"for ever", model::DoNotDisrupt::kForever, false},
                           Case{"for a minute", model::DoNotDisrupt::kForDuration, true}}) {
    WayDown down;
    PodOf held{"held", ""};
    held.hold = test.hold;
    held.hold_millis = 60 * kSecond;
    down.add(held);
    down.add({"daemon", "", model::OwnerKind::kDaemonSet});
    down.leave();
    down.story.step(50 * kSecond);
    EXPECT_EQ(down.told_to_go(), Names{}) << test.name << ": the next tier waits as well";
    const auto* verdict = down.story.state().verdicts().find(
        std::pair<std::string, std::string>("node/node-1", "termination"));
    ASSERT_NE(verdict, nullptr);
    EXPECT_EQ(verdict->verdict.code, "blocked_by_pod");
    EXPECT_EQ(verdict->verdict.args, Names{"default/held"});
    EXPECT_TRUE(down.story.take<model::ReadBackNode>().empty());
    const Round round = down.story.step(15 * kSecond);
    EXPECT_EQ(down.told_to_go(), test.ends ? Names{"held"} : Names{}) << test.name;
  }
}

TEST(Termination, TheEndOfAHoldIsAWakeUp) {
  WayDown down;
  PodOf held{"held", ""};
  held.hold = model::DoNotDisrupt::kForDuration;
  held.hold_millis = 60 * kSecond;
  down.add(held);
  const std::int64_t started = down.story.now();
  down.leave();
  const Round round = down.story.step();
  ASSERT_TRUE(round.wake_at);
  EXPECT_LE(round.wake_at->value(), started + 60 * kSecond);
}

// The one look at the machine that is asked for.
void answer_the_look(WayDown& down, std::vector<model::Instance> found,
                     model::RefusalCode code = model::RefusalCode::kNone) {
  const auto looks = down.story.take<model::FindInstances>();
  ASSERT_EQ(looks.size(), 1u);
  down.story.answer(looks[0], model::OutcomeKind::kDone, std::move(found), code);
  down.story.step();
}

// EC2 may not know the id of a machine yet that it has just launched.
TEST(Termination, AYoungMachineThatTheCloudDoesNotKnowIsAskedForUntilItIsOld) {
  WayDown down;
  const std::int64_t known_since =
      down.story.state().claims().slots().begin()->second.row.launched_at.value();
  down.leave();
  down.answer_read_back();
  int asked = 0;
  while (down.story.now() < known_since + 59 * kSecond) {
    for (const auto& look : down.story.take<model::FindInstances>()) {
      ++asked;
      down.story.answer(look, model::OutcomeKind::kDone, {}, model::RefusalCode::kGone);
    }
    down.story.step(kSecond);
    down.answer_read_back();
    ASSERT_TRUE(down.story.take<model::DeleteObject>().empty()) << "its node stays";
    ASSERT_TRUE(down.story.take<model::SetFinalizer>().empty());
    ASSERT_EQ(down.story.state().claims().slots().begin()->second.row.gone_at.value(), 0);
  }
  EXPECT_GE(asked, 5);
  EXPECT_LE(asked, 12) << "a poll";
  down.story.step(10 * kSecond);
  down.answer_read_back();
  ASSERT_NO_FATAL_FAILURE(answer_the_look(down, {}, model::RefusalCode::kGone));
  EXPECT_EQ(down.story.take<model::DeleteObject>().size(), 1u) << "now it is a proof";
  EXPECT_EQ(verified(down.log()).difference, std::nullopt);
}

TEST(Termination, AYoungMachineThatIsSeenTerminatedIsGone) {
  WayDown down;
  down.leave();
  down.answer_read_back();
  ASSERT_NO_FATAL_FAILURE(answer_the_look(down, {}));
  EXPECT_EQ(down.story.take<model::DeleteObject>().size(), 1u);
}

TEST(Termination, AYoungMachineThatATerminationDoesNotFindIsAskedForAgain) {
  WayDown down;
  down.leave();
  down.answer_read_back();
  const model::Instance machine = down.story.state().claims().slots().begin()->second.row.instance;
  ASSERT_NO_FATAL_FAILURE(answer_the_look(down, {machine}));
  const auto ends = down.story.take<model::Terminate>();
  ASSERT_EQ(ends.size(), 1u);
  model::Instance gone = machine;
  gone.state = model::InstanceState::kTerminated;
  down.story.answer(ends[0], model::OutcomeKind::kDone, {gone}, model::RefusalCode::kGone);
  down.story.step();
  EXPECT_TRUE(down.story.take<model::DeleteObject>().empty());
  down.story.step(6 * kSecond);
  EXPECT_EQ(
      down.story.take<model::Terminate>().size() + down.story.take<model::FindInstances>().size(),
      1u);
}

}  // namespace
}  // namespace karst::engine
