// Disruption budgets with windows: an empty node stays while one is open and goes when it closes,
// without any other event; one that cannot be read holds everything, and says so.
#include "tests/engine/stage.h"

namespace karst::engine {
namespace {

using namespace testing;

const model::Verdict* verdict_on(const Story& story, const std::string& subject) {
  const auto* row =
      story.state().verdicts().find(std::pair<std::string, std::string>(subject, "emptiness"));
  return row == nullptr ? nullptr : &row->verdict;
}

std::string claim_subject(const Story& story) {
  return "nodeclaim/" + story.state().claims().slots().begin()->first.str();
}

model::NodePool pool_with(model::Budget budget) {
  model::NodePool pool = pool_of("default");
  pool.budgets = {std::move(budget)};
  return pool;
}

// The story begins on 2027-01-15, a Friday, at 08:00:00 UTC.
TEST(Budgets, AWindowHoldsUntilItCloses) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story, pool_with({"0", {}, "0 8 * * *", 90 * base::kMillisPerMinute}));
  bring_up_an_empty_node(story);
  const Round round = story.step(10'000);
  EXPECT_TRUE(story.take<model::TaintNode>().empty());
  const model::Verdict* verdict = verdict_on(story, claim_subject(story));
  ASSERT_NE(verdict, nullptr);
  EXPECT_EQ(verdict->code, "blocked_by_budget");
  EXPECT_EQ(verdict->args, (std::vector<std::string>{"default", "Empty", "0"}));
  const std::int64_t closes = base::parse_rfc3339("2027-01-15T09:30:00Z").value_or(0);
  ASSERT_TRUE(round.wake_at);
  EXPECT_LE(round.wake_at->value(), closes);
  story.step(closes - story.now() - 1);
  EXPECT_TRUE(story.take<model::TaintNode>().empty()) << "one millisecond early";
  story.step(1);
  EXPECT_EQ(story.take<model::TaintNode>().size(), 1u);
  EXPECT_EQ(verified(log).difference, std::nullopt);
}

TEST(Budgets, AnotherReasonsBudgetDoesNotHoldAnEmptyNode) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story, pool_with({"0", {"Drifted"}, "", 0}));
  bring_up_an_empty_node(story);
  story.step(10'000);
  EXPECT_EQ(story.take<model::TaintNode>().size(), 1u);
}

TEST(Budgets, OneThatCannotBeReadHoldsEverythingUntilItIsMended) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story, pool_with({"100%", {}, "@often", base::kMillisPerHour}));
  bring_up_an_empty_node(story);
  story.step(10'000);
  EXPECT_TRUE(story.take<model::TaintNode>().empty());
  const model::Verdict* verdict = verdict_on(story, "nodepool/default");
  ASSERT_NE(verdict, nullptr);
  EXPECT_EQ(verdict->code, "budget_unreadable");
  ASSERT_EQ(verdict->args.size(), 1u);
  EXPECT_TRUE(verdict->args[0].starts_with("spec.disruption.budgets[0].schedule: expected five"))
      << verdict->args[0];
  story.fact(events::NodePoolObserved{pool_of("default")});
  story.step();
  EXPECT_EQ(story.take<model::TaintNode>().size(), 1u);
  verdict = verdict_on(story, "nodepool/default");
  ASSERT_NE(verdict, nullptr);
  EXPECT_EQ(verdict->code, "budgets_readable");
}

// As Karpenter counts: a node that is not ready uses the budget up.
TEST(Budgets, ANodeThatIsNotReadyUsesThemUp) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story, pool_with({"100%", {}, "", 0}));
  bring_up_an_empty_node(story);
  story.fact(events::WallClockJumped{3'600'000});  // nothing goes while the test prepares
  story.step();
  model::Node node = story.state().nodes().find(model::NodeName("node-1"))->node;
  node.ready = false;
  story.fact(events::NodeObserved{node});
  story.fact(events::WallClockJumped{0});
  story.step(10'000);
  EXPECT_TRUE(story.take<model::TaintNode>().empty());
  const model::Verdict* verdict = verdict_on(story, claim_subject(story));
  ASSERT_NE(verdict, nullptr);
  EXPECT_EQ(verdict->args, (std::vector<std::string>{"default", "Empty", "1"}));
  node.ready = true;
  story.fact(events::NodeObserved{node});
  story.step();
  EXPECT_EQ(story.take<model::TaintNode>().size(), 1u);
}

}  // namespace
}  // namespace karst::engine
