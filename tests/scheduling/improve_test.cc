// What comes after the greedy answer: cheaper, never dearer, and right for a judge that knows none
// of it.
#include "scheduling/improve.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>

#include "scheduling/refill.h"
#include "tests/scheduling/cases.h"
#include "tests/scheduling/random.h"
#include "tests/scheduling/replay.h"

namespace karst::scheduling::test {
namespace {

struct Prices {
  std::int64_t greedy = 0;
  std::int64_t improved = 0;
};

// By the weight of their pools.
std::map<std::int32_t, std::int64_t> pods_by_weight(const Prepared& prepared,
                                                    const Packer& packer) {
  std::map<std::int32_t, std::int64_t> pods;
  for (const Claim& claim : packer.claims())
    pods[prepared.pools.pools()[claim.pool].spec().weight] += claim.pods;
  return pods;
}

// Pods may come to heavier pools, and never leave them.
void expect_no_lighter(std::map<std::int32_t, std::int64_t> before,
                       std::map<std::int32_t, std::int64_t> after) {
  for (const auto& [weight, pods] : after) before.try_emplace(weight, 0);
  std::int64_t come = 0;
  for (auto weight = before.rbegin(); weight != before.rend(); ++weight) {
    come += after[weight->first] - weight->second;
    EXPECT_GE(come, 0) << weight->first;
  }
}

// By row, from the claims and again from the turns.
std::vector<std::int64_t> pods_of(const Prepared& prepared, const Packer& packer) {
  std::vector<std::int64_t> pods(2 * prepared.rows.size(), 0);
  for (const Claim& claim : packer.claims())
    for (const Share& share : claim.shares) pods[share.group] += share.count;
  for (const Turn& turn : packer.order())
    if (turn.on_claim) pods[prepared.rows.size() + turn.group] += turn.count;
  return pods;
}

Prices prices_of(const Problem& problem) {
  Prepared prepared(problem);
  Packer packer(prepared, {.cheapest_claim = true});
  packer.run();
  Prices prices{packer.price(), 0};
  const std::vector<std::int64_t> before = pods_of(prepared, packer);
  const auto by_weight = pods_by_weight(prepared, packer);
  improve(prepared, packer);
  EXPECT_EQ(before, pods_of(prepared, packer));
  expect_no_lighter(by_weight, pods_by_weight(prepared, packer));
  prices.improved = packer.price();
  return prices;
}

// Everybody that must be alone gets neighbours that fill its machine.
TEST(Improve, FillsTheMachinesOfThoseThatMustBeAlone) {
  const Problem mixed =
      problem({with_nobody(asking(30, 250, 300)), asking(30, 500, 900), asking(30, 100, 100),
               asking(40, 1500, 1800), asking(20, 1000, 700)},
              {by_the_cpu(40)});
  const Prices prices = prices_of(mixed);
  // 105.5 CPUs are asked for, with the tenths of 30 machines it is 108.5; spot is 7 cents a CPU.
  EXPECT_LT(prices.improved, prices.greedy);
  EXPECT_GE(prices.improved, 1085 * 7 * kCent / 10);
  EXPECT_LE(prices.improved, 1130 * 7 * kCent / 10);
  const Answer answer = solve(mixed);
  EXPECT_EQ("", wrong(mixed, answer));
  EXPECT_EQ("", wrong_order(mixed, answer));
  EXPECT_EQ(prices.improved, price(answer));
  EXPECT_EQ(150, placed(answer));
}

// A taint that is only preferred to be kept, of the pool itself or of one that nobody needs.
TEST(Improve, PreferNoScheduleTaintsSpoilNothing) {
  const std::vector<PodGroup> groups = {with_nobody(asking(30, 250, 300)), asking(30, 500, 900),
                                        asking(30, 100, 100), asking(40, 1500, 1800)};
  const Problem plain = problem(groups, {by_the_cpu(40)});
  Pool soft = by_the_cpu(40);
  soft.pool.taints = {{"slow", "", model::TaintEffect::kPreferNoSchedule}};
  Pool light = soft;
  light.pool.name = model::PoolName("light");
  for (const Problem& tainted :
       {problem(groups, {soft}), problem(groups, {by_the_cpu(40), light})}) {
    const Prices prices = prices_of(tainted);
    EXPECT_LT(prices.improved, prices.greedy);
    const Answer answer = solve(tainted);
    EXPECT_EQ("", wrong(tainted, answer));
    EXPECT_EQ(price(answer), price(solve(plain)));
  }
}

// A pool of few sizes, where the greedy answer takes the smallest or the largest for everybody.
TEST(Improve, TakesTheOneSizeThatSuitsAll) {
  struct Case {
    const char* name;
    std::vector<InstanceType> types;
    std::vector<PodGroup> pods;
    std::vector<std::string> cheapest;  // of the claims, sorted
  };
  const auto sized = [](std::int64_t cpus, std::int64_t gibs, std::int64_t cents) {
    InstanceType type = machine("m" + std::to_string(cpus), cpus, gibs, cents);
    type.allocatable.cpu_millis -= 100;
    type.allocatable.memory_bytes -= type.allocatable.memory_bytes / 10;
    return type;
  };
  const std::vector<Case> cases = {
      {"some of each size for pods that are all equal",
       {sized(4, 32, 25), sized(16, 128, 101), sized(96, 768, 605)},
       {asking(40, 3000, 100)},
       {"m16", "m4", "m4", "m4", "m4", "m96"}},
      {"the largest by memory first, and the rest on a small one",
       {sized(8, 8, 37), sized(2, 8, 12), sized(48, 192, 306), sized(16, 16, 81)},
       {asking(17, 1500, 2000), asking(13, 100, 1024), asking(22, 900, 128), asking(14, 500, 2000),
        asking(14, 50, 8000)},
       {"m16", "m48"}},
      {"larger ones for those that must be alone, where small ones hold back a tenth",
       {sized(1, 4, 10), sized(2, 8, 20), sized(4, 16, 40), sized(8, 32, 80), sized(64, 256, 640)},
       {with_nobody(asking(2, 250, 256)), asking(10, 500, 256)},
       {"m2", "m4"}},
  };
  for (const Case& one : cases) {
    Pool few = pool();
    few.types = one.types;
    const Problem here = problem(one.pods, {few});
    const Answer answer = solve(here);
    EXPECT_EQ("", wrong(here, answer)) << one.name;
    std::vector<std::string> cheapest;
    for (const NewClaim& claim : answer.claims)
      cheapest.push_back(one.types[*claim.types.begin()].name);
    std::sort(cheapest.begin(), cheapest.end());
    EXPECT_EQ(one.cheapest, cheapest) << one.name;
  }
}

// A claim may come up as fifteen types, or as many as the shortest list had before; of few types,
// as a quarter of them.
TEST(Improve, KeepsAlternatives) {
  const Problem many = problem({asking(400, 500, 1000), asking(100, 100, 100)}, {by_the_cpu(40)});
  const Answer answer = solve(many);
  EXPECT_EQ("", wrong(many, answer));
  Prepared prepared(many);
  Packer packer(prepared, {.cheapest_claim = true});
  packer.run();
  std::size_t fewest = kAlternativesMin;
  Alternatives alternatives(prepared.pools);
  for (const Claim& claim : packer.claims())
    fewest = std::min(fewest, alternatives.of(*claim.view, claim.machine));
  improve(prepared, packer);
  for (const Claim& claim : packer.claims())
    EXPECT_GE(alternatives.of(*claim.view, claim.machine), fewest);
}

// So many pools, the types of the catalogue by turns.
std::vector<Pool> split(const Pool& whole, std::size_t count) {
  std::vector<Pool> pools;
  for (std::size_t n = 0; n < count; ++n) {
    std::vector<InstanceType> types;
    for (std::size_t i = n; i < whole.types.size(); i += count) types.push_back(whole.types[i]);
    pools.push_back(pool("part-" + std::to_string(n)));
    pools.back().types = types;
  }
  return pools;
}

// How a catalogue is parted over pools of one weight is hardly the price's affair; what a pool
// demands, and its weight, are.
TEST(Improve, PoolsOfOneWeightAreOneChoice) {
  const std::vector<PodGroup> groups = {
      with_nobody(asking(90, 250, 300)), asking(90, 500, 900), asking(90, 100, 100),
      spread(app(asking(120, 1500, 1800), "web"), kZone, "web"), asking(60, 1000, 700)};
  std::vector<PodGroup> tolerant = groups;
  for (PodGroup& group : tolerant) group = tolerating(std::move(group), "team");
  const Pool whole = by_the_cpu(40);
  const std::int64_t least = prices_of(problem(groups, {whole})).improved;
  const auto with_first = [&](const auto& change) {
    std::vector<Pool> pools = split(whole, 4);
    pools[0] = change(std::move(pools[0]));
    return pools;
  };
  const auto taint = [](Pool one) { return tainted(std::move(one), "team"); };
  for (const Problem& one :
       {problem(groups, split(whole, 2)), problem(groups, split(whole, 4)),
        problem(groups,
                with_first([](Pool one) { return limited(std::move(one), "cpu", 900'000); })),
        problem(tolerant, with_first(taint)), problem(groups, with_first(taint))}) {
    EXPECT_LE(prices_of(one).improved, least + least / 50);
    const Answer answer = solve(one);
    EXPECT_EQ("", wrong(one, answer));
    EXPECT_EQ("", wrong_order(one, answer));
    EXPECT_TRUE(answer.unplaced.empty());
  }
  const auto weigh = [](Pool one) { return weighing(std::move(one), 10); };
  const Answer heavier = solve(problem(groups, with_first(weigh)));
  for (const NewClaim& claim : heavier.claims) EXPECT_EQ(0u, claim.pool);
}

// Pods that others count over zones, on claims whose zone is open, may be on others of these.
TEST(Improve, WhoIsMerelyCountedMovesWhileTheZoneIsOpen) {
  const std::vector<PodGroup> groups = {
      with_nobody(asking(60, 1500, 300)), app(asking(60, 1500, 1024), "web"),
      app(asking(60, 250, 2048), "web"), spread(app(asking(9, 100, 100), "web"), kZone, "web")};
  const Pool whole = by_the_cpu(40);
  const std::int64_t least = prices_of(problem(groups, {whole})).improved;
  const Problem parted = problem(groups, split(whole, 5));  // the next size is five CPUs larger
  EXPECT_LE(prices_of(parted).improved, least + least / 50);
  const Answer answer = solve(parted);
  EXPECT_EQ("", wrong(parted, answer));
  EXPECT_EQ("", wrong_order(parted, answer));
}

// A claim that has to keep several kinds open is no reason to leave the others as they are.
TEST(Improve, MinValuesAreKept) {
  const std::vector<PodGroup> groups = {with_nobody(asking(30, 250, 300)), asking(30, 500, 900),
                                        asking(30, 100, 100), asking(40, 1500, 1800)};
  const Prices without = prices_of(problem(groups, {by_the_cpu(40)}));
  ASSERT_LT(without.improved, without.greedy);
  std::int64_t last = without.improved;
  for (const int kinds : {2, 15, 25, 35}) {
    model::RequirementSpec several{
        std::string(model::kInstanceTypeLabel), model::Operator::kExists, {}, kinds};
    const Problem choosy = problem(groups, {requiring(by_the_cpu(40), several)});
    const Prices prices = prices_of(choosy);
    EXPECT_LT(prices.improved, prices.greedy) << kinds;
    EXPECT_GE(prices.improved, last) << kinds;
    last = prices.improved;
    const Answer answer = solve(choosy);
    EXPECT_EQ("", wrong(choosy, answer)) << kinds;
    EXPECT_EQ("", wrong_order(choosy, answer)) << kinds;
    EXPECT_TRUE(answer.unplaced.empty());
  }
  EXPECT_GT(last, without.improved);  // the last one asks for more than costs nothing
}

// Limits, near or far, are no reason to pay more, as long as the cheaper fleet keeps them.
TEST(Improve, LimitsStandInTheWayOnlyOfWhatTheyForbid) {
  Problem one =
      problem({with_nobody(asking(10, 250, 300)), asking(20, 500, 900), asking(9, 100, 90)},
              {by_the_cpu(40)});
  const Prices without = prices_of(one);
  ASSERT_LT(without.improved, without.greedy);
  const auto nodes = static_cast<std::int64_t>(solve(one).claims.size());
  for (const auto& [resource, limit] : {std::pair<std::string, std::int64_t>{"cpu", 100'000},
                                        {"cpu", 100'000'000},
                                        {"cpu", 30'000},
                                        {"nodes", nodes},
                                        {"nodes", 100}}) {
    one.pools[0].pool.limits = {{resource, limit}};
    EXPECT_EQ(prices_of(one).improved, without.improved) << resource << " " << limit;
    const Answer answer = solve(one);
    EXPECT_EQ("", wrong(one, answer));
    EXPECT_EQ("", wrong_order(one, answer));
    EXPECT_EQ(price(answer), without.improved) << resource << " " << limit;
  }
}

// Limits that a part of the pods could reach with the largest machines are looked at afterwards.
TEST(Improve, LimitsAreKeptWhetherFarOrNear) {
  for (std::int64_t cpus = 5; cpus <= 3000; cpus += cpus / 3 + 1) {
    Problem limited =
        problem({with_nobody(asking(30, 250, 300)), asking(30, 500, 900), asking(30, 100, 100)},
                {by_the_cpu(40)});
    limited.pools[0].pool.limits = {{"cpu", cpus * 1000}};
    const Answer answer = solve(limited);
    EXPECT_EQ("", wrong(limited, answer)) << cpus;
    EXPECT_TRUE(cpus < 60 || answer.unplaced.empty()) << cpus;
    std::int64_t most = 0;
    for (const NewClaim& claim : answer.claims) most += claim.max_capacity.cpu_millis;
    EXPECT_LE(most, cpus * 1000);
  }
}

PodGroup random_group() {
  const std::int64_t sizes[] = {100, 250, 500, 1000, 1500};
  const std::int64_t memory[] = {100, 256, 512, 1024, 2048, 4096};
  PodGroup group = asking(pick(1, 12), sizes[pick(0, 5)], memory[pick(0, 6)]);
  const auto name = [] { return chance(2) ? "web" : chance(2) ? "db" : "alone"; };
  group = app(std::move(group), name());
  switch (pick(0, 7)) {
    case 0:
      group.shape.affinity = {one_per_node(name())};
      break;
    case 1:
      return spread(std::move(group), kZone, name());
    case 2:
      return spread(std::move(group), kHost, name(), static_cast<std::int32_t>(pick(1, 3)));
    case 3:
      return with_affinity(std::move(group), kZone, name(), chance(3));
    case 4:
      return with_affinity(std::move(group), kHost, name(), false);
    default:
      break;
  }
  return group;
}

Problem random_problem() {
  Problem result = problem({}, {by_the_cpu(pick(8, 40))});
  for (std::int64_t i = pick(2, 10); i > 0; --i) result.pods.push_back(random_group());
  if (chance(2))
    result.pods.push_back(with_nobody(asking(pick(5, 20), pick(1, 15) * 100, pick(1, 20) * 100)));
  for (std::int64_t i = pick(0, 4); i > 0; --i)
    result.pods.push_back(asking(pick(5, 30), pick(1, 16) * 100, pick(1, 20) * 100));
  if (chance(3)) {
    result.pools =
        chance(2) ? split(result.pools[0], 2) : std::vector<Pool>{result.pools[0], by_the_cpu(30)};
    Pool& other = result.pools[1];
    other.pool.name = model::PoolName("other");
    if (chance(3)) other = weighing(std::move(other), 10);
    if (chance(3)) other = tainted(std::move(other), "team");
    if (chance(3)) other = requiring(std::move(other), in(kZone, {"a"}));
    for (PodGroup& group : result.pods)
      if (chance(2)) group = tolerating(std::move(group), "team");
  }
  if (chance(4))
    result.pools[0].pool.requirements.push_back({std::string(model::kInstanceTypeLabel),
                                                 model::Operator::kExists,
                                                 {},
                                                 static_cast<int>(pick(2, 8))});
  if (chance(3)) result.daemons.push_back({pods(1, 100, 0).shape});
  if (chance(3)) result.pools[0] = limited(result.pools[0], "cpu", pick(10, 400) * 1000);
  if (chance(4)) result.pools[0] = limited(result.pools[0], "nodes", pick(3, 60));
  return result;
}

TEST(Improve, IsValidAndNeverDearer) {
  EXPECT_TRUE(rc::check("improved answers are valid and never dearer", [] {
    const Problem problem = random_problem();
    const Prices prices = prices_of(problem);
    RC_ASSERT(prices.improved <= prices.greedy);
    const Answer answer = solve(problem);
    RC_LOG() << describe(problem, answer);
    RC_ASSERT(wrong(problem, answer) == "");
    RC_ASSERT(wrong_order(problem, answer) == "");
    RC_TAG(prices.improved < prices.greedy ? "cheaper" : "the same");
  }));
}

// Were pods dealt out without a look at who is on the host, the judge would say so.
TEST(Improve, TheJudgeSeesAPodOnAHostThatRepelsIt) {
  const Problem both = problem({with_nobody(asking(2, 250, 300)), app(asking(1, 500, 100), "free")},
                               {by_the_cpu(8)});
  Answer answer = solve(both);
  ASSERT_EQ("", wrong_order(both, answer));
  ASSERT_EQ(2u, answer.claims.size());
  for (Turn& turn : answer.order) turn.target = 0;
  answer.claims[0].pods = {{0, 2}, {1, 1}};
  answer.claims.pop_back();
  EXPECT_NE("", wrong_order(both, answer));
}

// Whoever is let onto a host is right there in any order.
TEST(Improve, HostState) {
  const HostTies web{{0}, {}, {}, false};
  const HostTies few{{}, {{0, 2}}, {}, false};
  const HostTies own{{0}, {{0, 1}}, {}, false};
  const HostTies repelling{{1}, {}, {0}, true};
  HostState host(2);
  host.add(web, 1);
  EXPECT_TRUE(host.takes(web));
  EXPECT_TRUE(host.takes(few));
  EXPECT_FALSE(host.takes(own));
  host.add(few, 1);
  EXPECT_TRUE(host.takes(web));
  host.add(web, 1);
  EXPECT_FALSE(host.takes(web));
  EXPECT_TRUE(host.takes(few));
  host.clear();
  EXPECT_TRUE(host.takes(own));
  host.add(repelling, 1);
  EXPECT_FALSE(host.takes(web));
  EXPECT_TRUE(host.takes(few));
}

}  // namespace
}  // namespace karst::scheduling::test
