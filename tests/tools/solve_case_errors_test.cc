// What `karst solve CASE.json` refuses, and how it names the place.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/tools/solve_fixture.h"

namespace karst::tests {
namespace {

constexpr const char* kCase = R"({"formatVersion": 1, "name": "one",
  "options": {"maxInstanceTypes": 60},
  "nodePools": [{"metadata": {"name": "p"}, "spec": {
    "disruption": {"budgets": [{"nodes": "1", "reasons": ["Empty"]}]},
    "template": {"spec": {
      "taints": [{"key": "t", "effect": "PreferNoSchedule"}],
      "requirements": [{"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}]}}}}],
  "instanceTypes": {"p": [{"name": "small",
    "requirements": [{"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}],
    "capacity": {"cpu": "2", "pods": "9"}, "allocatable": {"cpu": "2", "pods": "9"},
    "offerings": [{"price": 0.05, "available": true, "requirements": [
      {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a"]}]}]}]},
  "nodes": [], "daemonSets": [],
  "pods": {"bound": [], "pending": [{"metadata": {"name": "x", "namespace": "default"}, "spec": {
    "tolerations": [{"key": "t", "operator": "Exists", "effect": "NoSchedule"}],
    "topologySpreadConstraints": [{"maxSkew": 1, "minDomains": 1, "topologyKey": "zone",
      "whenUnsatisfiable": "DoNotSchedule", "nodeAffinityPolicy": "Honor",
      "nodeTaintsPolicy": "Ignore", "labelSelector": {}}],
    "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}}]}})";

std::string replaced(const std::string& from, const std::string& to) {
  std::string text = kCase;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(SolveCaseErrors, NameTheFieldAndWhatWasExpected) {
  const std::string pod = "pods.pending[0].spec.";
  const std::string type = "instanceTypes.p[0].";
  struct Case {
    std::string from, to, want;
  };
  const std::vector<Case> cases = {
      {"\"formatVersion\": 1", "\"formatVersion\": 2", "formatVersion: 2 is not known: expected 1"},
      {"\"maxInstanceTypes\": 60", "\"maxInstanceTypes\": 0",
       "options.maxInstanceTypes: must be at least 1, found 0"},
      {"\"maxInstanceTypes\": 60", "\"preferencePolicy\": \"Some\"",
       "options.preferencePolicy: \"Some\" is not known: expected Respect or Ignore"},
      {"\"maxInstanceTypes\": 60", "\"minValuePolicy\": \"Strict\"",
       "options.minValuePolicy: unknown field; did you mean minValuesPolicy?"},
      {"\"nodes\": []", "\"nodes\": [], \"podd\": {}", "podd: unknown field; did you mean pods?"},
      {"\"bound\": []", "\"bound\": [], \"pendin\": []",
       "pods.pendin: unknown field; did you mean pending?"},
      {"\"nodes\": []", "\"nodes\": [], \"nodes\": []", "nodes: comes twice; remove one"},
      {"\"nodes\": []", "\"nodes\": {}", "nodes: expected a list"},
      {"\"bound\": []", "\"bound\": true", "pods.bound: expected a list"},
      {"\"instanceTypes\": {\"p\": [", "\"instanceTypes\": {\"p\": \"1f3a\", \"other\": [",
       "instanceTypes.p: expected a list"},
      {"\"instanceTypes\": {", "\"instanceTypes\": \"1f3a\", \"source\": {",
       "instanceTypes: expected an object"},
      {"\"cpu\": \"1\"", "\"cpu\": \"1\", \"cpu\": \"2\"",
       pod + "containers[0].resources.requests.cpu: comes twice; remove one"},
      {"\"tolerations\": [", "\"tolerationss\": [",
       pod + "tolerationss: unknown field; did you mean tolerations?"},
      {"\"labelSelector\"", "\"labelSelecter\"",
       pod + "topologySpreadConstraints[0].labelSelecter: unknown field; did you mean "
             "labelSelector?"},
      {"\"requests\"", "\"request\"",
       pod + "containers[0].resources.request: unknown field; did you mean requests?"},
      {"\"taints\"", "\"taint\"",
       "nodePools[0].spec.template.spec.taint: unknown field; did you mean taints?"},
      {"\"available\": true", "\"availble\": true",
       type + "offerings[0].availble: unknown field; did you mean available?"},
      {"\"reasons\": [\"Empty\"]", "\"reasons\": [\"Empty\", \"Boredom\"]",
       "nodePools[0].spec.disruption.budgets[0].reasons[1]: \"Boredom\" is not known: expected "
       "Underutilized, Empty or Drifted"},
      {"\"effect\": \"PreferNoSchedule\"", "\"effect\": \"Maybe\"",
       "nodePools[0].spec.template.spec.taints[0].effect: \"Maybe\" is not known: expected "
       "NoSchedule, PreferNoSchedule or NoExecute"},
      {"\"operator\": \"In\"", "\"operator\": \"Within\"",
       "nodePools[0].spec.template.spec.requirements[0].operator: \"Within\" is not known: "
       "expected "
       "In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte or Lte"},
      {"[{\"name\": \"small\",\n    \"requirements\": [{\"key\": \"kubernetes.io/arch\", "
       "\"operator\": \"In\"",
       "[{\"name\": \"small\",\n    \"requirements\": [{\"key\": \"kubernetes.io/arch\"",
       type + "requirements[0].operator: is missing: expected In, "},
      {"\"price\": 0.05", "\"price\": -1",
       type + "offerings[0].price: expected dollars per hour, 0 to 1000000000"},
      {"\"allocatable\": {\"cpu\": \"2\"", "\"allocatable\": {\"cpu\": \"two\"",
       type + "allocatable"},
      {"\"operator\": \"Exists\"", "\"operator\": \"Exist\"",
       pod + "tolerations[0].operator: \"Exist\" is not known: expected Equal or Exists"},
      {"\"effect\": \"NoSchedule\"", "\"effect\": \"NoScheduling\"",
       pod + "tolerations[0].effect: \"NoScheduling\" is not known: expected NoSchedule, "
             "PreferNoSchedule or NoExecute"},
      {"\"maxSkew\": 1", "\"maxSkew\": 0",
       pod + "topologySpreadConstraints[0].maxSkew: must be at least 1, found 0"},
      {"\"minDomains\": 1", "\"minDomains\": 0",
       pod + "topologySpreadConstraints[0].minDomains: must be at least 1, found 0"},
      {"\"DoNotSchedule\"", "\"Never\"",
       pod + "topologySpreadConstraints[0].whenUnsatisfiable: \"Never\" is not known: expected "
             "DoNotSchedule or ScheduleAnyway"},
      {"\"nodeAffinityPolicy\": \"Honor\"", "\"nodeAffinityPolicy\": \"Honour\"",
       pod + "topologySpreadConstraints[0].nodeAffinityPolicy: \"Honour\" is not known: expected "
             "Honor or Ignore"},
      {"\"nodeTaintsPolicy\": \"Ignore\"", "\"nodeTaintsPolicy\": \"Ignored\"",
       pod + "topologySpreadConstraints[0].nodeTaintsPolicy: \"Ignored\" is not known: expected "
             "Honor or Ignore"},
  };
  const TempFolder folder;
  const std::string path = folder / "case.json";
  write_file(path, kCase);
  const Ended good = karst({"solve", path});
  EXPECT_EQ(good.code, 0) << good.err;
  for (const Case& row : cases) {
    write_file(path, replaced(row.from, row.to));
    const Ended ended = karst({"solve", path});
    EXPECT_EQ(ended.code, 2) << row.to;
    EXPECT_EQ(ended.out, "") << row.to;
    EXPECT_EQ(ended.err.substr(0, 7 + path.size() + 2 + row.want.size()),
              "karst: " + path + ": " + row.want)
        << row.to;
  }
}

}  // namespace
}  // namespace karst::tests
