// What a replacement may be: the price filter, spot by spot, types that are among the candidates,
// minValues.
#include "disruption/replacement.h"

#include <gtest/gtest.h>

#include "tests/disruption/build.h"

namespace karst::disruption::test {
namespace {

using scheduling::test::in;

const std::string kCapacity(model::kCapacityTypeLabel);

std::vector<std::string> names(const Replacement& replacement) {
  std::vector<std::string> result;
  for (const std::size_t type : replacement.types)
    result.push_back(replacement.pool->pool.types[type].name);
  return result;
}

Replacement any_of(const World& world, std::vector<model::RequirementSpec> wanted = {}) {
  Replacement replacement;
  replacement.pool = &world.pools[0];
  replacement.requirements = std::move(wanted);
  for (std::size_t i = 0; i < world.pools[0].pool.types.size(); ++i) replacement.types.push_back(i);
  return replacement;
}

std::vector<std::string> capacity_types(const Replacement& replacement) {
  const model::Requirements wanted(replacement.requirements);
  const model::ValueSet* set = wanted.find(kCapacity);
  if (set == nullptr) return {};
  return {set->values.begin(), set->values.end()};
}

TEST(Replacement, WorstPriceIsTheDearestOfTheFirstWayToBuy) {
  World w = world();
  std::vector<scheduling::InstanceType> types = scheduling::test::machines();
  types[0].offerings.push_back(scheduling::test::offering("b", "spot", 9 * kCent));
  types[0].offerings.push_back(scheduling::test::offering("b", "reserved", 1));
  types[0].offerings.back().available = false;
  w.pools[0].pool.types = types;
  struct Case {
    const char* name;
    std::vector<model::RequirementSpec> wanted;
    std::int64_t worst;
    std::int64_t best;
  };
  const std::vector<Case> cases = {
      {"spot before on-demand; what is sold out does not count", {}, 9 * kCent, 7 * kCent},
      {"in one zone", {in(std::string(model::kZoneLabel), {"a"})}, 7 * kCent, 7 * kCent},
      {"on-demand", {in(kCapacity, {"on-demand"})}, 10 * kCent, 10 * kCent},
      {"either", {in(kCapacity, {"on-demand", "spot"})}, 9 * kCent, 7 * kCent},
      {"nowhere", {in(std::string(model::kZoneLabel), {"z"})}, kNoPrice, kNoPrice},
  };
  for (const Case& row : cases) {
    const model::Requirements wanted(row.wanted);
    EXPECT_EQ(row.worst, worst_price(w.pools[0], 0, wanted)) << row.name;
    EXPECT_EQ(row.best, best_price(w.pools[0], 0, wanted)) << row.name;
  }
}

TEST(Replacement, OnlyWhatIsCheaper) {
  struct Case {
    const char* name;
    const char* type;
    std::vector<model::RequirementSpec> wanted;
    std::vector<std::string> want;
    std::string code;
    std::vector<std::string> capacity;
  };
  // m1 to m8 cost 10 to 80 cents, as spot 7 to 56.
  const std::vector<Case> cases = {
      {"spot for on-demand", "m4", {}, {"m1", "m2", "m4"}, "", {"spot"}},
      {"on-demand alone", "m4", {in(kCapacity, {"on-demand"})}, {"m1", "m2"}, "", {"on-demand"}},
      {"spot alone", "m4", {in(kCapacity, {"spot"})}, {"m1", "m2", "m4"}, "", {"spot"}},
      {"nothing is cheaper",
       "m1",
       {in(kCapacity, {"on-demand"})},
       {},
       "not_cheaper",
       {"on-demand"}},
      {"no price is known", "x", {}, {}, "not_cheaper", {}},
  };
  for (const Case& row : cases) {
    World w = world();
    add_node(w, row.type);
    Replacement replacement = any_of(w, row.wanted);
    EXPECT_EQ(row.code, make_cheaper(w, {make_candidate(w, 0)}, replacement).code) << row.name;
    EXPECT_EQ(row.want, names(replacement)) << row.name;
    EXPECT_EQ(row.capacity, capacity_types(replacement)) << row.name;
  }
}

// 20 types at 1 to 20 cents, as spot at 7/10 of that.
World many_types(int count) {
  World w = world();
  std::vector<scheduling::InstanceType> types = {scheduling::test::machine("m1", 1, 4, 100)};
  for (int i = 1; i <= count; ++i)
    types.push_back(scheduling::test::machine("t" + std::to_string(i), 1, 4, i));
  w.pools[0].pool.types = types;
  return w;
}

TEST(Replacement, SpotBySpot) {
  struct Case {
    const char* name;
    int types;
    bool gate;
    int nodes;
    int min_values;
    std::string code;
    std::size_t want;
  };
  const std::vector<Case> cases = {
      {"the gate is closed", 20, false, 1, 0, "spot_to_spot_off", 21},
      {"too few to choose from", 14, true, 1, 0, "spot_flexibility", 14},
      {"just enough", 15, true, 1, 0, "", 15},
      {"no more than these", 20, true, 1, 0, "", 15},
      {"but for minValues", 20, true, 1, 17, "", 17},
      {"several nodes need no choice", 3, true, 2, 0, "", 4},
      {"minValues are not met", 3, true, 2, 5, "min_values", 4},
  };
  for (const Case& row : cases) {
    World w = many_types(row.types);
    w.spot_to_spot = row.gate;
    if (row.min_values > 0) {
      model::RequirementSpec spec{
          std::string(model::kInstanceTypeLabel), model::Operator::kExists, {}, row.min_values};
      w.pools[0].pool.pool.requirements = {spec};
    }
    std::vector<Candidate> candidates;
    for (int i = 0; i < row.nodes; ++i)
      candidates.push_back(make_candidate(w, add_node(w, "m1", "spot")));
    Replacement replacement = any_of(w);
    EXPECT_EQ(row.code, make_cheaper(w, candidates, replacement).code) << row.name;
    EXPECT_EQ(row.want, replacement.types.size()) << row.name;
  }
  // One that may not be spot is replaced by price alone.
  World w = many_types(3);
  Replacement replacement = any_of(w, {in(kCapacity, {"on-demand"})});
  EXPECT_TRUE(make_cheaper(w, {make_candidate(w, add_node(w, "m1", "spot"))}, replacement).none());
}

TEST(Replacement, NotByATypeThatIsAmongThem) {
  struct Case {
    const char* name;
    std::vector<std::string> nodes;
    std::vector<std::string> want;
    std::string code;
  };
  const std::vector<model::RequirementSpec> on_demand = {in(kCapacity, {"on-demand"})};
  const std::vector<Case> cases = {
      {"none of them", {"m8", "m8"}, {"m1", "m2", "m4"}, ""},
      {"deleting one would do the same", {"m8", "m2"}, {"m1"}, ""},
      {"nothing is left", {"m8", "m1"}, {}, "not_cheaper"},
  };
  for (const Case& row : cases) {
    World w = world();
    std::vector<Candidate> candidates;
    for (const std::string& type : row.nodes)
      candidates.push_back(make_candidate(w, add_node(w, type)));
    Replacement replacement = any_of(w, on_demand);
    replacement.types = {0, 1, 2};
    EXPECT_EQ(row.code, drop_same_types(w, candidates, replacement).code) << row.name;
    EXPECT_EQ(row.want, names(replacement)) << row.name;
  }
}

}  // namespace
}  // namespace karst::disruption::test
