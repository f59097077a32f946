// Why a pod was left over, what each constraint takes away, and what would help.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "scheduling/label_hint.h"
#include "scheduling/pool_offers.h"
#include "tests/scheduling/cases.h"

namespace karst::scheduling::test {
namespace {

struct ReasonCase {
  const char* name;
  Problem problem;
  const char* code;
  const char* text;         // part of the first reason's
  const char* removal;      // constraint, types and offerings of one removal
  const char* relaxations;  // texts, joined by "; "
};

PodGroup spread_over(PodGroup group, const std::string& key) {
  model::SpreadConstraint spread;
  spread.topology_key = key;
  spread.selector.expressions = {in("app", {"web"})};
  group.shape.spread.push_back(spread);
  return app(std::move(group), "web");
}

PodGroup near(PodGroup group, const std::string& other) {
  group.shape.affinity = {one_per_node(other)};
  group.shape.affinity[0].anti = false;
  return group;
}

PodGroup with_volume_in(PodGroup group, const std::string& zone) {
  group.volumes.push_back({"ebs", "", {{in(kZone, {zone})}}});
  return group;
}

std::string removals_text(const PoolReason& reason) {
  std::string text;
  for (const Removal& one : reason.removals)
    text += one.constraint + " " + std::to_string(one.types) + " of " +
            std::to_string(reason.types) + ", " + std::to_string(one.offerings) + " of " +
            std::to_string(reason.offerings) + "\n";
  return text;
}

std::string relaxations_text(const Unplaced& unplaced) {
  std::string text;
  for (const Relaxation& one : unplaced.relaxations) text += (text.empty() ? "" : "; ") + one.text;
  return text;
}

void expect_reasons(const std::vector<ReasonCase>& cases) {
  for (const ReasonCase& test : cases) {
    SCOPED_TRACE(test.name);
    ASSERT_STRNE("", test.text) << "would be found in anything";
    ASSERT_STRNE("", test.removal) << "would be found in anything";
    const Answer answer = solve(test.problem);
    ASSERT_EQ(1u, answer.unplaced.size()) << describe(test.problem, answer);
    const Unplaced& left = answer.unplaced[0];
    ASSERT_FALSE(left.reasons.empty());
    EXPECT_EQ(test.code, left.reasons[0].code);
    EXPECT_NE(std::string::npos, left.reasons[0].text.find(test.text)) << left.reasons[0].text;
    EXPECT_TRUE(left.message.starts_with("Failed to schedule pod, ")) << left.message;
    EXPECT_NE(std::string::npos, ("\n" + removals_text(left.reasons[0])).find(test.removal))
        << removals_text(left.reasons[0]);
    EXPECT_EQ(test.relaxations, relaxations_text(left));
  }
}

struct HelpCase {
  const char* name;
  Problem problem;
  const char* code;
  const char* relaxations;  // texts, joined by "; "
};

void expect_help(const std::vector<HelpCase>& cases) {
  for (const HelpCase& test : cases) {
    SCOPED_TRACE(test.name);
    const Answer answer = solve(test.problem);
    ASSERT_EQ(1u, answer.unplaced.size()) << describe(test.problem, answer);
    ASSERT_FALSE(answer.unplaced[0].reasons.empty());
    EXPECT_EQ(test.code, answer.unplaced[0].reasons[0].code);
    EXPECT_EQ(test.relaxations, relaxations_text(answer.unplaced[0]));
  }
}

TEST(Reasons, OfAPodAlone) {
  const Pool choosy = requiring(pool(), {kZone, model::Operator::kIn, {"a", "b"}, 3});
  const std::string type(model::kInstanceTypeLabel);
  // The daemon's port is taken on one of the four types.
  Pool all_types = requiring(requiring(pool(), {type, model::Operator::kExists, {}, 4}),
                             {kZone, model::Operator::kIn, {"a", "b"}, 2});
  const PodGroup daemon = selecting(with_port(pods(1, 100), 80), type, "m1");
  expect_reasons({
      {"a zone that nobody offers", problem({selecting(pods(1, 500), kZone, "z")}), "no_offering",
       "no instance type has the required offering, requirements=",
       "topology.kubernetes.io/zone In [z] 4 of 4, 12 of 12",
       "node selector topology.kubernetes.io/zone z → any of a, b"},
      {"a little too much CPU", problem({pods(1, 8100)}), "resources",
       "no instance type has enough resources, requirements=", "cpu 4 of 4, 12 of 12",
       "cpu 8.1 → 8"},
      {"a taint", problem({pods(1, 500)}, {tainted(pool("db"), "dedicated")}), "taint",
       "did not tolerate taint (taint=dedicated=yes:NoSchedule) (NodePool=db)",
       "taint dedicated=yes:NoSchedule 4 of 4, 12 of 12",
       "toleration for dedicated=yes:NoSchedule"},
      {"a label that nobody defines", problem({selecting(pods(1, 500), "team", "blue")}),
       "requirements", "incompatible requirements, label \"team\" does not have known values",
       "team In [blue] 4 of 4, 12 of 12", "node selector team blue → not demanded"},
      {"volumes elsewhere", problem({with_volume_in(pods(1, 500), "z")}), "no_offering",
       "no instance type has the required offering, requirements=",
       "volumes: topology.kubernetes.io/zone In [z] 4 of 4, 12 of 12",
       "place of its volumes → anywhere"},
      {"two things at once", problem({selecting(pods(1, 8100), kZone, "z")}), "resources",
       "no instance type had enough resources or had a required offering",
       "topology.kubernetes.io/zone In [z] 4 of 4, 12 of 12\ncpu 4 of 4, 12 of 12",
       "cpu 8.1 → 8 and node selector topology.kubernetes.io/zone z → any of a, b"},
      {"a limit", problem({pods(1, 1500)}, {limited(pool(), "cpu", 3000, 2000)}), "limit",
       "all available instance types exceed limits for nodepool (NodePool=default)",
       "limit cpu 3 of 4, 9 of 12", "cpu 1.5 → 1; nodepool default: limit cpu 3 → 4"},
      {"no node more", problem({pods(1, 500)}, {limited(pool(), "nodes", 2, 2)}), "limit",
       "node limits have been exhausted for nodepool (NodePool=default)",
       "limit nodes 4 of 4, 12 of 12", "nodepool default: limit nodes 2 → 3"},
      {"too few values", problem({pods(1, 500)}, {choosy}), "min_values",
       "minValues requirement is not met for label(s) (label(s)=[topology.kubernetes.io/zone])",
       "minValues of topology.kubernetes.io/zone 4 of 4, 12 of 12",
       "nodepool default: minValues of topology.kubernetes.io/zone 3 → 2"},
      {"too few types without the port",
       under(daemon, problem({with_port(pods(1, 500), 80)}, {all_types})), "min_values",
       "minValues requirement is not met for label(s) "
       "(label(s)=[node.kubernetes.io/instance-type])",
       "minValues of node.kubernetes.io/instance-type 4 of 4, 12 of 12",
       "host ports → none; nodepool default: minValues of node.kubernetes.io/instance-type 4 → 3"},
      {"a host port of a daemon",
       under(with_port(pods(1, 100), 80), problem({with_port(pods(1, 500), 80)})), "host_port",
       "host ports are taken by DaemonSets", "host ports 4 of 4, 12 of 12", "host ports → none"},
  });
}

TEST(Reasons, OfAPodAmongOthers) {
  const Problem one_zone = problem({pods(1, 500)}, {requiring(pool(), in(kZone, {"a"}))});
  Problem skewed = one_zone;
  skewed.pods = {spread_over(pods(1, 500), kZone)};
  skewed.nodes = {node("far", 100, 1), node("near", 100, 1)};
  skewed.nodes[0].labels = {{kZone, "b"}};
  skewed.nodes[1].labels = {{kZone, "a"}};
  skewed.bound = {{1, "default", {{"app", "web"}}, {}, 1}};
  Problem too_few = one_zone;
  too_few.pods = {spread_over(pods(2, 500), kZone)};
  too_few.pods[0].shape.spread[0].min_domains = 3;
  Problem repelled = one_zone;
  repelled.pods = {app(pods(1, 500), "web")};
  repelled.nodes = {node("n", 100, 1)};
  repelled.bound = {{0, "default", {}, {one_per_node("web")}, 1}};
  repelled.bound[0].anti_affinity[0].topology_key = kZone;
  repelled.nodes[0].labels = {{kZone, "a"}};
  Problem torn =
      problem({with_affinity(spread(app(pods(3, 500), "web"), kZone, "web"), kZone, "web", false)});
  Problem torn_by_another = skewed;
  torn_by_another.pools = {pool()};
  torn_by_another.bound.push_back(repelled.bound[0]);  // in zone b
  expect_reasons({
      {"a spread", skewed, "topology",
       "unsatisfiable topology constraint for topology spread, key=topology.kubernetes.io/zone "
       "(counts = a: 1, b: 0, podDomains = topology.kubernetes.io/zone Exists, nodeDomains = "
       "topology.kubernetes.io/zone In [a])",
       "\nspread over topology.kubernetes.io/zone 0 of 4, 8 of 12\n",
       "maxSkew of the spread over topology.kubernetes.io/zone 1 → 2; spread over "
       "topology.kubernetes.io/zone DoNotSchedule → ScheduleAnyway"},
      {"fewer zones than minDomains", too_few, "topology",
       "unsatisfiable topology constraint for topology spread, key=topology.kubernetes.io/zone "
       "(counts = a: 1",
       "spread over topology.kubernetes.io/zone 0 of 4, 8 of 12",
       "minDomains of the spread over topology.kubernetes.io/zone 3 → none; maxSkew of the spread "
       "over topology.kubernetes.io/zone 1 → 2; spread over "
       "topology.kubernetes.io/zone DoNotSchedule → ScheduleAnyway without minDomains"},
      {"an affinity to nobody", problem({near(pods(1, 500), "web")}), "topology",
       "unsatisfiable topology constraint for pod affinity, key=kubernetes.io/hostname",
       "pod affinity over kubernetes.io/hostname 4 of 4, 12 of 12",
       "pod affinity over kubernetes.io/hostname required → preferred"},
      {"somebody else's anti-affinity", repelled, "topology",
       "unsatisfiable topology constraint for pod anti-affinity, "
       "key=topology.kubernetes.io/zone (counts = a: 1",
       "other pods' anti-affinity over topology.kubernetes.io/zone 0 of 4, 8 of 12",
       "nodepool default: topology.kubernetes.io/zone In [a] → not demanded"},
      {"two that rule each other out", torn, "topology",
       "unsatisfiable topology constraint for pod affinity, key=topology.kubernetes.io/zone "
       "(counts = a: 1, b: 0,",
       "spread over topology.kubernetes.io/zone 0 of 4, 8 of 12\n"
       "pod affinity over topology.kubernetes.io/zone 0 of 4, 4 of 12",
       "maxSkew of the spread over topology.kubernetes.io/zone 1 → 3; spread over "
       "topology.kubernetes.io/zone DoNotSchedule → ScheduleAnyway; pod affinity over "
       "topology.kubernetes.io/zone required → preferred"},
      {"a spread beside somebody else's anti-affinity", torn_by_another, "topology",
       "unsatisfiable topology constraint for pod anti-affinity, key=topology.kubernetes.io/zone "
       "(counts = a: 0, b: 1,",
       "spread over topology.kubernetes.io/zone 0 of 4, 8 of 12\n"
       "other pods' anti-affinity over topology.kubernetes.io/zone 0 of 4, 4 of 12",
       "maxSkew of the spread over topology.kubernetes.io/zone 1 → 2; spread over "
       "topology.kubernetes.io/zone DoNotSchedule → ScheduleAnyway"},
  });
}

PodGroup apart(PodGroup group, const std::string& key) {
  group.shape.owner_kind = model::OwnerKind::kReplicaSet;
  group.shape.affinity = {one_per_node("web")};
  group.shape.affinity[0].topology_key = key;
  return app(std::move(group), "web");
}

TEST(Reasons, NameTheLabelThatWasMeant) {
  const std::set<std::string, std::less<>> known = {"karpenter.k8s.aws/instance-category",
                                                    "karpenter.k8s.aws/instance-family",
                                                    "a.b/zone-id",
                                                    "karpenter.sh/capacity-type",
                                                    "topology.kubernetes.io/region",
                                                    "topology.kubernetes.io/zone"};
  struct Case {
    const char* key;
    const char* want;
  };
  const Case cases[] = {
      {"zone", " (typo of \"topology.kubernetes.io/zone\"?)"},
      {"topology.kubernetes.io/zon", " (typo of \"topology.kubernetes.io/zone\"?)"},
      {"topolgy.kubernetes.io/regoin", " (typo of \"topology.kubernetes.io/region\"?)"},
      {"example.com/capacity-type", " (typo of \"karpenter.sh/capacity-type\"?)"},
      {"karpenter.k8s.aws/instance-categry", " (typo of \"karpenter.k8s.aws/instance-category\"?)"},
      {"topology.kubernetes.io/zone", ""},  // known: no value meets the demand
      {"team", ""},
      {"io", ""},
      {"", ""},
  };
  for (const Case& test : cases)
    EXPECT_EQ(
        test.want,
        label_hint("label \"" + std::string(test.key) + "\" does not have known values", known))
        << test.key;
  EXPECT_EQ("", label_hint("key zone, zone In [a] not in zone In [b]", known));
}

// What is told is true of the whole problem, and the smallest that is.
TEST(Reasons, WhatWouldHelpReallyDoes) {
  const Pool small = limited(pool(), "cpu", 6000, 0);
  Problem nodes_only = problem({pods(1, 5000)}, {});
  nodes_only.nodes = {node("n", 4000, 8), node("full", 100, 8)};
  Problem no_room = problem({pods(1, 5000)}, {});
  no_room.nodes = {node("full", 100, 8)};
  Problem few_nodes = problem({apart(pods(5, 500), kHost)}, {});
  few_nodes.nodes = {node("a", 4000, 8), node("b", 4000, 8), node("c", 4000, 8)};
  Problem running = few_nodes;
  running.pods[0].count = 3;
  running.bound = {{0, "default", {{"app", "web"}}, running.pods[0].shape.affinity, 1}};
  // The other one looks like it, but does not keep away from its like: it is of another workload.
  Problem foreign = problem({apart(pods(1, 500), kHost)}, {});
  foreign.nodes = {node("a", 4000, 8)};
  foreign.bound = {{0, "default", {{"app", "web"}}, {}, 1}};
  Problem twice = foreign;
  twice.bound.push_back({0, "default", {{"app", "api"}}, {}, 1});
  twice.pods[0].shape.affinity.push_back(one_per_node("api"));
  Problem tainted_nodes = problem({pods(3, 2000)}, {});
  tainted_nodes.nodes = {node("db", 4000, 8), node("sick", 8000, 8)};
  tainted_nodes.nodes[0].taints = {{"dedicated", "db", model::TaintEffect::kNoSchedule}};
  tainted_nodes.nodes[1].taints = {
      {"node.kubernetes.io/not-ready", "", model::TaintEffect::kNoExecute}};
  Problem ports = problem({with_port(pods(5, 500), 80)}, {});
  ports.pods[0].shape.owner_kind = model::OwnerKind::kReplicaSet;
  ports.nodes = few_nodes.nodes;
  expect_help({
      {"a limit beside others' long lists of types",
       problem({pods(1, 7000), pods(1, 500)}, {small}), "limit",
       "cpu 7 → 4; nodepool default: limit cpu 6 → 8"},
      {"a limit used up by a long list of types",
       problem({pods(1, 3500), pods(2, 3500, 2)}, {limited(pool(), "cpu", 8000, 0)}), "limit",
       "nodepool default: limit cpu 8 → 12"},
      {"a limit for all that wait", problem({pods(5, 3500)}, {small}), "limit",
       "nodepool default: limit cpu 6 → 20"},
      {"room on nodes", nodes_only, "no_pool", "cpu 5 → 4"},
      {"no room to speak of", no_room, "no_pool", ""},
      {"taints of nodes", tainted_nodes, "no_pool", "toleration for dedicated=db:NoSchedule"},
      {"within the limit", problem({pods(1, 4100)}, {small}), "limit",
       "cpu 4.1 → 4; nodepool default: limit cpu 6 → 8"},
      {"more replicas than zones", problem({apart(pods(5, 500), kZone)}), "topology",
       "pod anti-affinity over topology.kubernetes.io/zone required → preferred; replicas 5 → 2"},
      {"more replicas than nodes", few_nodes, "no_pool",
       "pod anti-affinity over kubernetes.io/hostname required → preferred; replicas 5 → 3"},
      {"one of which runs", running, "no_pool",
       "pod anti-affinity over kubernetes.io/hostname required → preferred; replicas 4 → 3"},
      {"one of which is another workload's", foreign, "no_pool",
       "pod anti-affinity over kubernetes.io/hostname required → preferred"},
      {"two terms over one key are one line", twice, "no_pool",
       "pod anti-affinity over kubernetes.io/hostname required → preferred"},
      {"more ports than nodes", ports, "no_pool", "host ports → none; replicas 5 → 3"},
  });
}

TEST(Reasons, KnowNoWordsOfOurOwn) {
  Problem asked = problem({selecting(pods(1, 500), kHost, "n")});
  Problem near_itself = problem({apart(near(pods(2, 500), "web"), kHost)});
  near_itself.pods[0].shape.affinity.push_back(near(pods(1, 1), "web").shape.affinity[0]);
  for (const Problem& one : {asked, near_itself}) {
    const Answer answer = solve(one);
    ASSERT_EQ(1u, answer.unplaced.size());
    for (const Relaxation& help : answer.unplaced[0].relaxations)
      EXPECT_EQ(std::string::npos, help.text.find("new node")) << help.text;
    EXPECT_EQ(std::string::npos, answer.unplaced[0].message.find("placeholder"))
        << answer.unplaced[0].message;
  }
}

// What is told of a label is true as it stands: the values are those that help, and where only
// nodes without the label do, not to demand it is told.
TEST(Reasons, OfALabelThatNotAllHave) {
  const Pool plain = pool("plain");
  const Pool blue = requiring(pool("blue"), in("team", {"blue"}));
  const PodGroup asks = selecting(pods(1, 500), "team", "red");
  const PodGroup rules_out =
      with_term(pods(1, 500), {{"team", model::Operator::kNotIn, {"blue"}, 0}});
  Problem green = problem({asks}, {});
  green.nodes = {node("n", 8000, 16)};
  green.nodes[0].labels = {{"team", "green"}};
  const std::vector<std::pair<Problem, std::string>> cases = {
      {problem({asks}, {blue, plain}), "node selector team red → any of blue"},
      {problem({asks}, {limited(blue, "nodes", 0), plain}),
       "node selector team red → not demanded"},
      {problem({rules_out}, {blue}), "node affinity team NotIn [blue] → any of blue"},
      {problem({rules_out}, {blue, limited(plain, "nodes", 0)}),
       "node affinity team NotIn [blue] → not demanded; nodepool plain: limit nodes 0 → 1"},
      {green, "node selector team red → any of green"},
  };
  for (const auto& [asked, told] : cases) {
    const Answer answer = solve(asked);
    ASSERT_EQ(1u, answer.unplaced.size()) << told;
    EXPECT_EQ(told, relaxations_text(answer.unplaced[0]));
  }
}

// What one demand rules out is a matter of the whole catalogue, whatever else the pool demands, and
// whether the pool or the pod demands it.
TEST(Reasons, CountEachDemandAlone) {
  const Pool one_type = requiring(pool(), in(std::string(model::kInstanceTypeLabel), {"m2"}));
  const Pool one_zone = requiring(one_type, in(kZone, {"b"}));
  PodGroup in_a_or_z = with_volume_in(pods(1, 9000), "a");
  in_a_or_z.volumes[0].topology.push_back({in(kZone, {"z"})});
  const PodGroup daemon =
      selecting(with_port(pods(1, 100), 80), std::string(model::kInstanceTypeLabel), "m1");
  const std::vector<std::pair<Problem, std::string>> cases = {
      {problem({pods(1, 9000)}, {one_zone}), "nodepool: " + kZone + " In [b] 0 of 4, 8 of 12\n"},
      {problem({selecting(pods(1, 9000), kZone, "b")}, {one_type}),
       "\n" + kZone + " In [b] 0 of 4, 8 of 12\n"},
      {problem({selecting(pods(1, 500), kZone, "a")}, {one_zone}),
       "\n" + kZone + " In [a] 0 of 4, 4 of 12\n"},
      {problem({in_a_or_z}, {one_zone}), "\nvolumes 0 of 4, 4 of 12\n"},
      {under(daemon, problem({with_port(pods(1, 9000), 80)})), "\nhost ports 1 of 4, 3 of 12\n"},
  };
  for (const auto& [asked, told] : cases) {
    Problem one = asked;
    std::vector<InstanceType> types = machines();
    const std::string_view places[] = {model::kZoneLabel};
    fit_to_pool(one.pools[0].pool, places, types);
    one.pools[0].types = types;
    const Answer answer = solve(one);
    ASSERT_EQ(1u, answer.unplaced.size()) << told;
    const std::string removals = "\n" + removals_text(answer.unplaced[0].reasons[0]);
    EXPECT_NE(std::string::npos, removals.find(told)) << removals;
  }
  const Answer crowded =
      solve(problem({with_affinity(app(pods(3, 500), "web"), kZone, "web", true)}));
  ASSERT_EQ(1u, crowded.unplaced.size());
  EXPECT_EQ("pod anti-affinity over " + kZone + " 4 of 4, 12 of 12\n",
            removals_text(crowded.unplaced[0].reasons[0]));
}

// With a pool that could do it, were it not for that one thing, both pools are told of.
TEST(Reasons, OfEveryPool) {
  const Answer answer =
      solve(problem({selecting(pods(1, 500), "team", "blue")},
                    {weighing(tainted(requiring(pool("blue"), in("team", {"blue"})), "team"), 10),
                     pool("plain")}));
  ASSERT_EQ(1u, answer.unplaced.size());
  ASSERT_EQ(2u, answer.unplaced[0].reasons.size());
  EXPECT_EQ("blue", answer.unplaced[0].reasons[0].pool);
  EXPECT_EQ("taint", answer.unplaced[0].reasons[0].code);
  EXPECT_EQ("plain", answer.unplaced[0].reasons[1].pool);
  EXPECT_EQ("requirements", answer.unplaced[0].reasons[1].code);
  EXPECT_EQ("toleration for team=yes:NoSchedule; node selector team blue → not demanded",
            relaxations_text(answer.unplaced[0]));
}

}  // namespace
}  // namespace karst::scheduling::test
