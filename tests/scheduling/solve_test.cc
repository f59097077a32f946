// The solver's behaviour as tables: what goes where, at what price, and what is said about the
// rest.
#include <gtest/gtest.h>

#include "scheduling/claims.h"
#include "tests/scheduling/build.h"

namespace karst::scheduling::test {
namespace {

using model::Operator;

struct Case {
  const char* name;
  Problem problem;
  std::vector<std::string> claims;  // "pool cheapest-type: group*count …" in order
  std::vector<std::string> on_nodes;
  std::vector<std::string> unplaced;  // "group*count code,code": a code per pool
};

std::string pods_line(const std::vector<Share>& pods) {
  std::string line;
  for (const Share& share : pods)
    line += " " + std::to_string(share.group) + "*" + std::to_string(share.count);
  return line;
}

void expect_case(const Case& test) {
  SCOPED_TRACE(test.name);
  const Answer answer = solve(test.problem);
  EXPECT_EQ("", wrong(test.problem, answer));
  EXPECT_EQ(answer, solve(test.problem));
  std::vector<std::string> claims, on_nodes, unplaced;
  for (const NewClaim& claim : answer.claims)
    claims.push_back(test.problem.pools[claim.pool].pool.name.str() + " " +
                     claim.offers.front().instance_type + ":" + pods_line(claim.pods));
  for (const NodePlacement& placement : answer.placements)
    on_nodes.push_back(test.problem.nodes[placement.node].name + ":" + pods_line(placement.pods));
  for (const Unplaced& left : answer.unplaced) {
    std::string codes;
    for (const PoolReason& reason : left.reasons) codes += (codes.empty() ? "" : ",") + reason.code;
    unplaced.push_back(std::to_string(left.group) + "*" + std::to_string(left.count) + " " + codes);
  }
  EXPECT_EQ(test.claims, claims) << describe(test.problem, answer);
  EXPECT_EQ(test.on_nodes, on_nodes) << describe(test.problem, answer);
  EXPECT_EQ(test.unplaced, unplaced) << describe(test.problem, answer);
}

void expect_cases(const std::vector<Case>& cases) {
  for (const Case& test : cases) expect_case(test);
}

PodGroup selecting(PodGroup group, const std::string& key, const std::string& value) {
  model::set_label(group.shape.node_selector, key, value);
  return group;
}

PodGroup with_term(PodGroup group, std::vector<model::RequirementSpec> expressions) {
  group.shape.required_terms.push_back({std::move(expressions), false});
  return group;
}

PodGroup tolerating(PodGroup group, const std::string& key) {
  group.shape.tolerations.push_back({key, true, "", {}, {}});
  return group;
}

PodGroup app(PodGroup group, const std::string& name) {
  model::set_label(group.labels, "app", name);
  return group;
}

PodGroup alone(PodGroup group, const std::string& name) {
  group = app(std::move(group), name);
  group.shape.affinity = {one_per_node(name)};
  return group;
}

PodGroup with_port(PodGroup group, std::int32_t port, const std::string& ip = "") {
  group.shape.host_ports.push_back({ip, port, "TCP"});
  return group;
}

Pool tainted(Pool pool, const std::string& key,
             model::TaintEffect effect = model::TaintEffect::kNoSchedule) {
  pool.pool.taints.push_back({key, "yes", effect});
  return pool;
}

Pool requiring(Pool pool, model::RequirementSpec spec) {
  pool.pool.requirements.push_back(std::move(spec));
  return pool;
}

Pool limited(Pool pool, const std::string& resource, std::int64_t limit, std::int64_t used = 0) {
  pool.pool.limits.push_back({resource, limit});
  if (used != 0) pool.used.push_back({resource, used});
  return pool;
}

Pool weighing(Pool pool, std::int32_t weight) {
  pool.pool.weight = weight;
  return pool;
}

Node node(const std::string& name, std::int64_t cpu_millis, std::int64_t memory_gi,
          bool initialized = true) {
  Node result;
  result.name = name;
  result.labels = {{std::string(model::kHostnameLabel), name},
                   {std::string(model::kZoneLabel), "a"}};
  result.available = amounts(cpu_millis, memory_gi, 100);
  result.initialized = initialized;
  return result;
}

Problem on(std::vector<Node> nodes, Problem problem) {
  problem.nodes = std::move(nodes);
  return problem;
}

Problem under(PodGroup daemon, Problem problem) {
  problem.daemons.push_back({daemon.shape});
  return problem;
}

TEST(Solve, PacksNewClaims) {
  expect_cases({
      {"nothing to do", problem({}), {}, {}, {}},
      {"a group of none", problem({pods(0, 500)}), {}, {}, {}},
      {"one pod gets the smallest type", problem({pods(1, 500)}), {"default m1: 0*1"}, {}, {}},
      {"a group fills a node exactly", problem({pods(4, 1000)}), {"default m4: 0*4"}, {}, {}},
      {"large groups need no loop over pods",
       problem({pods(17, 1000)}),
       {"default m8: 0*8", "default m8: 0*8", "default m1: 0*1"},
       {},
       {}},
      {"too large for any type", problem({pods(2, 9000)}), {}, {}, {"0*2 resources"}},
      {"small pods ride along",
       problem({pods(1, 3000), pods(2, 500)}),
       {"default m4: 0*1 1*2"},
       {},
       {}},
      {"many unlike pods share large nodes",
       problem({pods(1, 1600), pods(1, 1700), pods(1, 1500), pods(1, 1800), pods(1, 1400)}),
       {"default m8: 0*1 1*1 2*1 3*1 4*1"},
       {},
       {}},
      {"memory decides", problem({pods(1, 100, 30)}), {"default m8: 0*1"}, {}, {}},
      {"the number of pods decides",
       problem({pods(17, 1, 0)}),
       {"default m1: 0*16", "default m1: 0*1"},
       {},
       {}},
      {"no pools", problem({pods(1, 100)}, {}), {}, {}, {"0*1 no_pool"}},
      {"a static pool takes nothing",
       [] {
         Pool fixed = pool();
         fixed.pool.replicas = 3;
         return problem({pods(1, 100)}, {fixed});
       }(),
       {},
       {},
       {"0*1 no_pool"}},
      {"a pool without types",
       [] {
         Pool empty = pool();
         empty.types.clear();
         return problem({pods(1, 100)}, {empty});
       }(),
       {},
       {},
       {"0*1 no_offering"}},
  });
}

TEST(Solve, Requirements) {
  const std::string zone(model::kZoneLabel), capacity(model::kCapacityTypeLabel);
  const model::RequirementSpec team{"team", Operator::kIn, {"blue", "red"}, 0};
  expect_cases({
      {"zone of the catalogue",
       problem({selecting(pods(1, 500), zone, "b")}),
       {"default m1: 0*1"},
       {},
       {}},
      {"zone nobody offers",
       problem({selecting(pods(1, 500), zone, "z")}),
       {},
       {},
       {"0*1 no_offering"}},
      {"spot is not in zone b",
       problem({selecting(selecting(pods(1, 500), zone, "b"), capacity, "spot")}),
       {},
       {},
       {"0*1 no_offering"}},
      {"zones that exclude each other do not share",
       problem({selecting(pods(1, 400), zone, "a"), selecting(pods(1, 500), zone, "b")}),
       {"default m1: 1*1", "default m1: 0*1"},
       {},
       {}},
      {"instance type by name",
       problem({selecting(pods(1, 500), std::string(model::kInstanceTypeLabel), "m4")}),
       {"default m4: 0*1"},
       {},
       {}},
      {"custom label nobody defines",
       problem({selecting(pods(1, 500), "team", "blue")}),
       {},
       {},
       {"0*1 requirements"}},
      {"custom label that must be absent",
       problem({with_term(pods(1, 500), {{"team", Operator::kNotIn, {"blue"}, 0}})}),
       {"default m1: 0*1"},
       {},
       {}},
      {"an absent label opens no door to another pod",
       problem({with_term(pods(1, 600), {{"team", Operator::kNotIn, {"red"}, 0}}),
                selecting(pods(1, 500), "team", "blue")}),
       {"default m1: 0*1"},
       {},
       {"1*1 requirements"}},
      {"custom label of the pool",
       problem({selecting(pods(1, 500), "team", "blue")}, {requiring(pool(), team)}),
       {"default m1: 0*1"},
       {},
       {}},
      {"custom label of the pool, other value",
       problem({selecting(pods(1, 500), "team", "green")}, {requiring(pool(), team)}),
       {},
       {},
       {"0*1 requirements"}},
      {"custom labels part pods",
       problem({selecting(pods(1, 400), "team", "red"), selecting(pods(1, 500), "team", "blue")},
               {requiring(pool(), team)}),
       {"default m1: 1*1", "default m1: 0*1"},
       {},
       {}},
      {"bounds",
       problem({with_term(pods(1, 500), {{"size", Operator::kGt, {"3"}, 0}})},
               {requiring(pool(), {"size", Operator::kIn, {"2", "4"}, 0})}),
       {"default m1: 0*1"},
       {},
       {}},
      {"first term that can hold",
       problem({with_term(with_term(pods(1, 500), {in(zone, {"z"})}), {in(zone, {"b"})})}),
       {"default m1: 0*1"},
       {},
       {}},
      {"no term holds",
       problem({with_term(with_term(pods(1, 500), {in(zone, {"z"})}), {in(zone, {"y"})})}),
       {},
       {},
       {"0*1 no_offering"}},
      {"a term without expressions matches nothing",
       problem({with_term(pods(1, 500), {})}),
       {},
       {},
       {"0*1 requirements"}},
      {"selector and term that exclude each other",
       problem({with_term(selecting(pods(1, 500), "team", "blue"), {in("team", {"red"})})},
               {requiring(pool(), team)}),
       {},
       {},
       {"0*1 requirements"}},
      {"a pool that contradicts itself",
       problem({pods(1, 500)}, {requiring(requiring(pool(), in("k", {"a"})), in("k", {"b"}))}),
       {},
       {},
       {"0*1 no_offering"}},
      {"hostname of a node that does not exist",
       problem({selecting(pods(1, 500), std::string(model::kHostnameLabel), "n1")}),
       {},
       {},
       {"0*1 requirements"}},
  });
}

TEST(Solve, Taints) {
  const Pool db = tainted(pool("db"), "db");
  expect_cases({
      {"not tolerated", problem({pods(1, 500)}, {db}), {}, {}, {"0*1 taint"}},
      {"tolerated", problem({tolerating(pods(1, 500), "db")}, {db}), {"db m1: 0*1"}, {}, {}},
      {"NoExecute counts",
       problem({pods(1, 500)}, {tainted(pool(), "x", model::TaintEffect::kNoExecute)}),
       {},
       {},
       {"0*1 taint"}},
      {"PreferNoSchedule does not",
       problem({pods(1, 500)}, {tainted(pool(), "x", model::TaintEffect::kPreferNoSchedule)}),
       {"default m1: 0*1"},
       {},
       {}},
      {"the other pool", problem({pods(1, 500)}, {db, pool("any")}), {"any m1: 0*1"}, {}, {}},
  });
}

TEST(Solve, PoolOrder) {
  expect_cases({
      {"weight first",
       problem({pods(1, 500)}, {weighing(pool("a"), 1), weighing(pool("b"), 10)}),
       {"b m1: 0*1"},
       {},
       {}},
      {"equal weights: name descending",
       problem({pods(1, 500)}, {pool("a"), pool("b")}),
       {"b m1: 0*1"},
       {},
       {}},
      {"the next pool when the first is full",
       problem({pods(10, 1000)}, {limited(weighing(pool("b"), 10), "nodes", 1), pool("a")}),
       {"b m8: 0*8", "a m2: 0*2"},
       {},
       {}},
      {"reasons of both",
       problem({pods(1, 9000)}, {tainted(pool("a"), "x"), pool("b")}),
       {},
       {},
       {"0*1 resources,taint"}},
  });
}

TEST(Solve, Limits) {
  expect_cases({
      {"cpu",
       problem({pods(10, 1000)}, {limited(pool(), "cpu", 4000)}),
       {"default m4: 0*4"},
       {},
       {"0*6 limit"}},
      {"cpu in use counts",
       problem({pods(10, 1000)}, {limited(pool(), "cpu", 8000, 6000)}),
       {"default m2: 0*2"},
       {},
       {"0*8 limit"}},
      {"nodes",
       problem({pods(20, 1000)}, {limited(pool(), "nodes", 3, 1)}),
       {"default m8: 0*8", "default m8: 0*8"},
       {},
       {"0*4 limit"}},
      {"none left",
       problem({pods(1, 1000)}, {limited(pool(), "nodes", 3, 3)}),
       {},
       {},
       {"0*1 limit"}},
      {"above the limit already",
       problem({pods(1, 1000)}, {limited(pool(), "cpu", 1000, 5000)}),
       {},
       {},
       {"0*1 limit"}},
      {"a resource that no type has",
       problem({pods(1, 1000)}, {limited(pool(), "nvidia.com/gpu", 0)}),
       {"default m1: 0*1"},
       {},
       {}},
      {"small limits are used up, not guarded",
       problem({pods(7, 1000)}, {limited(pool(), "cpu", 7000)}),
       {"default m4: 0*4", "default m2: 0*2", "default m1: 0*1"},
       {},
       {}},
      {"a node that may still grow when no other is allowed",
       problem({pods(1, 1000), pods(1, 900)}, {limited(pool(), "nodes", 1)}),
       {"default m2: 0*1 1*1"},
       {},
       {}},
  });
}

TEST(Solve, LimitsAreSharedOutAsFurtherTypes) {
  const Problem tight = problem({pods(1, 1000)}, {limited(pool(), "cpu", 4000)});
  const Answer answer = solve(tight);
  ASSERT_EQ(1u, answer.claims.size());
  EXPECT_EQ((std::vector<std::size_t>{0, 1, 2}), answer.claims[0].types);
  EXPECT_EQ(4000, answer.claims[0].max_capacity.cpu_millis);
}

TEST(Solve, ExistingNodes) {
  const std::string zone(model::kZoneLabel);
  expect_cases({
      {"before new ones, by name",
       on({node("n2", 1000, 8), node("n1", 2000, 8)}, problem({pods(4, 1000)})),
       {"default m1: 0*1"},
       {"n2: 0*1", "n1: 0*2"},
       {}},
      {"initialized ones first",
       on({node("a", 1000, 8, false), node("b", 1000, 8)}, problem({pods(1, 1000)})),
       {},
       {"b: 0*1"},
       {}},
      {"labels are taken at their word",
       on({node("a", 1000, 8)}, problem({selecting(pods(1, 500), zone, "b")})),
       {"default m1: 0*1"},
       {},
       {}},
      {"a label that a node lacks is not any",
       on({node("a", 1000, 8)},
          problem({selecting(pods(1, 500), std::string(model::kArchLabel), "amd64")})),
       {"default m1: 0*1"},
       {},
       {}},
      {"hostname",
       on({node("n1", 1000, 8), node("n2", 1000, 8)},
          problem({selecting(pods(1, 500), std::string(model::kHostnameLabel), "n2")})),
       {},
       {"n2: 0*1"},
       {}},
      {"any term will do there",
       on({node("n1", 1000, 8)},
          problem({with_term(with_term(pods(1, 500), {in(zone, {"b"})}), {in(zone, {"a"})})})),
       {},
       {"n1: 0*1"},
       {}},
      {"taints",
       [] {
         Node dedicated = node("n1", 4000, 8);
         dedicated.taints = {{"db", "", model::TaintEffect::kNoSchedule}};
         return on({dedicated}, problem({pods(1, 500), tolerating(pods(1, 400), "db")}));
       }(),
       {"default m1: 0*1"},
       {"n1: 1*1"},
       {}},
      {"without any pool",
       on({node("n1", 1000, 8)}, problem({pods(2, 1000)}, {})),
       {},
       {"n1: 0*1"},
       {"0*1 no_pool"}},
  });
}

TEST(Solve, Daemons) {
  PodGroup other_arch = selecting(pods(1, 500), std::string(model::kArchLabel), "arm64");
  PodGroup registered = selecting(pods(1, 500), std::string(model::kInitializedLabel), "true");
  PodGroup large_only = selecting(pods(1, 500), std::string(model::kInstanceTypeLabel), "m4");
  expect_cases({
      {"take room", under(pods(1, 500), problem({pods(1, 700)})), {"default m2: 0*1"}, {}, {}},
      {"not where they do not run",
       under(other_arch, problem({pods(1, 700)})),
       {"default m1: 0*1"},
       {},
       {}},
      {"that wait for a started node",
       under(registered, problem({pods(1, 700)})),
       {"default m2: 0*1"},
       {},
       {}},
      {"that tolerate nothing",
       under(pods(1, 500), problem({tolerating(pods(1, 700), "x")}, {tainted(pool(), "x")})),
       {"default m1: 0*1"},
       {},
       {}},
      {"on one type only",
       under(large_only, problem({pods(1, 3600)})),
       {"default m8: 0*1"},
       {},
       {}},
  });
}

TEST(Solve, RequestsCountTheLeastOverhead) {
  const Answer answer = solve(under(pods(1, 200, 0), problem({pods(2, 300)})));
  ASSERT_EQ(1u, answer.claims.size());
  EXPECT_EQ(800, answer.claims[0].requests.cpu_millis);
  EXPECT_EQ(2 * kGi, answer.claims[0].requests.memory_bytes);
  EXPECT_EQ(3, answer.claims[0].requests.pods);
}

TEST(Solve, OnePerNode) {
  PodGroup elsewhere = app(pods(1, 200), "web");
  elsewhere.namespace_name = "other";
  expect_cases({
      {"hostname anti-affinity",
       problem({alone(pods(3, 500), "web")}),
       {"default m1: 0*1", "default m1: 0*1", "default m1: 0*1"},
       {},
       {}},
      {"not on existing nodes",
       on({node("n1", 4000, 8)}, problem({alone(pods(1, 500), "web")})),
       {"default m1: 0*1"},
       {},
       {}},
      {"others ride along",
       problem({alone(pods(2, 500), "web"), app(pods(2, 400), "db")}),
       {"default m1: 0*1 1*1", "default m1: 0*1 1*1"},
       {},
       {}},
      {"both ways: repelled pods stay away",
       problem({alone(pods(1, 500), "web"), app(pods(1, 400), "web")}),
       {"default m1: 0*1", "default m1: 1*1"},
       {},
       {}},
      {"both ways: whoever comes first",
       problem({alone(pods(1, 400), "web"), app(pods(1, 500), "web")}),
       {"default m1: 1*1", "default m1: 0*1"},
       {},
       {}},
      {"another namespace does not matter",
       problem({alone(pods(1, 500), "web"), elsewhere}),
       {"default m1: 0*1 1*1"},
       {},
       {}},
      {"host ports",
       problem({with_port(pods(2, 300), 80)}),
       {"default m1: 0*1", "default m1: 0*1"},
       {},
       {}},
      {"host ports of two groups",
       problem(
           {with_port(pods(1, 300), 80), with_port(pods(1, 200), 80), with_port(pods(1, 100), 81)}),
       {"default m1: 0*1 2*1", "default m1: 1*1"},
       {},
       {}},
      {"host ports on two addresses",
       problem({with_port(pods(1, 300), 80, "10.0.0.1"), with_port(pods(1, 200), 80, "10.0.0.2")}),
       {"default m1: 0*1 1*1"},
       {},
       {}},
      {"host port of a daemon",
       under(with_port(pods(1, 100), 80), problem({with_port(pods(1, 300), 80, "10.0.0.1")})),
       {},
       {},
       {"0*1 unsupported"}},
      {"not on existing nodes, ports",
       on({node("n1", 4000, 8)}, problem({with_port(pods(1, 500), 80)})),
       {"default m1: 0*1"},
       {},
       {}},
  });
}

TEST(Solve, PriorityDecidesWhenThereIsTooLittle) {
  PodGroup vital = pods(2, 1000);
  vital.shape.priority = 100;
  expect_cases({
      {"the large ones first while all fit",
       problem({vital, pods(1, 2000)}),
       {"default m4: 0*2 1*1"},
       {},
       {}},
      {"the vital ones first when not",
       problem({vital, pods(1, 2000)}, {limited(pool(), "cpu", 2000)}),
       {"default m2: 0*2"},
       {},
       {"1*1 limit"}},
  });
}

// A daily case of price: two small nodes cost what a large one costs, so mixing must not make
// anything dearer.
TEST(Solve, OnDemandPodDoesNotMakeASpotNodeDear) {
  const Problem mixed =
      problem({pods(7, 1000),
               selecting(pods(1, 500), std::string(model::kCapacityTypeLabel), "on-demand")});
  const Answer answer = solve(mixed);
  EXPECT_EQ("", wrong(mixed, answer));
  EXPECT_TRUE(answer.unplaced.empty());
  EXPECT_LE(price(answer), 80 * kCent * 7 / 10 + 10 * kCent) << describe(mixed, answer);
}

TEST(Solve, ListsEveryTypeAndOfferCheapestFirst) {
  Problem small = problem({selecting(pods(1, 1500), std::string(model::kZoneLabel), "a")});
  Answer answer = solve(small);
  ASSERT_EQ(1u, answer.claims.size());
  EXPECT_EQ((std::vector<std::size_t>{1, 2, 3}), answer.claims[0].types);
  ASSERT_EQ(6u, answer.claims[0].offers.size());
  EXPECT_EQ((model::Offer{"m2", "a", "spot", 14 * kCent}), answer.claims[0].offers[0]);
  EXPECT_EQ((model::Offer{"m2", "a", "on-demand", 20 * kCent}), answer.claims[0].offers[1]);
  EXPECT_EQ((model::Offer{"m8", "a", "on-demand", 80 * kCent}), answer.claims[0].offers[5]);
  EXPECT_EQ(8000, answer.claims[0].max_capacity.cpu_millis);
  for (const auto& spec : answer.claims[0].requirements) {
    EXPECT_NE(model::kInstanceTypeLabel, spec.key);
    EXPECT_NE(model::kCapacityTypeLabel, spec.key);
  }
  small.instance_types_max = 2;
  answer = solve(small);
  EXPECT_EQ((std::vector<std::size_t>{1, 2}), answer.claims[0].types);
  EXPECT_EQ(4u, answer.claims[0].offers.size());
}

TEST(Solve, UnavailableOfferingsDoNotExist) {
  Problem one = problem({pods(1, 500)});
  for (auto& offering : one.pools[0].types[0].offerings) offering.available = false;
  expect_case({"m1 is sold out", one, {"default m2: 0*1"}, {}, {}});
  one.pools[0].types[1].offerings[2].available = false;
  const Answer answer = solve(one);
  ASSERT_EQ(1u, answer.claims.size());
  for (const model::Offer& offer : answer.claims[0].offers)
    EXPECT_FALSE(offer.instance_type == "m2" && offer.capacity_type == "spot");
}

TEST(ClaimLabels, CustomKeysGetAValueThatHolds) {
  struct LabelCase {
    const char* name;
    model::RequirementSpec pool;
    std::vector<model::RequirementSpec> pod;
    const char* want;
  };
  const LabelCase cases[] = {
      {"first of a list", {"k", Operator::kIn, {"b", "a"}, 0}, {}, "a"},
      {"narrowed by the pod",
       {"k", Operator::kIn, {"b", "a"}, 0},
       {{"k", Operator::kIn, {"b"}, 0}},
       "b"},
      {"Exists", {"k", Operator::kExists, {}, 0}, {}, "0"},
      {"lower bound", {"k", Operator::kGt, {"4"}, 0}, {}, "5"},
      {"upper bound below zero", {"k", Operator::kLt, {"-3"}, 0}, {}, "-4"},
      {"exclusions", {"k", Operator::kNotIn, {"0", "1"}, 0}, {}, "2"},
      {"absent", {"k", Operator::kDoesNotExist, {}, 0}, {}, ""},
  };
  for (const LabelCase& test : cases) {
    SCOPED_TRACE(test.name);
    PodGroup group = pods(1, 500);
    if (!test.pod.empty()) group = with_term(group, test.pod);
    const Problem one = problem({group}, {requiring(pool(), test.pool)});
    const Answer answer = solve(one);
    ASSERT_EQ("", wrong(one, answer));
    ASSERT_EQ(1u, answer.claims.size()) << describe(one, answer);
    const model::Labels labels = claim_labels(one.pools[0], answer.claims[0]);
    EXPECT_EQ(test.want, model::label_value(labels, "k"));
    EXPECT_EQ("default", model::label_value(labels, model::kNodePoolLabel));
    EXPECT_EQ("default", model::label_value(labels, "karpenter.kwok.sh/kwoknodeclass"));
  }
}

}  // namespace
}  // namespace karst::scheduling::test
