#include "objects/scheduler_config.h"

#include <gtest/gtest.h>

namespace karst::objects {
namespace {

std::string refusal_of(const std::string& text) {
  const auto read = read_scheduler_config("c.yaml", text);
  return read ? "" : read.error().message;
}

TEST(SchedulerConfig, IsReadStrictly) {
  const auto one = [](const std::string& more) {
    return "podTopologySpread:\n  defaultConstraints:\n  - maxSkew: 2\n    topologyKey: zone\n"
           "    whenUnsatisfiable: DoNotSchedule\n" +
           more;
  };
  const std::string at = "podTopologySpread.defaultConstraints";
  struct Case {
    const char* name;
    std::string text, want;
  };
  const Case cases[] = {
      {"good", one(""), ""},
      {"policies", one("    nodeTaintsPolicy: Honor\n    minDomains: 3\n"), ""},
      {"nothing", "", ""},
      {"nothing in it", "podTopologySpread: {}", ""},
      {"JSON", R"({"podTopologySpread": {"defaultConstraints": []}})", ""},
      {"no map", "- a", "c.yaml:1: expected podTopologySpread, found a list"},
      {"unknown", "podTopologySpred: {}",
       "c.yaml:1: podTopologySpred: unknown field; did you mean podTopologySpread?"},
      {"unknown below", one("    maxskew: 1\n"),
       "c.yaml:6: " + at + "[0].maxskew: unknown field; did you mean maxSkew?"},
      {"twice the key", one("    maxSkew: 1\n"),
       "c.yaml:6: the key \"maxSkew\" comes twice; remove one"},
      {"selector", one("    labelSelector: {matchLabels: {a: b}}\n"),
       "c.yaml:6: " + at +
           "[0].labelSelector: must not be given: which pods count is told from each pod's "
           "Services and owner"},
      {"label keys", one("    matchLabelKeys: [a]\n"),
       "c.yaml:6: " + at +
           "[0].matchLabelKeys: must not be given: which pods count is told from each pod's "
           "Services and owner"},
      {"skew",
       "podTopologySpread:\n  defaultConstraints:\n"
       "  - {maxSkew: 0, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}\n",
       "c.yaml:3: " + at + "[0].maxSkew: must be at least 1, found 0"},
      {"word",
       "podTopologySpread:\n  defaultConstraints:\n"
       "  - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: Never}\n",
       "c.yaml:3: " + at +
           "[0].whenUnsatisfiable: \"Never\" is not one of DoNotSchedule, ScheduleAnyway"},
      {"missing", "podTopologySpread:\n  defaultConstraints:\n  - {maxSkew: 1}\n",
       "2 errors:\n  c.yaml:3: " + at +
           "[0].topologyKey: is missing; it must be there\n  c.yaml:3: " + at +
           "[0].whenUnsatisfiable: is missing; it must be there"},
      {"the same again",
       one("  - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}\n"),
       "c.yaml:6: " + at + "[1]: the same topologyKey and whenUnsatisfiable are there twice"},
      {"two documents", "podTopologySpread: {}\n---\na: b\n",
       "c.yaml:3: expected one document, found another"},
  };
  for (const Case& test : cases) EXPECT_EQ(refusal_of(test.text), test.want) << test.name;
}

TEST(SchedulerConfig, EveryFieldCounts) {
  const auto spreads = read_scheduler_config(
      "c",
      "podTopologySpread: {defaultConstraints: [{maxSkew: 2, topologyKey: zone, "
      "whenUnsatisfiable: DoNotSchedule, minDomains: 3, nodeAffinityPolicy: Ignore, "
      "nodeTaintsPolicy: Honor}, {maxSkew: 1, topologyKey: host, whenUnsatisfiable: "
      "ScheduleAnyway}]}");
  ASSERT_TRUE(spreads) << spreads.error().message;
  ASSERT_EQ(spreads->size(), 2u);
  model::SpreadConstraint first;
  first.topology_key = "zone";
  first.max_skew = 2;
  first.min_domains = 3;
  first.ignore_node_affinity = first.honor_node_taints = true;
  EXPECT_EQ((*spreads)[0], first);
  EXPECT_TRUE((*spreads)[1].schedule_anyway);
}

TEST(SchedulerConfig, PodsOfARevisionAreSpreadTogether) {
  model::SpreadConstraint given;
  given.topology_key = "zone";
  struct Case {
    const char* name;
    model::OwnerKind owner;
    model::Labels labels;
    std::string key;  // that the pods share; empty: no spread
  };
  const Case cases[] = {
      {"Deployment",
       model::OwnerKind::kReplicaSet,
       {{"pod-template-hash", "5f"}},
       "pod-template-hash"},
      {"StatefulSet",
       model::OwnerKind::kStatefulSet,
       {{"controller-revision-hash", "db-1"}},
       "controller-revision-hash"},
      {"a ReplicaSet of nobody", model::OwnerKind::kReplicaSet, {{"app", "web"}}, ""},
      {"Job", model::OwnerKind::kJob, {{"controller-revision-hash", "x"}}, ""},
      {"nobody's", model::OwnerKind::kNone, {{"pod-template-hash", "5f"}}, ""},
  };
  for (const Case& test : cases) {
    model::PodShape shape;
    shape.owner_kind = test.owner;
    EXPECT_EQ(add_default_spread({given}, test.labels, shape), !test.key.empty()) << test.name;
    ASSERT_EQ(shape.spread.size(), test.key.empty() ? 0u : 1u) << test.name;
    for (const model::SpreadConstraint& spread : shape.spread)
      EXPECT_EQ(spread.match_label_keys, std::vector<std::string>{test.key});
  }
  model::PodShape own;
  own.owner_kind = model::OwnerKind::kReplicaSet;
  own.spread = {given};
  EXPECT_FALSE(add_default_spread({given}, {{"pod-template-hash", "5f"}}, own));
  EXPECT_EQ(own.spread.size(), 1u);
}

}  // namespace
}  // namespace karst::objects
