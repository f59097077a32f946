// Overlays of prices and capacities.
#include "scheduling/overlay.h"

#include <gtest/gtest.h>

namespace karst::scheduling {
namespace {

using model::Operator;

model::InstanceType machine(const std::string& name, std::int64_t price) {
  model::InstanceType type;
  type.name = name;
  type.requirements = {{"node.kubernetes.io/instance-type", Operator::kIn, {name}, 0}};
  type.capacity = type.allocatable = {4000, 1 << 30, 0, 10, {}};
  for (const char* zone : {"a", "b"})
    for (const char* capacity : {"on-demand", "spot"})
      type.offerings.push_back({zone, capacity, price, true});
  return type;
}

model::NodeOverlay overlay(const std::string& name, std::int32_t weight,
                           std::vector<model::RequirementSpec> requirements) {
  model::NodeOverlay one;
  one.name = name;
  one.weight = weight;
  one.requirements = std::move(requirements);
  return one;
}

const model::RequirementSpec kBig{"node.kubernetes.io/instance-type", Operator::kIn, {"big"}, 0};
const model::RequirementSpec kSpot{"karpenter.sh/capacity-type", Operator::kIn, {"spot"}, 0};
const model::RequirementSpec kZoneA{"topology.kubernetes.io/zone", Operator::kIn, {"a"}, 0};
const model::RequirementSpec kTeam{"team", Operator::kIn, {"web"}, 0};

struct World {
  World() {
    pool.name = model::PoolName("p");
    pool.template_labels = {{"team", "web"}};
    pools.push_back({&pool, {machine("big", 1'000'000'000), machine("small", 100'000'000)}});
  }
  // Prices of "big" in a on demand, a spot, b on demand, b spot; then of "small" in a on demand.
  std::vector<std::int64_t> prices() const {
    std::vector<std::int64_t> all;
    for (const model::Offering& offering : pools[0].types[0].offerings)
      all.push_back(offering.price_nanos_per_hour);
    all.push_back(pools[0].types[1].offerings[0].price_nanos_per_hour);
    return all;
  }
  model::NodePool pool;
  std::vector<PoolTypes> pools;
};

TEST(Overlay, ChangesThePricesThatItMatches) {
  struct Case {
    const char* name;
    std::vector<model::RequirementSpec> requirements;
    const char* field;
    std::int64_t value;
    std::vector<std::int64_t> want;  // in thousandths of a dollar
  };
  const std::vector<Case> cases = {
      {"a price of one type", {kBig}, "price", 500'000'000, {500, 500, 500, 500, 100}},
      {"an amount less, on spot", {kBig, kSpot}, "add", -300'000'000, {1000, 700, 1000, 700, 100}},
      {"never below nothing", {}, "add", -300'000'000, {700, 700, 700, 700, 0}},
      {"10 % more in one zone", {kZoneA}, "percent", 10'000'000, {1100, 1100, 1000, 1000, 110}},
      {"by a label of the pool", {kTeam, kBig}, "percent", -50'000'000, {500, 500, 500, 500, 100}},
      {"by a label that is not there",
       {{"other", Operator::kIn, {"x"}, 0}},
       "price",
       1,
       {1000, 1000, 1000, 1000, 100}},
  };
  for (const Case& test : cases) {
    World world;
    model::NodeOverlay one = overlay("o", 1, test.requirements);
    const std::string field = test.field;
    if (field == "price") one.price_nanos_per_hour = test.value;
    if (field == "add") one.adjustment_nanos_per_hour = test.value;
    if (field == "percent") one.percent_micros = test.value;
    EXPECT_TRUE(apply_overlays({one}, world.pools).empty()) << test.name;
    std::vector<std::int64_t> want;
    for (const std::int64_t price : test.want) want.push_back(price * 1'000'000);
    EXPECT_EQ(world.prices(), want) << test.name;
  }
}

TEST(Overlay, TheHigherWeightCountsAndEqualWeightsConflict) {
  World world;
  model::NodeOverlay low = overlay("low", 1, {});
  low.price_nanos_per_hour = 1'000'000;
  model::NodeOverlay high = overlay("high", 5, {kBig, kSpot});
  high.price_nanos_per_hour = 2'000'000;
  model::NodeOverlay equal = overlay("equal", 5, {kBig, kZoneA});
  equal.price_nanos_per_hour = 3'000'000;
  // "high" goes before "equal": names fall. They meet on big, spot, a.
  EXPECT_EQ(apply_overlays({low, high, equal}, world.pools), std::vector<std::string>{"equal"});
  EXPECT_EQ(world.prices(),
            (std::vector<std::int64_t>{1'000'000, 2'000'000, 1'000'000, 2'000'000, 1'000'000}));
}

TEST(Overlay, AddsResourcesToWholeTypes) {
  World world;
  model::NodeOverlay one = overlay("one", 2, {kBig, kSpot});
  one.capacity.set_amount("example.com/fuse", 5);
  model::NodeOverlay two = overlay("two", 1, {kBig});
  two.capacity.set_amount("example.com/fuse", 9);
  two.capacity.set_amount("example.com/gpu", 1);
  EXPECT_TRUE(apply_overlays({one, two}, world.pools).empty());
  const model::InstanceType& big = world.pools[0].types[0];
  EXPECT_EQ(big.allocatable.amount("example.com/fuse"), 5);
  EXPECT_EQ(big.capacity.amount("example.com/gpu"), 1);
  EXPECT_EQ(world.pools[0].types[1].allocatable.amount("example.com/gpu"), 0);
  model::NodeOverlay three = overlay("three", 1, {kBig, kZoneA});
  three.capacity.set_amount("example.com/gpu", 2);
  EXPECT_EQ(apply_overlays({two, three}, world.pools), std::vector<std::string>{"three"});
}

}  // namespace
}  // namespace karst::scheduling
