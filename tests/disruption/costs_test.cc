// What pods and nodes cost, the order of candidates, and the policy Balanced: exact figures.
#include "disruption/costs.h"

#include <gtest/gtest.h>

#include <limits>

#include "disruption/balanced.h"
#include "disruption/candidates.h"
#include "tests/disruption/build.h"

namespace karst::disruption::test {
namespace {

TEST(Costs, OfOnePod) {
  struct Case {
    const char* name;
    std::int32_t deletion_cost;
    std::int32_t priority;
    Cost want;
  };
  constexpr std::int32_t kLeast = std::numeric_limits<std::int32_t>::min();
  constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
  const std::vector<Case> cases = {
      {"plain", 0, 0, kCostUnit},
      {"deletion cost", 1 << 27, 0, 2 * kCostUnit},
      {"less than nothing", -(1 << 28), 0, -kCostUnit},
      {"priority", 0, 1 << 25, 2 * kCostUnit},
      {"the least step", 1, 0, kCostUnit + 1},
      {"system-node-critical", 0, 2'000'001'000, 10 * kCostUnit},
      {"as dear as can be", kMost, kMost, 10 * kCostUnit},
      {"as cheap as can be", kLeast, kLeast, -10 * kCostUnit},
      {"they make up for each other", -(1 << 27), 1 << 25, kCostUnit},
  };
  for (const Case& row : cases) {
    model::PodShape shape;
    shape.deletion_cost = row.deletion_cost;
    shape.priority = row.priority;
    EXPECT_EQ(row.want, eviction_cost(shape)) << row.name;
  }
}

TEST(Costs, PodsThatCostNothingLeaveANodeFree) {
  World w = world();
  add_node(w, "m1");
  EXPECT_TRUE(is_free(reschedule_cost(w, w.nodes[0])));
  model::PodShape cheap;
  cheap.deletion_cost = -(1 << 28);
  add_pod(w, 0, 10, cheap);
  EXPECT_EQ(kCostUnit, reschedule_cost(w, w.nodes[0]));
  add_pod(w, 0, 10);
  EXPECT_EQ(2 * kCostUnit, reschedule_cost(w, w.nodes[0]));
}

TEST(Costs, PriceOfANode) {
  World w = world();
  add_node(w, "m2");
  add_node(w, "m2", "spot");
  add_node(w, "x");
  EXPECT_EQ(20 * kCent, price_of(w, w.nodes[0]));
  EXPECT_EQ(14 * kCent, price_of(w, w.nodes[1]));
  EXPECT_EQ(0, price_of(w, w.nodes[2]));
  model::set_label(w.nodes[1].labels, model::kZoneLabel, "b");  // no spot there
  EXPECT_EQ(0, price_of(w, w.nodes[1]));
  std::erase_if(w.nodes[0].labels,
                [](const auto& l) { return l.first == model::kCapacityTypeLabel; });
  EXPECT_EQ(0, price_of(w, w.nodes[0]));
}

TEST(Costs, MoreSavedPerCostComesFirst) {
  World w = world();
  for (const char* type : {"m1", "m8", "m8", "m1"}) add_node(w, type);
  for (int i = 0; i < 9; ++i) add_pod(w, 1, 10);  // 80 cents for 10; the third: 80 for 1
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < 4; ++i) candidates.push_back(make_candidate(w, i));
  sort_by_ratio(candidates);
  std::vector<std::size_t> order;
  for (const Candidate& candidate : candidates) order.push_back(candidate.node);
  EXPECT_EQ((std::vector<std::size_t>{2, 0, 3, 1}), order);
  EXPECT_FALSE(better_ratio(INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX));  // no overflow
}

TEST(Balanced, HalfTheShareOfTheDisruptionIsEnough) {
  struct Case {
    const char* name;
    std::int64_t saved_cents;
    bool want;
  };
  // Two nodes of 10 cents; the first carries 1 of 3 pods: 2 of 5 in cost. A move of it is worth it
  // from a fifth of the price on.
  World w = world();
  w.pools[0].pool.pool.consolidation_policy = model::ConsolidationPolicy::kBalanced;
  add_node(w, "m1");
  add_node(w, "m1");
  for (int i = 0; i < 3; ++i) add_pod(w, i == 0 ? 0 : 1, 10);
  const std::vector<Candidate> first = {make_candidate(w, 0)};
  ASSERT_EQ(2 * kCostUnit, first[0].cost);
  const std::vector<Case> cases = {
      {"all of it", 10, true}, {"a fifth", 4, true},  {"less", 3, false},
      {"nothing", 0, false},   {"a loss", -1, false},
  };
  for (const Case& row : cases)
    EXPECT_EQ(row.want, approve(w, first, row.saved_cents * kCent).none()) << row.name;
  EXPECT_TRUE(could_be_approved(w, first[0]));
  w.pools[0].pool.pool.consolidation_policy = model::ConsolidationPolicy::kWhenEmptyOrUnderutilized;
  EXPECT_TRUE(approve(w, first, 0).none());
}

TEST(Balanced, EveryPoolOfThatPolicyMustApproveItsShare) {
  World w = world({"default", "other"});
  w.pools[0].pool.pool.consolidation_policy = model::ConsolidationPolicy::kBalanced;
  add_node(w, "m1");
  add_node(w, "m8", "on-demand", "other");
  add_pod(w, 0, 10);
  add_pod(w, 1, 10);
  const std::vector<Candidate> both = {make_candidate(w, 0), make_candidate(w, 1)};
  // Of the first pool all would move: half of its 10 cents must be saved, so 45 of the 90 together.
  EXPECT_TRUE(approve(w, both, 45 * kCent).none());
  EXPECT_FALSE(approve(w, both, 44 * kCent).none());
}

TEST(Balanced, APoolWithoutPricesIsTriedButNeverApproves) {
  World w = world();
  w.pools[0].pool.pool.consolidation_policy = model::ConsolidationPolicy::kBalanced;
  add_node(w, "x");
  add_pod(w, 0, 10);
  const Candidate candidate = make_candidate(w, 0);
  EXPECT_TRUE(could_be_approved(w, candidate));
  EXPECT_FALSE(approve(w, {candidate}, 0).none());
}

}  // namespace
}  // namespace karst::disruption::test
