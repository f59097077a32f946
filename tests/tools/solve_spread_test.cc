// `karst solve -f … --scheduler-config`: default topology spreads.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "tests/tools/solve_fixture.h"

namespace karst::tests {
namespace {

constexpr const char* kByZone =
    "podTopologySpread:\n  defaultConstraints:\n"
    "  - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: "
    "DoNotSchedule}\n";

std::string pods(int count, const std::string& spec) {
  std::string all;
  for (int i = 0; i < count; ++i)
    all += "apiVersion: v1\nkind: Pod\nmetadata: {name: p" + std::to_string(i) +
           ", labels: {app: web}}\nspec: " + spec + "\n---\n";
  return all;
}

std::string service(const std::string& space, const std::string& selector) {
  return "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: " + space +
         "}\nspec: {selector: " + selector + ", ports: [{port: 80}]}\n---\n";
}

TEST(SolveSpread, WhoIsSpreadByDefault) {
  const std::string spec = asks("{cpu: 100m}");
  const std::string own =
      "{topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, "
      "whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: none}}}], containers: "
      "[{name: c, image: i, resources: {requests: {cpu: 100m}}}]}";
  const std::string set =
      "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\nspec: {replicas: 3, "
      "serviceName: db, selector: {matchLabels: {app: db}}, template: {metadata: {labels: {app: "
      "db}}, spec: " +
      spec + "}}\n---\n";
  const std::string controller =
      "apiVersion: v1\nkind: ReplicationController\nmetadata: {name: rc}\nspec: {replicas: 3, "
      "template: {metadata: {labels: {app: rc}}, spec: " +
      spec + "}}\n---\n";
  const std::string job =
      "apiVersion: batch/v1\nkind: Job\nmetadata: {name: job}\nspec: {parallelism: 3, template: "
      "{metadata: {labels: {app: web}}, spec: {restartPolicy: Never, containers: [{name: c, image: "
      "i, resources: {requests: {cpu: 100m}}}]}}}\n---\n";
  struct Case {
    const char* name;
    std::string manifests;
    std::size_t zones;
  };
  const Case cases[] = {
      {"a Deployment, by its selector", deployment("web", 3, spec), 3},
      {"a StatefulSet", set, 3},
      {"a ReplicationController, by its template's labels", controller, 3},
      {"with a spread of their own", deployment("web", 3, own), 1},
      {"pods of nobody", pods(3, spec), 1},
      {"pods of a Service", pods(3, spec) + service("default", "{app: web}"), 3},
      {"of another namespace's Service", pods(3, spec) + service("shop", "{app: web}"), 1},
      {"of a Service for others", pods(3, spec) + service("default", "{app: db}"), 1},
      {"of a Service for all and none", pods(3, spec) + service("default", "{}"), 1},
      {"a Job has no say", job, 1},
      {"a Job of a Service", job + service("default", "{app: web}"), 3},
      {"two Deployments, each by itself",
       deployment("a", 1, spec) + deployment("b", 1, spec) + deployment("c", 1, spec), 1},
  };
  const TempFolder folder;
  write_file(folder / "scheduler.yaml", kByZone);
  for (const Case& test : cases) {
    const Ended ended = solve(kPool + test.manifests,
                              {"-o", "json", "--scheduler-config", folder / "scheduler.yaml"});
    ASSERT_EQ(ended.code, 0) << test.name << ended.err;
    const Json report = Json::parse(ended.out, nullptr, false);
    std::set<std::string> zones;
    for (const Json& node : report["newNodes"]) zones.insert(node["zone"].get<std::string>());
    EXPECT_EQ(zones.size(), test.zones) << test.name;
    EXPECT_EQ(report["totals"]["podsLeftOver"], 0) << test.name;
    EXPECT_EQ(ended.err.find("3 pods are not spread by default") != ended.err.npos,
              test.zones == 1 && test.manifests.find("Deployment") == test.manifests.npos)
        << test.name << ended.err;
  }
}

TEST(SolveSpread, ABadFileIsRefused) {
  const TempFolder folder;
  write_file(folder / "bad.yaml", "podTopologySpread: {defaultConstraint: []}\n");
  const Ended bad = solve(kPool + deployment("web", 1, asks("{cpu: 1}")),
                          {"--scheduler-config", folder / "bad.yaml"});
  EXPECT_EQ(bad.code, 2);
  EXPECT_EQ(bad.err, "karst: " + (folder / "bad.yaml") +
                         ":1: podTopologySpread.defaultConstraint: unknown field; did you mean "
                         "defaultConstraints?\n");
  EXPECT_EQ(solve(kPool, {"--scheduler-config", folder / "none.yaml"}).code, 2);
}

}  // namespace
}  // namespace karst::tests
