// Karpenter's settings as options of `karst solve -f`, and what claims on their way take of limits.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/tools/solve_fixture.h"

namespace karst::tests {
namespace {

Json solved_with(const std::string& manifests, const std::vector<std::string>& options) {
  std::vector<std::string> all = {"-o", "json"};
  all.insert(all.end(), options.begin(), options.end());
  const Ended ended = solve(manifests, all);
  EXPECT_EQ(ended.code, 0) << ended.err;
  return Json::parse(ended.out, nullptr, false);
}

std::string pool_with(const std::string& what, const std::string& before) {
  std::string pool = kPool;
  return pool.insert(pool.find(before), what);
}

TEST(SolvePolicies, MinValues) {
  const std::string pool = pool_with(
      "{key: node.kubernetes.io/instance-type, operator: In, values: [m5.large, m5.2xlarge], "
      "minValues: 2}, ",
      "{key: karpenter.sh/capacity-type");
  const std::string manifests = pool + deployment("web", 1, asks("{cpu: 4}"));
  for (const std::vector<std::string>& strict :
       {std::vector<std::string>{}, {"--min-values-policy", "Strict"}})
    EXPECT_EQ(solved_with(manifests, strict)["totals"]["podsLeftOver"], 1);
  const Json lowered = solved_with(manifests, {"--min-values-policy", "BestEffort"});
  ASSERT_EQ(lowered["newNodes"].size(), 1u);
  EXPECT_EQ(lowered["newNodes"][0]["instanceType"], "m5.2xlarge");
  EXPECT_EQ(lowered["newNodes"][0]["minValuesRelaxed"], true);
}

TEST(SolvePolicies, Preferences) {
  const std::string manifests =
      kPool + deployment("web", 1,
                         "{affinity: {nodeAffinity: "
                         "{preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, "
                         "preference: {matchExpressions: [{key: node.kubernetes.io/instance-type, "
                         "operator: In, values: [m5.4xlarge]}]}}]}}, containers: [{name: c, image: "
                         "i}]}");
  EXPECT_EQ(solved_with(manifests, {})["newNodes"][0]["instanceType"], "m5.4xlarge");
  EXPECT_EQ(
      solved_with(manifests, {"--preference-policy", "Respect"})["newNodes"][0]["instanceType"],
      "m5.4xlarge");
  EXPECT_NE(
      solved_with(manifests, {"--preference-policy", "Ignore"})["newNodes"][0]["instanceType"],
      "m5.4xlarge");
}

TEST(SolvePolicies, ReservationsThatAreUsedUp) {
  const std::string node_class =
      "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: default}\nspec:\n"
      "  role: r\n  amiSelectorTerms: [{alias: al2023@latest}]\n"
      "  subnetSelectorTerms: [{id: subnet-1}]\n  securityGroupSelectorTerms: [{id: sg-1}]\n"
      "status:\n  capacityReservations:\n"
      "  - {id: cr-1, availabilityZone: us-east-1a, instanceType: m5.xlarge, ownerID: "
      "\"123456789012\",\n     instanceMatchCriteria: targeted, reservationType: default, state: "
      "active, availableInstanceCount: 1}\n---\n";
  std::string pool = kPool;
  pool.replace(pool.find("[on-demand]"), 11, "[on-demand, reserved]");
  const std::string manifests = pool + node_class + deployment("web", 2, asks("{cpu: 3}"));
  const Json fallback = solved_with(manifests, {});
  EXPECT_EQ(fallback["newNodes"].size(), 2u);
  const Json strict = solved_with(manifests, {"--reserved-offering-mode", "Strict"});
  EXPECT_EQ(strict["newNodes"].size(), 1u);
  ASSERT_EQ(strict["leftOver"].size(), 1u);
  EXPECT_EQ(strict["leftOver"][0]["waitsForReservation"], true);
}

TEST(SolvePolicies, OtherWordsAreRefused) {
  for (const char* option :
       {"--preference-policy", "--min-values-policy", "--reserved-offering-mode"}) {
    const Ended ended = solve(kPool, {option, "Sometimes"});
    EXPECT_EQ(ended.code, 2);
    EXPECT_NE(ended.err.find(option), std::string::npos) << ended.err;
  }
  EXPECT_EQ(karst({"solve", "case.json", "--min-values-policy", "Strict"}).code, 2);
}

std::string claim_on_its_way(const std::string& spec) {
  return "apiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: general-x, labels: "
         "{karpenter.sh/nodepool: general}}\nspec:\n  nodeClassRef: {group: karpenter.k8s.aws, "
         "kind: EC2NodeClass, name: default}\n" +
         spec + "---\n";
}

// What is asked for is on its way beside them: only the limits may keep the pod waiting.
TEST(SolvePolicies, ClaimsWithoutAMachineYetTakeTheirPartOfTheLimits) {
  const auto of_types = [](const std::string& types) {
    return "  requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: " +
           types + "}]\n";
  };
  struct Case {
    const char* name;
    std::string limits;
    std::string claim;
    bool is_left;
  };
  const Case cases[] = {
      {"the largest of its types counts", "{cpu: 9}", of_types("[m5.large, m5.2xlarge]"), true},
      {"and no more", "{cpu: 16}", of_types("[m5.large, m5.2xlarge]"), false},
      {"its memory", "{memory: 33Gi}", of_types("[m5.large, m5.2xlarge]"), true},
      {"types that are too small for it do not", "{cpu: 12}",
       of_types("[m5.large, m5.2xlarge]") + "  resources: {requests: {cpu: 5}}\n", false},
      {"of types that nobody sells what it asks for", "{cpu: 9}",
       of_types("[x9.large]") + "  resources: {requests: {cpu: 8}}\n", true},
      {"with a machine that counts", "{cpu: 9}",
       of_types("[m5.large, m5.2xlarge]") + "status: {providerID: i-1, capacity: {cpu: 2}}\n",
       false},
  };
  const std::string web = deployment(
      "web", 1,
      "{nodeSelector: {node.kubernetes.io/instance-type: m5.large}, containers: [{name: c, image: "
      "i, resources: {requests: {cpu: 1}}}]}");
  for (const Case& test : cases) {
    const Json report = solved(pool_with("  limits: " + test.limits + "\n", "  template:") +
                               claim_on_its_way(test.claim) + web);
    EXPECT_EQ(report["totals"]["podsLeftOver"], test.is_left ? 1 : 0) << test.name << report;
  }
}

// Labels that are Karpenter's own: a new node has those that say it is up, and no other.
TEST(SolvePolicies, RestrictedLabels) {
  const std::string node =
      "apiVersion: v1\nkind: Node\nmetadata: {name: old, labels: {kubernetes.io/hostname: old, "
      "karpenter.sh/initialized: \"true\", karpenter.sh/registered: \"true\", karpenter.sh/team: "
      "a}}\nstatus: {allocatable: {cpu: 4, memory: 8Gi, pods: 10}}\n---\n";
  struct Case {
    std::string label;
    int left_without_node;
  };
  const Case cases[] = {{"kubernetes.io/hostname: old", 1},
                        {"karpenter.sh/initialized: \"true\"", 0},
                        {"karpenter.sh/registered: \"true\"", 0},
                        {"karpenter.sh/team: a", 1}};
  for (const Case& test : cases) {
    const std::string web =
        deployment("web", 1,
                   "{nodeSelector: {" + test.label +
                       "}, containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}");
    EXPECT_EQ(solved(kPool + web)["totals"]["podsLeftOver"], test.left_without_node) << test.label;
    const Json there = solved(kPool + node + web);
    EXPECT_EQ(there["totals"]["podsOnExistingNodes"], 1) << test.label << there;
    EXPECT_EQ(there["totals"]["newNodes"], 0) << test.label;
  }
  const std::string elsewhere = deployment(
      "web", 1,
      "{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
      "{nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: NotIn, "
      "values: [old]}]}]}}}, containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}");
  EXPECT_EQ(solved(kPool + node + elsewhere)["totals"]["podsOnNewNodes"], 1);
}

}  // namespace
}  // namespace karst::tests
