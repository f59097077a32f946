// The solver's behaviour as tables: what goes where, at what price, and what is said about the
// rest.
#include <gtest/gtest.h>

#include "scheduling/claims.h"
#include "tests/scheduling/cases.h"

namespace karst::scheduling::test {
namespace {

using model::Operator;

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
      {"the number of pods decides", problem({pods(17, 1, 0)}), {"default m2: 0*17"}, {}, {}},
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
         empty.types = {};
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
      {"custom label that must be there, but not that one",
       problem({with_term(pods(1, 500), {{"team", Operator::kExists, {}, 0},
                                         {"team", Operator::kNotIn, {"red"}, 0}})}),
       {},
       {},
       {"0*1 requirements"}},
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
      {"a pod that joins narrows the claim for the next one",
       problem({pods(1, 3000), selecting(pods(1, 500), "team", "red"),
                selecting(pods(1, 400), "team", "blue")},
               {requiring(pool(), team)}),
       {"default m4: 0*1 1*1", "default m1: 2*1"},
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

// What this form does not know must be said, never ignored.
TEST(Solve, UnsupportedFieldsAreNamed) {
  struct Unsupported {
    const char* name;
    void (*add)(model::PodShape&);
  };
  const Unsupported cases[] = {
      {"matchFields", [](model::PodShape& s) { s.required_terms = {{{in("a", {"b"})}, true}}; }},
      {"Dynamic Resource Allocation", [](model::PodShape& s) { s.uses_dra = true; }},
  };
  for (const Unsupported& test : cases) {
    SCOPED_TRACE(test.name);
    PodGroup group = pods(2, 500);
    test.add(group.shape);
    const Answer answer = solve(on({node("n1", 4000, 8)}, problem({group, pods(1, 400)})));
    ASSERT_EQ(1u, answer.unplaced.size());
    EXPECT_EQ(0u, answer.unplaced[0].group);
    EXPECT_EQ(2, answer.unplaced[0].count);
    ASSERT_EQ(1u, answer.unplaced[0].reasons.size());
    EXPECT_EQ("unsupported", answer.unplaced[0].reasons[0].code);
    EXPECT_NE(std::string::npos, answer.unplaced[0].reasons[0].text.find(test.name))
        << answer.unplaced[0].reasons[0].text;
  }
}

TEST(Solve, MinValuesCountTheTypesThatAreLeft) {
  const Pool choosy = requiring(pool(), {"team", Operator::kIn, {"a", "b"}, 2});
  expect_cases({{"minValues", problem({pods(1, 500)}, {choosy}), {}, {}, {"0*1 min_values"}}});
}

TEST(Solve, MinValuesOfWhatOnlyOfferingsSay) {
  const auto zones = [](int count) {
    return requiring(pool(), {std::string(model::kZoneLabel), Operator::kExists, {}, count});
  };
  expect_cases({
      {"two zones", problem({pods(1, 500)}, {zones(2)}), {"default m1: 0*1"}, {}, {}},
      {"not three", problem({pods(1, 500)}, {zones(3)}), {}, {}, {"0*1 min_values"}},
  });
}

Problem best_effort(Problem problem) {
  problem.options.min_values = MinValuesPolicy::kBestEffort;
  return problem;
}

// Best effort: the minimum gives way wherever a pod would be left over for its sake.
TEST(Solve, MinValuesGiveWayUnderBestEffort) {
  const Pool two =
      requiring(pool(), {std::string(model::kInstanceTypeLabel), Operator::kExists, {}, 2});
  expect_cases({
      {"fewer types than wanted",
       best_effort(problem({pods(1, 5000)}, {two})),
       {"default m8: 0*1"},
       {},
       {}},
      {"a claim that is there, no other may come",
       best_effort(problem({pods(2, 2500)}, {limited(two, "nodes", 1)})),
       {"default m8: 0*2"},
       {},
       {}},
      {"no limit is used up for types that nobody needs",
       best_effort(problem({pods(4, 900)}, {limited(two, "cpu", 4000)})),
       {"default m4: 0*4"},
       {},
       {}},
  });
}

TEST(Solve, SaysWhereMinValuesAreNotMet) {
  const Pool two =
      requiring(pool(), {std::string(model::kInstanceTypeLabel), Operator::kExists, {}, 2});
  const auto relaxed = [](const Problem& one) {
    return solve(one).claims.at(0).min_values_relaxed;
  };
  EXPECT_TRUE(relaxed(best_effort(problem({pods(1, 5000)}, {two}))));
  EXPECT_FALSE(relaxed(best_effort(problem({pods(1, 2500)}, {two}))));
  EXPECT_TRUE(relaxed(best_effort(problem({pods(2, 2500)}, {limited(two, "nodes", 1)}))));
}

TEST(Solve, PreferencesGiveWay) {
  PodGroup group = pods(1, 500);
  group.shape.preferred_terms = {{100, {{in("nobody", {"has"})}, false}}};
  group.shape.spread = {{"zone", 1, true, {}, 0, {}, false, false}};
  group.shape.affinity = {one_per_node("x")};
  group.shape.affinity[0].preferred_weight = 50;
  expect_cases({{"preferences", problem({group}), {"default m1: 0*1"}, {}, {}}});
}

TEST(Solve, ReasonsSpeakKarpentersGrammar) {
  const auto text = [](const Problem& p) { return solve(p).unplaced.at(0).reasons.at(0).text; };
  EXPECT_EQ("did not tolerate taint (taint=db=yes:NoSchedule) (NodePool=default)",
            text(problem({pods(1, 500)}, {tainted(pool(), "db")})));
  EXPECT_EQ(
      "incompatible requirements, label \"team\" does not have known values (NodePool=default)",
      text(problem({selecting(pods(1, 500), "team", "blue")})));
  EXPECT_EQ("all available instance types exceed limits for nodepool (NodePool=default)",
            text(problem({pods(1, 500)}, {limited(pool(), "cpu", 500)})));
  EXPECT_EQ("node limits have been exhausted for nodepool (NodePool=default)",
            text(problem({pods(1, 500)}, {limited(pool(), "nodes", 0)})));
  EXPECT_EQ(
      "no instance type has enough resources, requirements=karpenter.kwok.sh/kwoknodeclass In "
      "[default], karpenter.sh/initialized In [true], karpenter.sh/nodepool In [default], "
      "karpenter.sh/registered In [true], "
      "resources={\"cpu\":\"9500m\",\"memory\":\"1Gi\",\"pods\":\"1\"} (NodePool=default)",
      text(problem({pods(1, 9500)})));
  EXPECT_NE(std::string::npos, text(problem({pods(1, 2'000'000'000)})).find("m vs M typo?"));
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
  const std::vector<model::Offer> offers = answer.claims[0].offers.items();
  EXPECT_EQ((model::Offer{"m2", "a", "spot", 14 * kCent}), offers[0]);
  EXPECT_EQ((model::Offer{"m2", "a", "on-demand", 20 * kCent}), offers[1]);
  EXPECT_EQ((model::Offer{"m8", "a", "on-demand", 80 * kCent}), offers[5]);
  EXPECT_EQ(8000, answer.claims[0].max_capacity.cpu_millis);
  for (const auto& spec : answer.claims[0].requirements) {
    EXPECT_NE(model::kInstanceTypeLabel, spec.key);
    EXPECT_NE(model::kCapacityTypeLabel, spec.key);
  }
  small.options.instance_types_max = 2;
  answer = solve(small);
  EXPECT_EQ((std::vector<std::size_t>{1, 2}), answer.claims[0].types);
  EXPECT_EQ(4u, answer.claims[0].offers.size());
}

TEST(Solve, UnavailableOfferingsDoNotExist) {
  Problem one = problem({pods(1, 500)});
  std::vector<InstanceType> types = one.pools[0].types.items();
  for (auto& offering : types[0].offerings) offering.available = false;
  one.pools[0].types = types;
  expect_case({"m1 is sold out", one, {"default m2: 0*1"}, {}, {}});
  types[1].offerings[2].available = false;
  one.pools[0].types = types;
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
