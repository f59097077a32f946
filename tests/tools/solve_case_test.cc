// `karst solve CASE.json` for questions about disruption: the table, the JSON, and what is refused.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/tools/solve_fixture.h"

namespace karst::tests {
namespace {

// Two nodes of a machine with one CPU, a pod of 400m on each.
std::string disruption_case() {
  const auto node = [](const std::string& name, const std::string& pod) {
    return R"({"name": ")" + name + R"(", "node": {"metadata": {"name": ")" + name +
           R"("}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}},
      "nodeClaim": {"metadata": {"name": "c"}, "spec": {}, "status": {"conditions": [
        {"type": "Consolidatable", "status": "True"}]}},
      "pods": [")" +
           pod + R"("],
      "state": {"managed": true, "initialized": true, "labels": {
        "karpenter.sh/nodepool": "p", "node.kubernetes.io/instance-type": "small",
        "karpenter.sh/capacity-type": "on-demand", "topology.kubernetes.io/zone": "a"},
        "capacity": {"cpu": "1", "pods": "9"}, "available": {"cpu": "600m", "pods": "8"}}})";
  };
  const auto pod = [](const std::string& name, const std::string& on) {
    return R"({"metadata": {"name": ")" + name +
           R"(", "namespace": "default"}, "spec": {"nodeName": ")" + on +
           R"(", "containers": [{"name": "c", "resources": {"requests": {"cpu": "400m"}}}]}})";
  };
  return R"({"name": "two", "kind": "disruption", "now": "2026-11-21T09:14:47Z",
    "methodOrder": ["Drift", "SingleNodeConsolidation"], "options": {},
    "podDisruptionBudgets": [],
    "nodePools": [{"metadata": {"name": "p"}, "spec": {"disruption": {"budgets": [{"nodes": "1"}],
      "consolidateAfter": "0s"}, "template": {"spec": {}}},
      "status": {"conditions": [{"type": "Ready", "status": "True"}]}}],
    "instanceTypes": {"p": [{"name": "small", "requirements": [],
      "capacity": {"cpu": "1", "pods": "9"},
      "allocatable": {"cpu": "1", "pods": "9"}, "offerings": [{"price": 0.05, "available": true,
      "requirements": [
        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
        {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a"]}]}]}]},
    "nodes": [)" +
         node("n1", "default/x") + "," + node("n2", "default/y") +
         R"(], "pods": {"pending": [], "bound": [)" + pod("x", "n1") + "," + pod("y", "n2") + "]}}";
}

std::string written(const std::string& text) {
  const std::string path = testing::TempDir() + "/solve_case.json";
  std::ofstream(path) << text;
  return path;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(SolveCase, SaysWhichNodeGoesAndWhyTheOtherStays) {
  const Ended ended = karst({"solve", written(disruption_case())});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.out.find("delete by SingleNodeConsolidation"), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find("n1"), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find("Another node goes first"), std::string::npos) << ended.out;
  EXPECT_EQ(ended.out.find("has not drifted"), std::string::npos) << ended.out;
}

TEST(SolveCase, WritesTheAnswerForPrograms) {
  const std::string out = testing::TempDir() + "/solve_case_answer.json";
  const Ended ended = karst({"solve", written(disruption_case()), "-o", out});
  ASSERT_EQ(ended.code, 0) << ended.err;
  std::ifstream file(out);
  const Json answer = Json::parse(file, nullptr, false);
  ASSERT_FALSE(answer.is_discarded());
  EXPECT_EQ(answer["decision"], "delete");
  EXPECT_EQ(answer["commands"][0]["candidates"], Json::array({"n1"}));
  EXPECT_EQ(answer["steps"][0]["refused"][0]["code"], "not_drifted");
  EXPECT_EQ(answer["steps"][1]["candidates"][0]["price"], 0.05);
}

TEST(SolveCase, AsksAboutOneNode) {
  const std::string text =
      replaced(disruption_case(), "\"disruption\", \"now\"", "\"candidate\", \"now\"");
  Ended ended = karst({"solve", written(text)});
  EXPECT_EQ(ended.out, "n1 may be disrupted\n") << ended.err;
  ended = karst({"solve", written(replaced(text, "\"managed\": true", "\"managed\": false"))});
  EXPECT_EQ(ended.out, "n1 stays: Node isn't managed by karpenter\n") << ended.err;
}

TEST(SolveCase, RefusesWhatItDoesNotKnow) {
  struct Case {
    const char* from;
    const char* to;
    const char* want;
  };
  const std::vector<Case> cases = {
      {"\"disruption\", \"now\"", "\"tidying\", \"now\"", "\"tidying\" is not known"},
      {"[\"Drift\", ", "[\"Drfit\", ", "methodOrder: \"Drfit\" is no method"},
      {"\"methodOrder\": [\"Drift\", \"SingleNodeConsolidation\"]",
       "\"onlyMethod\": \"Drift\", \"candidates\": [\"n3\"]",
       "candidates: there is no node \"n3\""},
      {"\"options\": {}", "\"options\": {\"preferencePolicy\": \"Some\"}",
       "options.preferencePolicy: \"Some\" is not known: expected Respect or Ignore"},
      {"{\"name\": \"n2\"", "{\"name\": \"n1\"", "nodes[1]: \"n1\" comes twice"},
      {"{\"metadata\": {\"name\": \"y\"", "{\"metadata\": {\"name\": \"x\"",
       "\"default/x\" comes twice"},
  };
  for (const Case& row : cases) {
    const Ended ended = karst({"solve", written(replaced(disruption_case(), row.from, row.to))});
    EXPECT_EQ(ended.code, 2) << row.to;
    EXPECT_NE(ended.err.find(row.want), std::string::npos) << ended.err;
    EXPECT_EQ(ended.out, "") << row.to;
  }
}

// A file of something else is no question without pods.
TEST(SolveCase, WhatIsNoCaseIsRefused) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"{}", "pods is missing"},
      {R"({"dependencies": {"left-pad": "1"}})", "pods is missing"},
      {R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}})",
       "manifests are read with -f FILE"},
      {"apiVersion: v1\nkind: Pod\n", "manifests are read with -f FILE"},
  };
  for (const auto& [text, want] : cases) {
    const Ended ended = karst({"solve", written(text)});
    EXPECT_EQ(ended.code, 2) << text;
    EXPECT_NE(ended.err.find(want), std::string::npos) << ended.err;
    EXPECT_EQ(ended.out, "") << text;
  }
}

