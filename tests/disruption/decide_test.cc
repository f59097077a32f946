// What is decided: the methods in their order, and each method's own choice. Whole small clusters.
#include "disruption/decide.h"

#include <gtest/gtest.h>

#include "disruption/consolidation.h"
#include "disruption/drift.h"
#include "tests/disruption/build.h"

namespace karst::disruption::test {
namespace {

const std::vector<Method> kOrder = {Method::kStaticDrift, Method::kDrift, Method::kEmptiness,
                                    Method::kMultiNode, Method::kSingleNode};

// "Drift: node-1 -> m1"; several commands joined by "; ".
std::string told(const World& world, const std::vector<Method>& methods = kOrder) {
  const std::vector<Step> steps = decide(world, methods);
  if (steps.empty() || steps.back().outcome.commands.empty()) return "nothing";
  std::string text = std::string(method_name(steps.back().method)) + ":";
  for (const Command& command : steps.back().outcome.commands) {
    text += text.ends_with(":") ? "" : ";";
    for (const Candidate& candidate : command.candidates)
      text += " " + world.nodes[candidate.node].name;
    for (const Replacement& one : command.replacements)
      text += " -> " + (one.types.empty() ? one.pool->pool.pool.name.str()
                                          : one.pool->pool.types[one.types.front()].name);
  }
  return text;
}

std::string why(const World& world, Method method, std::size_t node) {
  for (const Step& step : decide(world, {method}))
    for (const Refused& refused : step.outcome.refused)
      if (refused.node == node) return refused.why.code;
  return "";
}

TEST(Decide, EmptyNodesGoTogetherWithinTheirBudget) {
  World w = world();
  for (int i = 0; i < 4; ++i) add_node(w, "m1");
  add_pod(w, 1, 900);
  w.pools[0].pool.pool.budgets = {{"2", {}, "", 0}};
  EXPECT_EQ("Emptiness: node-1 node-3", told(w));
  EXPECT_EQ("budget", why(w, Method::kEmptiness, 3));
  w.nodes[1].leaving = true;  // counts against the budget
  EXPECT_EQ("Emptiness: node-1", told(w));
  w.pools[0].pool.pool.budgets = {{"0", {"Empty"}, "", 0}};
  EXPECT_EQ("nothing", told(w));
}

TEST(Decide, ANodeWhosePodsFitElsewhereIsDeleted) {
  World w = world();
  add_node(w, "m1");
  add_node(w, "m1");
  add_pod(w, 0, 500);
  add_pod(w, 1, 400);
  w.pools[0].pool.pool.requirements = {
      scheduling::test::in(std::string(model::kCapacityTypeLabel), {"on-demand"})};
  EXPECT_EQ("SingleNodeConsolidation: node-1", told(w));
  w.base.nodes[1].taints = {{"a", "", model::TaintEffect::kNoSchedule}};
  EXPECT_EQ("SingleNodeConsolidation: node-2", told(w));
  EXPECT_EQ("not_cheaper", why(w, Method::kSingleNode, 0));
}

TEST(Decide, ManyGoWhereOneCheaperTakesTheirPlace) {
  World w = world();
  for (int i = 0; i < 3; ++i) add_pod(w, add_node(w, "m8"), 300);
  EXPECT_EQ("MultiNodeConsolidation: node-1 node-2 node-3 -> m1", told(w));
  w.pools[0].pool.pool.budgets = {{"2", {}, "", 0}};
  EXPECT_EQ("MultiNodeConsolidation: node-1 node-2", told(w));
  EXPECT_EQ("budget", why(w, Method::kMultiNode, 2));
}

// The types are sold on demand alone, the pool allows spot too, and so spot is asked for.
TEST(Decide, BalancedReckonsWithWhatTheReplacementCosts) {
  const auto with_m4_at = [](std::int64_t cents) {
    World w = world();
    std::vector<scheduling::InstanceType> types = scheduling::test::machines();
    const std::int64_t prices[] = {10, 20, cents, 80};
    for (std::size_t i = 0; i < types.size(); ++i)
      types[i].offerings = {scheduling::test::offering("a", "on-demand", prices[i] * kCent)};
    w.pools[0].pool.types = types;
    w.pools[0].pool.pool.consolidation_policy = model::ConsolidationPolicy::kBalanced;
    add_pod(w, add_node(w, "m8"), 3000);
    return w;
  };
  EXPECT_EQ("SingleNodeConsolidation: node-1 -> m4", told(with_m4_at(40)));
  EXPECT_EQ("nothing", told(with_m4_at(41))) << "less than half of the price is saved";
}

TEST(Decide, PodsThatFitNowhereKeepTheirNode) {
  World w = world();
  add_node(w, "m1");
  model::PodShape shape;
  shape.node_selector = {{"kubernetes.io/arch", "arm64"}};
  add_pod(w, 0, 500, shape);
  EXPECT_EQ("nothing", told(w));
  EXPECT_EQ("not_all_placed", why(w, Method::kSingleNode, 0));
}

TEST(Decide, NothingRestsOnANodeThatMayNeverComeUp) {
  World w = world();
  add_node(w, "m8");
  add_node(w, "m8");
  add_pod(w, 0, 500);
  w.nodes[1].initialized = w.base.nodes[1].initialized = false;
  EXPECT_EQ("not_all_placed", why(w, Method::kSingleNode, 0));
}

TEST(Decide, AMoveSparesANodeInsideItsWindow) {
  World w = world({"default", "slow"});
  add_node(w, "m1");
  add_node(w, "m8", "on-demand", "slow");
  add_pod(w, 0, 500);
  w.pools[0].pool.pool.requirements = w.pools[1].pool.pool.requirements = {
      scheduling::test::in(std::string(model::kCapacityTypeLabel), {"on-demand"})};
  w.nodes[1].consolidatable = false;
  w.nodes[1].initialized_millis = kNow - 1000;
  w.pools[1].pool.pool.consolidate_after_millis = 1000;  // over
  EXPECT_EQ("SingleNodeConsolidation: node-1", told(w));
  w.pools[1].pool.pool.consolidate_after_millis = 1001;
  EXPECT_EQ("nothing", told(w));
  w.nodes[0].drifted = true;  // is no such move
  EXPECT_EQ("Drift: node-1", told(w));
}

TEST(Decide, WithoutAPoolThatCanSupplyNothingMoves) {
  World w = world();
  add_node(w, "m8");
  add_node(w, "m8");
  add_pod(w, 0, 500);
  w.pools[0].ready = false;
  EXPECT_EQ("no_pools", why(w, Method::kSingleNode, 0));
}

TEST(Decide, PodsThatWaitAnywayDoNotHoldANode) {
  World w = world();
  add_node(w, "m8");
  add_node(w, "m8");
  add_pod(w, 0, 500);
  add_pod(w, 1, 7900);
  add_pod(w, kNowhere, 100'000);  // fits nothing
  EXPECT_EQ("SingleNodeConsolidation: node-1 -> m1", told(w, {Method::kSingleNode}));
}

TEST(Decide, DriftedNodesGoOneAtATimeTheEmptyAndTheOldFirst) {
  World w = world();
  for (int i = 0; i < 3; ++i) {
    const std::size_t node = add_node(w, "m1");
    w.nodes[node].drifted = true;
    w.nodes[node].drifted_millis = 100 - i;
    add_pod(w, node, 900);
  }
  EXPECT_EQ("Drift: node-3 -> m1", told(w));
  w.pods[1].terminal = true;
  EXPECT_EQ("Drift: node-2", told(w));
  EXPECT_EQ("one_at_a_time", why(w, Method::kDrift, 0));
  // One whose pods fit nowhere does not hold up the next, whatever the budget.
  w.pods[1].terminal = false;
  w.pools[0].pool.pool.budgets = {{"1", {}, "", 0}};
  w.shapes[2].node_selector = {{"kubernetes.io/arch", "arm64"}};
  EXPECT_EQ("Drift: node-2 -> m1", told(w));
}

TEST(Decide, StaticPoolsReplaceOneForOne) {
  struct Case {
    const char* name;
    std::int64_t replicas;
    std::optional<std::int64_t> limit;
    const char* budget;
    const char* want;
  };
  const std::vector<Case> cases = {
      {"as many as there are", 3, std::nullopt, "100%",
       "StaticDrift: node-1 -> default; node-2 -> default; node-3 -> default"},
      {"within the budget", 3, std::nullopt, "1", "StaticDrift: node-1 -> default"},
      {"within the node limit", 3, 5, "100%", "StaticDrift: node-1 -> default; node-2 -> default"},
      {"at the node limit", 3, 3, "100%", "nothing"},
      {"more nodes than replicas", 2, std::nullopt, "100%", "nothing"},
  };
  for (const Case& row : cases) {
    World w = world();
    w.pools[0].pool.pool.replicas = row.replicas;
    if (row.limit) w.pools[0].pool.pool.limits = {{"nodes", *row.limit}};
    w.pools[0].pool.pool.budgets = {{row.budget, {}, "", 0}};
    for (int i = 0; i < 3; ++i) w.nodes[add_node(w, "m1")].drifted = true;
    EXPECT_EQ(row.want, told(w)) << row.name;
  }
}

TEST(Decide, PoolsTakeTurns) {
  World w = world({"default", "other"});
  const std::vector<model::RequirementSpec> on_demand = {
      scheduling::test::in(std::string(model::kCapacityTypeLabel), {"on-demand"})};
  for (Pool& pool : w.pools) pool.pool.pool.requirements = on_demand;
  // The two best cannot go; the best of the other pool comes before the second best.
  model::PodShape stuck;
  stuck.node_selector = {{"kubernetes.io/arch", "arm64"}};
  add_pod(w, add_node(w, "m8"), 100, stuck);
  add_pod(w, add_node(w, "m4"), 100);
  add_pod(w, add_node(w, "m2", "on-demand", "other"), 100);
  EXPECT_EQ("SingleNodeConsolidation: node-3", told(w, {Method::kSingleNode}));
}

}  // namespace
}  // namespace karst::disruption::test
