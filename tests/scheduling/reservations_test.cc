// Reserved capacity: who holds which reservation, and what a pool's minValues make of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "scheduling/pool_offers.h"
#include "tests/scheduling/cases.h"

namespace karst::scheduling::test {
namespace {

const std::string kId = "example.com/reservation-id";

// One machine of the type in zone a is reserved under an id of its own.
Pool reserving(Pool pool, const std::string& type, const std::string& id, std::int64_t capacity) {
  std::vector<InstanceType> types = pool.types.items();
  for (InstanceType& one : types) {
    if (one.name != type) continue;
    Offering reserved = offering("a", "reserved", 1);
    reserved.requirements.push_back(in(kId, {id}));
    reserved.reservation_capacity = capacity;
    one.offerings.push_back(reserved);
  }
  pool.types = types;
  return pool;
}

Pool of_two_types(Pool pool) {
  pool.pool.requirements.push_back(
      {std::string(model::kInstanceTypeLabel), model::Operator::kExists, {}, 2});
  return pool;
}

Problem under_mode(ReservedMode mode, Problem problem) {
  problem.options.reserved = mode;
  problem.options.reservation_id_label = kId;
  return problem;
}

PodGroup apart(std::int64_t count, std::int64_t cpu_millis) {
  PodGroup group = app(pods(count, cpu_millis), "apart");
  group.shape.affinity = {one_per_node("apart")};
  return group;
}

using Ids = std::vector<std::string>;
std::vector<Ids> held(const Answer& answer) {
  std::vector<Ids> ids;
  for (const NewClaim& claim : answer.claims) ids.push_back(claim.reservations);
  return ids;
}

// The small pod could use either; the large one only the large machine.
TEST(Reservations, AsManyAsPossibleAreHeld) {
  const Pool both = reserving(reserving(pool(), "m8", "large", 1), "m2", "small", 1);
  for (const bool small_first : {true, false}) {
    std::vector<PodGroup> groups = {apart(1, 500), apart(1, 5000)};
    if (!small_first) std::swap(groups[0], groups[1]);
    const Problem one = under_mode(ReservedMode::kStrict, problem(groups, {both}));
    const Answer answer = solve(one);
    EXPECT_EQ(placed(answer), 2) << describe(one, answer);
    EXPECT_EQ(held(answer).size(), 2U);
    for (const Ids& ids : held(answer)) EXPECT_EQ(ids.size(), 1U) << describe(one, answer);
  }
}

TEST(Reservations, WhoFindsThemUsedUpWaitsOrGoesElsewhere) {
  const Pool one_left = reserving(pool(), "m1", "r", 1);
  const Problem strict = under_mode(ReservedMode::kStrict, problem({apart(2, 500)}, {one_left}));
  EXPECT_EQ(held(solve(strict)), (std::vector<Ids>{{"r"}}));
  ASSERT_EQ(solve(strict).unplaced.size(), 1U);
  EXPECT_TRUE(solve(strict).unplaced[0].waits_for_reservation);
  const Problem fallback =
      under_mode(ReservedMode::kFallback, problem({apart(2, 500)}, {one_left}));
  EXPECT_EQ(held(solve(fallback)), (std::vector<Ids>{{"r"}, {}}));
}

// Somebody who cannot be placed either way wants the others out of a capacity type: that is no way
// for them around waiting for a reservation.
TEST(Reservations, NobodyGoesWithoutForAnothersSake) {
  const Pool two = reserving(pool(), "m2", "r", 2);
  PodGroup hopeless = app(pods(1, 500), "alone");
  hopeless.shape.node_selector = {{std::string(model::kArchLabel), "arm64"}};
  model::PodAffinityTerm away = one_per_node("apart");
  away.topology_key = std::string(model::kCapacityTypeLabel);
  hopeless.shape.affinity = {away};
  const Problem strict =
      under_mode(ReservedMode::kStrict, problem({apart(5, 1500), hopeless}, {two}));
  const Answer answer = solve(strict);
  EXPECT_EQ(held(answer), (std::vector<Ids>{{"r"}, {"r"}})) << describe(strict, answer);
}

// A reservation of one type is no two types: what must be met is met without it.
TEST(Reservations, MinValuesAreNotGivenUpForOne) {
  const Pool choosy = of_two_types(reserving(pool(), "m1", "r", 1));
  const Answer fallback =
      solve(under_mode(ReservedMode::kFallback, problem({pods(1, 500)}, {choosy})));
  EXPECT_EQ(held(fallback), (std::vector<Ids>{{}}));
  EXPECT_GE(fallback.claims.at(0).types.size(), 2U);
  EXPECT_FALSE(fallback.claims.at(0).min_values_relaxed);
  const Answer strict = solve(under_mode(ReservedMode::kStrict, problem({pods(1, 500)}, {choosy})));
  EXPECT_EQ(placed(strict), 0);
  Problem lax = under_mode(ReservedMode::kStrict, problem({pods(1, 500)}, {choosy}));
  lax.options.min_values = MinValuesPolicy::kBestEffort;
  EXPECT_EQ(held(solve(lax)), (std::vector<Ids>{{"r"}}));
  EXPECT_TRUE(solve(lax).claims.at(0).min_values_relaxed);
}

// A pool of a higher weight is not passed over for its reservation's sake.
TEST(Reservations, AHeavyPoolWithMinValuesIsUsedWithoutOne) {
  Pool heavy = of_two_types(reserving(pool("heavy"), "m1", "r", 1));
  heavy.pool.weight = 10;
  const Answer answer =
      solve(under_mode(ReservedMode::kFallback, problem({pods(1, 500)}, {heavy, pool("light")})));
  ASSERT_EQ(answer.claims.size(), 1U);
  EXPECT_EQ(answer.claims[0].pool, 0U);
}

TEST(Reservations, AsManyAsMinValuesNeedAreHeldTogether) {
  const Pool two = of_two_types(reserving(reserving(pool(), "m1", "r1", 1), "m2", "r2", 1));
  const Answer strict = solve(under_mode(ReservedMode::kStrict, problem({apart(2, 500)}, {two})));
  EXPECT_EQ(held(strict), (std::vector<Ids>{{"r1", "r2"}}));
  EXPECT_FALSE(strict.claims.at(0).min_values_relaxed);
  ASSERT_EQ(strict.unplaced.size(), 1U);
  EXPECT_TRUE(strict.unplaced[0].waits_for_reservation);
  const Answer fallback =
      solve(under_mode(ReservedMode::kFallback, problem({apart(2, 500)}, {two})));
  EXPECT_EQ(held(fallback), (std::vector<Ids>{{"r1", "r2"}, {}}));
  // A pod that needs the larger machine leaves one type: not enough for it beside the first.
  const Answer grown =
      solve(under_mode(ReservedMode::kFallback, problem({pods(1, 900), pods(1, 800)}, {two})));
  EXPECT_EQ(placed(grown), 2);
  for (const NewClaim& claim : grown.claims) {
    EXPECT_GE(claim.types.size(), 2U);
    EXPECT_FALSE(claim.min_values_relaxed);
  }
}

// Whoever may go without is told what the reservations themselves are of all that is sold; whoever
// waits for one takes nothing else.
TEST(Reservations, ReasonsCountThoseUsedUp) {
  const Pool open = reserving(pool(), "m2", "only", 1);
  const Pool reserved = requiring(open, in(std::string(model::kCapacityTypeLabel), {"reserved"}));
  const std::vector<std::pair<Problem, Removal>> cases = {
      {under_mode(ReservedMode::kFallback, problem({apart(2, 500)}, {reserved})),
       {"reservations used up", 0, 1}},
      {under_mode(ReservedMode::kStrict, problem({apart(2, 500)}, {open})),
       {"reservations used up", 4, 13}},
  };
  for (const auto& [asked, told] : cases) {
    const Answer answer = solve(asked);
    ASSERT_EQ(1u, answer.unplaced.size()) << describe(asked, answer);
    const std::vector<Removal>& removals = answer.unplaced[0].reasons[0].removals;
    EXPECT_EQ(1, std::count(removals.begin(), removals.end(), told)) << told.offerings;
    EXPECT_EQ(1, std::count_if(removals.begin(), removals.end(), [&](const Removal& one) {
                return one.constraint == told.constraint;
              }));
  }
}

// Three types of one zone. One machine of the second is reserved as "r"; the third is said not to
// be reserved at all, the others offer by offer.
Pool saying_what_they_lack(bool is_used_up) {
  std::vector<InstanceType> types;
  for (const char* name : {"m1", "m2", "m4"}) {
    model::InstanceType type;
    type.name = name;
    type.requirements = {in(std::string(model::kInstanceTypeLabel), {name})};
    type.capacity = type.allocatable = amounts(2000, 8, 10);
    type.offerings = {{"a", "on-demand", kCent, true}};
    if (type.name == "m4")
      type.requirements.push_back({kId, model::Operator::kDoesNotExist, {}, 0});
    else
      type.offerings[0].labels = {{kId, ""}};
    if (type.name == "m2") {
      type.offerings.push_back({"a", "reserved", 1, !is_used_up});
      type.offerings.back().reservation_count = 1;
      type.offerings.back().labels = {{kId, "r"}};
    }
    types.push_back(instance_type_of(type));
  }
  Pool result = pool();
  constexpr std::string_view kPlaces[] = {model::kZoneLabel};
  fit_to_pool(result.pool, kPlaces, types);
  result.types = TypeList(std::move(types));
  return result;
}

// What is bought otherwise never carries the label, and would be bought again and again.
TEST(Reservations, WhoSelectsOneGetsNoOtherMachine) {
  for (const bool is_used_up : {false, true}) {
    const Problem one = under_mode(
        ReservedMode::kFallback,
        problem({selecting(pods(1, 500), kId, "r"), selecting(pods(1, 500), kId, "another"),
                 with_term(pods(1, 500), {{kId, model::Operator::kExists, {}, 0}})},
                {saying_what_they_lack(is_used_up)}));
    const Answer answer = solve(one);
    EXPECT_EQ(held(answer), is_used_up ? std::vector<Ids>{} : std::vector<Ids>{{"r"}})
        << describe(one, answer);
    ASSERT_EQ(answer.unplaced.size(), is_used_up ? 3U : 1U);
    for (const Unplaced& unplaced : answer.unplaced)
      EXPECT_EQ(unplaced.reasons.at(0).code, "no_offering") << unplaced.message;
  }
}

TEST(Reservations, WhoWantsNoneGetsAnyOtherMachine) {
  for (const model::RequirementSpec& none :
       {model::RequirementSpec{kId, model::Operator::kDoesNotExist, {}, 0},
        model::RequirementSpec{kId, model::Operator::kNotIn, {"r"}, 0}}) {
    const Problem one =
        under_mode(ReservedMode::kFallback,
                   problem({with_term(pods(1, 500), {none})}, {saying_what_they_lack(false)}));
    const Answer answer = solve(one);
    EXPECT_EQ(held(answer), (std::vector<Ids>{{}})) << describe(one, answer);
    ASSERT_EQ(answer.claims.size(), 1U);
    EXPECT_EQ(answer.claims[0].types.size(), 3U) << "the type that is reserved in part, too";
  }
}

}  // namespace
}  // namespace karst::scheduling::test
