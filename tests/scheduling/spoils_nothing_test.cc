// What one pod, one limit or one machine must not do to the price of everybody else.
#include <gtest/gtest.h>

#include "tests/scheduling/cases.h"

namespace karst::scheduling::test {
namespace {

// A pod that asks for nothing costs nothing, and a machine that is free makes no other one so.
TEST(SpoilsNothing, APodOrAMachineWithoutWorth) {
  const std::vector<PodGroup> groups = {with_nobody(asking(30, 250, 300)), asking(30, 500, 900),
                                        asking(30, 100, 100), asking(40, 1500, 1800)};
  const Problem without = problem(groups, {by_the_cpu(40)});
  Problem with = without;
  with.pods.push_back(asking(5, 0, 0));
  EXPECT_EQ(price(solve(with)), price(solve(without)));
  Problem free = without;
  std::vector<InstanceType> types = free.pools[0].types.items();
  for (Offering& one : types[0].offerings) one.price_nanos_per_hour = 0;
  free.pools[0].types = types;
  const Answer answer = solve(free);
  EXPECT_EQ("", wrong(free, answer));
  EXPECT_LE(price(answer), price(solve(without)));
}

// One pod for which there is no machine, whatever limits are left and whatever it asks of its
// hosts, makes nobody else's dearer.
TEST(SpoilsNothing, APodThatNobodyCanHelp) {
  const std::vector<PodGroup> groups = {with_nobody(asking(30, 250, 300)), asking(30, 500, 900),
                                        asking(30, 100, 100), asking(40, 1500, 1800)};
  Pool limited = by_the_cpu(40);  // a tenth of the limit is used
  limited.pool.limits = {{"cpu", 1'000'000}};
  PodGroup unknown = asking(1, 100, 100);
  unknown.shape.node_selector = {{std::string(model::kInstanceTypeLabel), "none"}};
  PodGroup spread = unknown;
  spread.labels = {{"app", "spread"}};
  model::SpreadConstraint over_hosts;
  over_hosts.topology_key = kHost;
  over_hosts.selector.expressions = {in("app", {"spread"})};
  spread.shape.spread = {over_hosts};
  const std::int64_t alone = price(solve(problem(groups, {by_the_cpu(40)})));
  for (const PodGroup& hopeless : {asking(1, 500'000, 100), unknown, spread})
    for (const Pool& pool : {by_the_cpu(40), limited}) {
      std::vector<PodGroup> all = groups;
      all.push_back(hopeless);
      const Problem with = problem(all, {pool});
      const Answer answer = solve(with);
      EXPECT_EQ("", wrong(with, answer));
      EXPECT_EQ(130, placed(answer));
      EXPECT_EQ(alone, price(answer)) << pool.pool.limits.size() << " limits";
    }
}

}  // namespace
}  // namespace karst::scheduling::test
