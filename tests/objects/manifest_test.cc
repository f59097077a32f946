// Manifests: what Kubernetes refuses is refused with its place; what people apply is read.
#include "objects/manifest.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "objects/schema.h"

namespace karst::objects {
namespace {

std::string data_path(const std::string& name) {
  return std::string(KARST_SOURCE_DIR) + "/tests/objects/data/" + name;
}

std::string read(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Row {
  std::string name;  // "BASE: what"
  std::string fragment;
  std::string wanted;
};

// "=== BASE: NAME", then the fragment, then what is said, each line after ">>> ".
std::vector<Row> rows_of(const std::string& text) {
  std::vector<Row> rows;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("=== "))
      rows.push_back({line.substr(4), "", ""});
    else if (line.starts_with(">>> "))
      rows.back().wanted += line.substr(4) + "\n";
    else
      rows.back().fragment += line + "\n";
  }
  return rows;
}

struct Base {
  std::string text;
  std::size_t indent;
};

const std::map<std::string, Base>& bases() {
  static const std::map<std::string, Base> all = {
      {"raw", {"", 0}},
      {"pod",
       {"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers: [{name: c, image: "
        "i}]\n",
        2}},
      {"container",
       {"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - name: c\n"
        "    image: i\n",
        4}},
      {"deployment",
       {"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n  template:\n"
        "    metadata: {labels: {app: d}}\n    spec: {containers: [{name: c, image: i}]}\n",
        2}},
      {"pool",
       {"apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: p}\nspec:\n  template:\n"
        "    spec:\n      requirements: []\n"
        "      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}\n",
        2}},
      {"template",
       {"apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: p}\nspec:\n  template:\n"
        "    spec:\n"
        "      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}\n",
        6}},
      {"class",
       {"apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: c}\nspec:\n"
        "  subnetSelectorTerms: [{id: subnet-1}]\n  securityGroupSelectorTerms: [{id: sg-1}]\n",
        2}}};
  return all;
}

std::string assembled(const Row& row) {
  const auto base = bases().find(row.name.substr(0, row.name.find(':')));
  EXPECT_NE(base, bases().end()) << row.name;
  std::string text = base->second.text;
  std::istringstream in(row.fragment);
  for (std::string line; std::getline(in, line);)
    text += std::string(base->second.indent, ' ') + line + "\n";
  return text;
}

std::string said(const std::string& text) {
  const auto manifests = read_manifests({{"f.yaml", text}});
  return manifests ? "" : manifests.error().message + "\n";
}

TEST(Manifests, RefuseWhatKubernetesRefuses) {
  const std::string path = data_path("refused.txt");
  std::vector<Row> rows = rows_of(read(path));
  EXPECT_GE(rows.size(), 100u);
  std::string golden;
  for (const Row& row : rows) {
    const std::string message = said(assembled(row));
    EXPECT_FALSE(message.empty()) << row.name << " is taken";
    EXPECT_EQ(message, row.wanted) << row.name;
    golden += "=== " + row.name + "\n" + row.fragment;
    std::istringstream in(message);
    for (std::string line; std::getline(in, line);) golden += ">>> " + line + "\n";
  }
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(path) << golden;
}

TEST(Manifests, TakeWhatKubernetesTakes) {
  const std::vector<Row> rows = rows_of(read(data_path("accepted.txt")));
  EXPECT_GE(rows.size(), 20u);
  for (const Row& row : rows) EXPECT_EQ(said(assembled(row)), "") << row.name;
}

TEST(Manifests, SamplesAreReadOrRefusedForTheirReason) {
  struct Case {
    const char* file;
    const char* said;
  };
  const Case cases[] = {
      {"cce_node_class", ""},
      {"deployment_cpu_burst", ""},
      {"node_pool_cce", ""},
      {"deployment_inflate", ""},
      {"deployment_windows", ""},
      {"config_map", ""},
      {"fragment", "f.yaml:1: apiVersion: is missing; it must be there\n"},
      {"provisioner_key_twice", "f.yaml:22: the key \"requirements\" comes twice; remove one\n"},
      {"provisioner_legacy",
       "f.yaml:2: Provisioner default: no matches for kind \"Provisioner\" in version "
       "\"karpenter.sh/v1alpha5\"; expected karpenter.sh/v1 NodePool\n"},
  };
  for (const Case& test : cases)
    EXPECT_EQ(said(read(data_path(std::string("samples/") + test.file + ".yaml"))), test.said)
        << test.file;
}

TEST(Manifests, ObjectsAsAServerPrintsThemAreRead) {
  for (const char* name : {"pod_full", "daemon_set", "node", "node_class", "node_pool"})
    EXPECT_EQ(said(read(data_path(std::string(name) + ".json"))), "") << name;
}

TEST(Manifests, WorkloadsCountAsTheirPods) {
  const auto manifests = read_manifests({{"w.yaml", read(data_path("workloads.yaml"))}});
  ASSERT_TRUE(manifests) << manifests.error().message;
  ASSERT_EQ(manifests->pods.size(), 4u);
  const ManifestPods& web = manifests->pods[0];
  EXPECT_EQ(web.kind, "Deployment");
  EXPECT_EQ(web.count, 3);
  EXPECT_EQ(web.pod.pod.namespace_name, "shop");
  EXPECT_EQ(web.pod.pod.name, "web");
  EXPECT_EQ(web.pod.pod.labels, (model::Labels{{"app", "web"}}));
  EXPECT_EQ(web.pod.shape.requests.cpu_millis, 250);
  EXPECT_EQ(web.pod.shape.owner_kind, model::OwnerKind::kReplicaSet);
  const ManifestPods& job = manifests->pods[1];
  EXPECT_EQ(job.count, 3);  // no more than are still to be completed
  EXPECT_EQ(job.pod.pod.namespace_name, "default");
  EXPECT_EQ(model::label_value(job.pod.pod.labels, "job-name"), "count");
  const ManifestPods& set = manifests->pods[2];
  EXPECT_EQ(set.count, 1);
  ASSERT_EQ(set.templates.size(), 1u);
  EXPECT_EQ(set.templates[0].name, "data");
  EXPECT_EQ(set.templates[0].storage_class, "fast");
  const ManifestPods& pod = manifests->pods[3];
  EXPECT_EQ(pod.pod.pod.name, "once-");
  EXPECT_EQ(pod.owner_kind, "Job");
  EXPECT_EQ(pod.owner_name, "count");
  ASSERT_EQ(pod.ephemeral.size(), 1u);
  EXPECT_EQ(pod.ephemeral[0].name, "tmp");
  EXPECT_EQ(pod.ephemeral[0].storage_class, std::nullopt);
  EXPECT_EQ(manifests->ignored, (std::map<std::string, std::int64_t>{{"Service", 1}}));
}

TEST(Manifests, JobsThatHaveEndedMakeNoPods) {
  struct Case {
    const char* name;
    const char* job;  // what follows its template
    std::int64_t pods;
  };
  const Case cases[] = {
      {"nothing said", "", 1},
      {"in parallel", "  parallelism: 3\n", 3},
      {"suspended", "  parallelism: 3\n  suspend: true\n", 0},
      {"some done", "  parallelism: 3\n  completions: 5\nstatus: {succeeded: 4}\n", 1},
      {"complete", "  parallelism: 3\nstatus: {conditions: [{type: Complete, status: 'True'}]}\n",
       0},
      {"failed", "status: {conditions: [{type: Failed, status: 'True'}]}\n", 0},
      {"about to fail", "status: {conditions: [{type: FailureTarget, status: 'True'}]}\n", 0},
      {"not failed", "status: {conditions: [{type: Failed, status: 'False'}]}\n", 1},
      {"another condition", "status: {conditions: [{type: Suspended, status: 'True'}]}\n", 1},
  };
  for (const Case& test : cases) {
    const auto manifests = read_manifests(
        {{"j.yaml", std::string("apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec:\n"
                                "  template: {spec: {restartPolicy: Never, containers: [{name: c, "
                                "image: i}]}}\n") +
                        test.job}});
    ASSERT_TRUE(manifests) << test.name << ": " << manifests.error().message;
    ASSERT_EQ(manifests->pods.size(), 1u) << test.name;
    EXPECT_EQ(manifests->pods[0].count, test.pods) << test.name;
  }
}

TEST(Manifests, JsonObjectsOneAfterAnotherKeepTheirLines) {
  const std::string good =
      R"({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}})";
  const std::string bad =
      "{\n\"apiVersion\": \"v1\",\n\"kind\": \"Namespace\",\n\"metadata\": {\"name\": \"b\",\n"
      "\"labels\": {\"a\": 5\n}}}";
  EXPECT_EQ(
      said(good + "\n" + bad + "\n"),
      "f.yaml:6: Namespace b: metadata.labels.a: expected a string, found the number 5; put it in "
      "quotes\n");
}

TEST(Manifests, ElementsOfATypedListHaveItsKind) {
  const auto manifests = read_manifests({{"f.json", R"({"kind": "NamespaceList", "apiVersion": "v1",
      "metadata": {"resourceVersion": "5"}, "items": [
      {"metadata": {"name": "a"}}, {"metadata": {"name": "b"}}]})"}});
  ASSERT_TRUE(manifests) << manifests.error().message;
  EXPECT_EQ(manifests->namespaces.size(), 2u);
  EXPECT_EQ(
      said(R"({"kind": "PodList", "apiVersion": "v1", "items": [{"metadata": {"name": "a"}}]})"),
      "f.yaml:1: Pod a: spec: is missing; it must be there\n");
}

TEST(Manifests, EveryFileIsReadAndEveryErrorIsTold) {
  const auto manifests = read_manifests({{"a.yaml", "kind: Pod\n"},
                                         {"b.yaml", "a: [\n"},
                                         {"c.yaml", "apiVersion: v1\nkind: Secret\n"}});
  ASSERT_FALSE(manifests);
  EXPECT_EQ(manifests.error().message,
            "2 errors:\n  a.yaml:1: apiVersion: is missing; it must be there\n"
            "  b.yaml:2: did not find expected node content");
}

TEST(Manifests, WhatIsToldIsBounded) {
  std::string many;
  for (int i = 0; i < 100; ++i) many += "kind: Pod\n---\n";
  const std::string message = said(many);
  EXPECT_TRUE(message.starts_with("100 errors:\n")) << message;
  EXPECT_TRUE(message.ends_with("\n  and 80 more\n")) << message;
}

TEST(Manifests, HostileTextsAreRefusedQuickly) {
  struct Case {
    const char* name;
    std::string text;
    const char* part;
  };
  std::string deep_json = "{\"a\":";
  for (int i = 0; i < 200; ++i) deep_json += "[";
  std::string lists =
      "{kind: List, items: [{kind: List, items: [{kind: List, items: [{kind: List, "
      "items: [{kind: List, items: []}]}]}]}]}";
  std::string pods =
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n"
      "  replicas: 2000000000\n  selector: {matchLabels: {a: b}}\n"
      "  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}\n";
  const Case cases[] = {
      {"deep YAML", "a: " + std::string(5'000, '['), "nested deeper than 100"},
      {"deep JSON", deep_json, "nested deeper than 100"},
      {"a tab", "a:\n\tb: c\n", "f.yaml:2: found character that cannot start any token"},
      {"lists in lists", "---\n" + lists, "lists within lists"},
      {"too many pods", pods, "more than 10000000 pods together"},
      {"too large", std::string(kManifestBytesMax + 1, ' '), "bytes of YAML, expected at most"},
      {"no text", std::string("\0\1\2", 3), "f.yaml:"},
      {"bytes that are no text", "a: b\nc: d\xff\n", "f.yaml:2: invalid leading UTF-8 octet"},
      {"bytes that are no text, as JSON", "{\"a\": 1,\n\"b\": \"\xff\"}\n", "f.yaml:2: not JSON"},
  };
  for (const Case& test : cases) {
    const std::string message = said(test.text);
    EXPECT_NE(message.find(test.part), std::string::npos) << test.name << ": " << message;
  }
}

// What begins like JSON may be YAML's flow style, or JSON between "---" lines.
TEST(Manifests, ReadsFlowStyleAndDocumentsInIt) {
  const std::string flow =
      "{apiVersion: v1, kind: Namespace, metadata: {name: a}}\n---\n"
      "{apiVersion: v1, kind: Namespace, metadata: {name: b}}\n";
  const std::string json =
      "{\"apiVersion\": \"v1\", \"kind\": \"Namespace\", \"metadata\": {\"name\": \"a\"}}\n---\n"
      "{\"apiVersion\": \"v1\", \"kind\": \"Namespace\", \"metadata\": {\"name\": \"b\"}}\n---\n";
  for (const std::string& text : {flow, json}) {
    const auto all = read_manifests({{"f.yaml", text}});
    ASSERT_TRUE(all.has_value()) << all.error().message;
    EXPECT_EQ(all->namespaces.size(), 2u);
  }
  EXPECT_NE(said("{\"apiVersion\": \"v1\" \"kind\": \"Namespace\"}").find("f.yaml:1: not JSON"),
            std::string::npos);
}

// Kubernetes takes them; no machine has as much.
TEST(Manifests, TakesQuantitiesBeyondAnyMachine) {
  for (const char* quantity : {"1E", "8Ei", "\"1e30\"", "99999999999999999999"}) {
    const auto all = read_manifests(
        {{"f.yaml",
          std::string("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: "
                      "[{name: a, image: i, resources: {requests: {cpu: ") +
              quantity + ", memory: " + quantity +
              "}}}, {name: b, image: i, resources: {requests: {memory: " + quantity + "}}}]}\n"}});
    ASSERT_TRUE(all.has_value()) << all.error().message;
    EXPECT_EQ(all->pods[0].pod.shape.requests.cpu_millis, kAmountMax) << quantity;
    EXPECT_EQ(all->pods[0].pod.shape.requests.memory_bytes, kAmountMax) << quantity;
  }
}

}  // namespace
}  // namespace karst::objects