TEST(SolveCase, SaysWhyAPodIsLeftOverAndThatThereIsNone) {
  Ended ended = karst({"solve", written(R"({"pods": {"pending": []}})")});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out, "No pods wait for a place.\n");
  ended = karst({"solve", written(R"({"pods": {"pending": [{"metadata": {"name": "x"},
      "spec": {"resourceClaims": [{"name": "gpu"}], "containers": [{"name": "c"}]}}]}})")});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.out.find("Dynamic Resource Allocation"), std::string::npos) << ended.out;
}

TEST(SolveCase, SaysWhatIsBoughtAndItsPrice) {
  const Ended ended = karst({"solve", written(R"({"pods": {"pending": [{"metadata": {"name": "x"},
      "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "400m"}}}]}}]},
    "nodePools": [{"metadata": {"name": "p"}, "spec": {"template": {"spec": {}}},
      "status": {"conditions": [{"type": "Ready", "status": "True"}]}}],
    "instanceTypes": {"p": [{"name": "small", "requirements": [],
      "capacity": {"cpu": "1", "pods": "9"}, "allocatable": {"cpu": "1", "pods": "9"},
      "offerings": [{"price": 0.05, "available": true, "requirements": [
        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
        {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a"]}]}]}]}})")});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.out.find("\n1 new node, 0.0500 dollars an hour at the cheapest\n"),
            std::string::npos)
      << ended.out;
}

// A case of one node in zone a, with `object` as its Node object, one pod bound there and pending
// ones; no pools.
std::string one_node_case(const std::string& object, const std::string& bound_spec,
                          const std::string& pending_spec) {
  const auto pod = [](const std::string& name, const std::string& spec) {
    return R"({"metadata": {"name": ")" + name +
           R"(", "namespace": "default", "labels": {"app": "web"}}, "spec": {)" + spec +
           R"("containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}})";
  };
  return R"({"name": "one", "options": {}, "nodePools": [], "instanceTypes": {}, "daemonSets": [],
    "nodes": [{"name": "n", "node": )" +
         object + R"(, "state": {"hostName": "n",
      "labels": {"topology.kubernetes.io/zone": "a"}, "taints": [], "initialized": false,
      "available": {"cpu": "3", "pods": "9"}}}],
    "pods": {"bound": [)" +
         pod("b", R"("nodeName": "n", )" + bound_spec) + R"(], "pending": [)" +
         pod("x", pending_spec) + "]}}";
}

