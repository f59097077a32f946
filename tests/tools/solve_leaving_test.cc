// `karst solve -f` where nodes and pods are on their way out.
#include "tests/tools/solve_fixture.h"

namespace karst::tests {
namespace {

std::string node_in_zone(const std::string& name, const std::string& zone,
                         const std::string& spec = "{}") {
  return "apiVersion: v1\nkind: Node\nmetadata: {name: " + name +
         ", labels: {kubernetes.io/hostname: " + name + ", topology.kubernetes.io/zone: " + zone +
         "}}\nspec: " + spec + "\nstatus: {allocatable: {cpu: 8, memory: 16Gi, pods: 50}}\n---\n";
}

std::string even_over_zones(const std::string& app) {
  return "{containers: [{name: c, image: i, resources: {requests: {cpu: 100m}}}], "
         "topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, "
         "whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: " +
         app + "}}}]}";
}

// They hold their room until they are gone, but the kube-scheduler spreads as if they were.
TEST(Solve, PodsOnTheirWayOutDoNotCountForSpreads) {
  std::string manifests = node_in_zone("n1", "a") + node_in_zone("n2", "b");
  for (const std::string name : {"old-1", "old-2"})
    manifests +=
        "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
        ", labels: {app: web}, deletionTimestamp: \"2026-11-22T00:00:00Z\", "
        "deletionGracePeriodSeconds: 30}\nspec: {nodeName: n1, containers: [{name: c, image: "
        "i}]}\n---\n";
  const Json report = solved(manifests + deployment("web", 2, even_over_zones("web")));
  EXPECT_EQ(places(report).at("web"), (std::map<std::string, int>{{"n1", 1}, {"n2", 1}}));
}

// A cordoned node takes nothing, but is there: its zone stays the emptiest. One that is being
// deleted will not be there.
TEST(Solve, TheZoneOfACordonedNodeCounts) {
  for (const bool deleted : {false, true}) {
    std::string held = node_in_zone("n2", "b", "{unschedulable: true}");
    if (deleted)
      held.replace(held.find("{name: n2"), 9,
                   "{name: n2, deletionTimestamp: \"2026-11-22T00:00:00Z\"");
    const Json report =
        solved(node_in_zone("n1", "a") + held + deployment("web", 4, even_over_zones("web")));
    EXPECT_EQ(places(report).at("web").at("n1"), deleted ? 4 : 1);
  }
}

}  // namespace
}  // namespace karst::tests
