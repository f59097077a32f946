// Which empty zones a spread counts: those that the pods could have a node in.
#include <gtest/gtest.h>

#include "tests/scheduling/cases.h"

namespace karst::scheduling::test {
namespace {

// As `pool`, on demand in the zones a, b and c.
Pool three_zone_pool() {
  std::vector<InstanceType> types = machines();
  for (InstanceType& type : types) {
    const std::int64_t price = type.offerings[0].price_nanos_per_hour;
    type.offerings.clear();
    for (const char* zone : {"a", "b", "c"})
      type.offerings.push_back(offering(zone, "on-demand", price));
  }
  Pool result = pool();
  result.types = std::move(types);
  return result;
}

Pool in_zones(std::vector<std::string> zones) {
  return requiring(three_zone_pool(), in(kZone, std::move(zones)));
}

// Zone c sells machines, but none that the pods could get: by the pool's limits as they are, by its
// minValues, or for lack of room under a DaemonSet.
TEST(SpreadDomains, ZonesThatNoPoolCanFillDoNotHoldThemUp) {
  Pool there = in_zones({"c"});
  there.pool.name = model::PoolName("there");
  const std::string type(model::kInstanceTypeLabel);
  const PodGroup web = spread(app(pods(4, 900), "web"), kZone, "web");
  const PodGroup large = selecting(pods(1, 7500), kZone, "c");
  const auto beside = [&](Pool pool) {
    return problem({web}, {in_zones({"a", "b"}), std::move(pool)});
  };
  const std::vector<std::pair<Problem, std::string>> cases = {
      {beside(limited(there, "nodes", 0)), "no node"},
      {beside(limited(there, "nodes", 3, 3)), "nodes that are all there"},
      {beside(limited(there, "cpu", 0)), "no CPU"},
      {beside(limited(there, "cpu", 9000, 8500)), "less CPU than any machine has"},
      {beside(requiring(there, {type, model::Operator::kExists, {}, 5})), "five types of four"},
      {under(large, beside(there)), "a DaemonSet"},
      {under(large, problem({web}, {three_zone_pool()})), "a DaemonSet in one zone of three"},
  };
  for (const auto& [asked, what] : cases) {
    Problem one = asked;
    EXPECT_EQ(placed(solve(one)), 4) << what << "\n" << describe(one, solve(one));
    one.options.spread_domains = SpreadDomains::kAllPools;
    EXPECT_EQ(placed(solve(one)), 2) << what << ", as Karpenter";
  }
  // Where the limits let one machine in, it counts, even if that is sold out for now; and so it
  // does where minValues give way.
  Pool sold_out = limited(there, "nodes", 1);
  std::vector<InstanceType> types = sold_out.types.items();
  for (InstanceType& one : types) one.offerings.back().available = false;
  sold_out.types = types;
  EXPECT_EQ(placed(solve(beside(sold_out))), 2);
  Problem lowered = beside(requiring(sold_out, {type, model::Operator::kExists, {}, 5}));
  lowered.options.min_values = MinValuesPolicy::kBestEffort;
  EXPECT_EQ(placed(solve(lowered)), 2);
}

// A zone where two pools have nodes is one zone: the kube-scheduler counts zones, not pools.
TEST(SpreadDomains, AZoneOfTwoPoolsCountsOnce) {
  const auto apart = [](const std::string& name, const std::string& zone) {
    Pool one = tainted(in_zones({zone}), name);
    one.pool.name = model::PoolName(name);
    return one;
  };
  const auto on = [](const std::string& name) {
    return tolerating(app(pods(1, 900), "web"), name);
  };
  PodGroup web = spread(app(pods(3, 900), "web"), kZone, "web");
  web.shape.spread[0].min_domains = 3;
  for (const char* zone : {"b", "c"}) {
    const Problem one =
        problem({on("x"), on("y"), web}, {in_zones({"a"}), apart("x", "b"), apart("y", zone)});
    const Answer answer = solve(one);
    const bool three = std::string_view(zone) == "c";
    EXPECT_EQ(placed(answer, 2), three ? 2 : 1) << describe(one, answer);
  }
}

// A machine without the label is in no domain of it: whoever spreads over it gets another, also
// where all who have the label have the same one.
TEST(SpreadDomains, MachinesWithoutTheLabelAreInNone) {
  for (const std::vector<std::string>& racks :
       {std::vector<std::string>{"r1"}, std::vector<std::string>{"r1", "r2"}}) {
    Pool one = pool();
    std::vector<InstanceType> types = machines();
    for (std::size_t i = 0; i < types.size(); ++i)  // the cheapest has none
      types[i].requirements.push_back(
          i == 0
              ? model::RequirementSpec{"rack", model::Operator::kDoesNotExist, {}, 0}
              : model::RequirementSpec{"rack", model::Operator::kIn, {racks[i % racks.size()]}, 0});
    one.types = std::move(types);
    Problem asked =
        problem({spread(app(pods(2, 100), "web"), "rack", "web"), app(pods(1, 100), "web")}, {one});
    const Answer answer = solve(asked);
    EXPECT_TRUE(answer.unplaced.empty()) << describe(asked, answer);
    for (const NewClaim& claim : answer.claims) {
      const bool spreads = std::any_of(claim.pods.begin(), claim.pods.end(),
                                       [](const Share& share) { return share.group == 0; });
      for (const model::Offer& offer : claim.offers)
        EXPECT_TRUE(!spreads || offer.instance_type != one.types[0].name)
            << describe(asked, answer);
    }
  }
}

}  // namespace
}  // namespace karst::scheduling::test