// A startup taint keeps nobody off a node in the long run, but a spread that honors taints does not
// count who is there meanwhile.
TEST(SolveCase, TaintsOfTheNodeObjectAreForSpreads) {
  const std::string labels = R"("metadata": {"name": "n",
    "labels": {"kubernetes.io/hostname": "n", "topology.kubernetes.io/zone": "a"}})";
  const std::string spread = R"("topologySpreadConstraints": [{"maxSkew": 1, "minDomains": 2,
    "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule",
    "nodeTaintsPolicy": "Honor", "labelSelector": {"matchLabels": {"app": "web"}}}], )";
  for (const bool is_starting : {false, true}) {
    const std::string spec =
        is_starting ? R"(, "spec": {"taints": [{"key": "cni", "effect": "NoSchedule"}]})" : "";
    const Ended ended =
        karst({"solve", written(one_node_case("{" + labels + spec + "}", "", spread))});
    EXPECT_EQ(ended.out.find("not placed") == std::string::npos, is_starting) << ended.out;
  }
}

// A node without the label of its host is no domain that a bound pod's anti-affinity could go by.
TEST(SolveCase, HostsWithoutTheirLabelKeepNobodyAway) {
  const std::string anti = R"("affinity": {"podAntiAffinity": {
    "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "kubernetes.io/hostname",
      "labelSelector": {"matchLabels": {"app": "web"}}}]}}, )";
  for (const bool is_named : {false, true}) {
    const std::string labels = is_named ? R"("kubernetes.io/hostname": "n")" : "";
    const Ended ended = karst(
        {"solve", written(one_node_case(
                      R"({"metadata": {"name": "n", "labels": {)" + labels + "}}}", anti, ""))});
    EXPECT_EQ(ended.out.find("not placed") != std::string::npos, is_named) << ended.out;
  }
}

TEST(SolveCase, AnAnswerThatCannotBeWrittenIsNoBadInput) {
  const std::string question = written(disruption_case());
  for (const auto& [out, why] :
       {std::pair("/dev/full", "No space left on device"), {"/dev/null/x", "Not a directory"}}) {
    const Ended ended = karst({"solve", question, "-o", out});
    EXPECT_EQ(ended.code, 4) << out;
    EXPECT_NE(ended.err.find(std::string(out) + ": could not be written: " + why),
              std::string::npos)
        << ended.err;
  }
}

TEST(SolveCase, AFolderIsToldApart) {
  const TempFolder folder;
  const Ended ended = karst({"solve", folder / ""});
  EXPECT_EQ(ended.code, 2);
  EXPECT_NE(ended.err.find("it must be a file"), std::string::npos) << ended.err;
}

TEST(SolveCase, AQuestionWithoutItsPartsIsRefused) {
  const std::string parts =
      R"("now": "2026-11-21T09:14:47Z", "nodePools": [], "nodes": [],
      "podDisruptionBudgets": [], )";
  const std::vector<std::pair<std::string, const char*>> cases = {
      {R"("kind": "disruption")", "now is missing"},
      {R"("kind": "candidate", )" + parts + R"("pods": {"pending": []})", "pods: bound is missing"},
      {R"("kind": "disruption", )" + parts + R"("pods": {"pending": [], "bound": []})",
       "methodOrder: is missing: expected a list of StaticDrift, "},
      {R"("kind": "candidate", )" + parts + R"("pods": {"pending": [], "bound": []})",
       "nodes: none: the question is about the first of them"}};
  for (const auto& [kind, want] : cases) {
    const Ended ended = karst({"solve", written("{\"name\": \"d\", " + kind + "}")});
    EXPECT_EQ(ended.code, 2) << kind;
    EXPECT_NE(ended.err.find(want), std::string::npos) << ended.err;
    EXPECT_EQ(ended.out, "") << kind;
  }
}

}  // namespace
}  // namespace karst::tests
