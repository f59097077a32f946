// `karst solve -f`: the dry run over plain manifests, as its users start it.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "tests/tools/solve_fixture.h"

namespace karst::tests {
namespace {

const std::string kShop = std::string(KARST_SOURCE_DIR) + "/tests/tools/data/shop";

TEST(Solve, AccountsForEveryPodOfAFolder) {
  const Ended ended = karst({"solve", "-f", kShop, "-o", "json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json report = Json::parse(ended.out, nullptr, false);
  ASSERT_FALSE(report.is_discarded()) << ended.out;
  const auto all = places(report);
  const auto sum = [&](const std::string& name) {
    int count = 0;
    for (const auto& [node, pods] : all.at(name)) count += pods;
    return count;
  };
  EXPECT_EQ(sum("web"), 12);
  EXPECT_EQ(sum("db"), 1);  // the other is on its node
  EXPECT_EQ(all.at("trainer"), (std::map<std::string, int>{{"", 2}}));
  EXPECT_FALSE(all.contains("agent"));
  EXPECT_FALSE(all.at("web").contains(""));

  // The volume is in us-east-1b; the spread holds over the zones, the existing node's too.
  std::map<std::string, int> zones = {
      {"us-east-1a", all.at("web").contains("ip-10-0-1-5") ? all.at("web").at("ip-10-0-1-5") : 0}};
  double price = 0;
  for (const Json& node : report["newNodes"]) {
    price += node["pricePerHour"].get<double>();
    EXPECT_EQ(node["daemons"]["cpu"], "50m");
    EXPECT_EQ(node["capacityType"], "on-demand");
    EXPECT_FALSE(node["instanceTypes"].empty());
    for (const Json& pods : node["pods"]) {
      if (pods["name"] == "web") zones[node["zone"]] += pods["count"].get<int>();
      if (pods["name"] == "db") {
        EXPECT_EQ(node["zone"], "us-east-1b");
      }
    }
  }
  EXPECT_EQ(zones.size(), 5u);
  int least = 100;
  int most = 0;
  for (const auto& [zone, count] : zones) {
    least = std::min(least, count);
    most = std::max(most, count);
  }
  EXPECT_LE(most - least, 1);
  EXPECT_NEAR(report["totals"]["pricePerHour"].get<double>(), price, 1e-9);
  EXPECT_NEAR(report["totals"]["pricePerMonth"].get<double>(), price * 730, 1e-6);
  EXPECT_EQ(report["totals"]["podsLeftOver"], 2);

  const Json& left = report["leftOver"][0];
  EXPECT_EQ(left["kind"], "Deployment");
  EXPECT_EQ(left["namespace"], "shop");
  EXPECT_NE(left["reasons"][0]["text"].get<std::string>().find("kubernetes.io/arch In [arm64]"),
            std::string::npos);
  EXPECT_NE(ended.err.find("left out, as they make no pods now: 1 Service"), std::string::npos);
}

TEST(Solve, PrintsATableForPeople) {
  const Ended ended =
      karst({"solve", "-f", kShop + "/pools.yaml", "-f", kShop + "/workloads.yaml"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  for (const char* part :
       {"NEW NODES\n", "NODE ", "$/HOUR", "us-east-1b", "\nTOTAL\n", " an hour, $",
        "1 daemon set takes cpu 0.05 and memory 64Mi of each new node", "2 pods left over",
        "\nLEFT OVER\nDeployment shop/trainer: 2 pods\n"})
    EXPECT_NE(ended.out.find(part), std::string::npos) << part << "\n" << ended.out;
  EXPECT_EQ(ended.out.find('\x1b'), std::string::npos);
  EXPECT_EQ(ended.out.find("EXISTING"), std::string::npos);
}

TEST(Solve, NothingToDoIsSaid) {
  const Ended ended = solve(kPool);
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out, "No pods wait for a place.\n");
}

TEST(Solve, RefusesWithThePlaceAndPrintsNothing) {
  struct Case {
    const char* name;
    std::string manifests;
    std::vector<std::string> more;
    const char* said;
  };
  const std::vector<Case> cases = {
      {"a misspelt field",
       kPool + deployment("web", 1, "{containers: [{name: c, image: i}], nodeSelctor: {a: b}}"),
       {},
       "all.yaml:19: Deployment web: spec.template.spec.nodeSelctor: unknown field; did you mean "
       "nodeSelector?\n"},
      {"nowhere to go",
       deployment("web", 1, asks("{}")),
       {},
       "karst: there is neither a NodePool nor a Node in the files"},
      {"a cloud without a catalogue",
       "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: p}\nspec: {template: {spec: "
       "{requirements: [], nodeClassRef: {group: karpenter.example, kind: MyNodeClass, name: "
       "d}}}}\n",
       {},
       ":1: NodePool p: spec.template.spec.nodeClassRef: there is no catalogue of instance types "
       "for MyNodeClass "
       "(karpenter.example); there are those of EC2NodeClass"},
      {"a node class that cannot be",
       std::string(kPool) +
           "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: "
           "default}\nspec:\n"
           "  role: r\n  amiFamily: AL2023\n  amiSelectorTerms: [{id: ami-1}]\n"
           "  subnetSelectorTerms: [{id: subnet-1}]\n  securityGroupSelectorTerms: [{id: sg-1}]\n"
           "  kubelet: {maxPods: -1}\n",
       {},
       ":11: EC2NodeClass default: spec.kubelet.maxPods: expected a whole number from 0"},
      {"another format", kPool, {"-o", "yaml"}, "karst: -o yaml: expected table or json with -f"},
      {"a file that is not there",
       kPool,
       {"-f", "/no/such/file.yaml"},
       "karst: /no/such/file.yaml: No such file or directory"},
      {"zones that are none",
       kPool,
       {"--zones", "nowhere"},
       "karst: --zones: zone \"nowhere\": expected one such as us-east-1a"},
      {"a case beside manifests", kPool, {"case.json"}, "excludes"},
  };
  for (const Case& test : cases) {
    const Ended ended = solve(test.manifests, test.more);
    EXPECT_EQ(ended.code, 2) << test.name;
    EXPECT_EQ(ended.out, "") << test.name;
    EXPECT_NE(ended.err.find(test.said), std::string::npos) << test.name << ": " << ended.err;
  }
  const TempFolder empty;
  EXPECT_NE(karst({"solve", "-f", empty / "."})
                .err.find("no *.yaml, *.yml or *.json file in this folder"),
            std::string::npos);
  EXPECT_EQ(karst({"solve"}).code, 2);
}

TEST(Solve, MachinesAreWhereTheFilesOrTheOptionSay) {
  struct Case {
    const char* name;
    std::string manifests;
    std::vector<std::string> more;
    std::set<std::string> zones;  // of new nodes
    const char* said;
  };
  const std::string spread =
      "{containers: [{name: c, image: i}], topologySpreadConstraints: [{maxSkew: 1, topologyKey: "
      "topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: "
      "{app: web}}}]}";
  const std::string web = kPool + deployment("web", 6, spread);
  const std::string node =
      "apiVersion: v1\nkind: Node\nmetadata: {name: full, labels: {topology.kubernetes.io/zone: "
      "eu-west-1b}}\nspec: {unschedulable: true}\n---\n";
  const std::vector<Case> cases = {
      {"two zones by the option",
       web,
       {"--zones", "us-east-1a,us-east-1c"},
       {"us-east-1a", "us-east-1c"},
       "prices are those of us-east-1"},
      {"another region by a node",
       web + node,
       {},
       {"eu-west-1a", "eu-west-1b", "eu-west-1c"},
       "karst: the files are of eu-west-1: its machines count as sold in eu-west-1a, eu-west-1b, "
       "eu-west-1c; --zones names others\n"},
      {"the option counts before the files",
       web + node,
       {"--zones", "eu-west-1b"},
       {"eu-west-1b"},
       "prices are those of us-east-1"},
  };
  for (const Case& test : cases) {
    std::vector<std::string> more = test.more;
    more.insert(more.end(), {"-o", "json"});
    const Ended ended = solve(test.manifests, more);
    ASSERT_EQ(ended.code, 0) << test.name << ended.err;
    EXPECT_NE(ended.err.find(test.said), std::string::npos) << test.name << ": " << ended.err;
    std::set<std::string> zones;
    const Json report = Json::parse(ended.out, nullptr, false);
    for (const Json& one : report["newNodes"]) zones.insert(one["zone"]);
    EXPECT_EQ(zones, test.zones) << test.name;
  }
  const Ended both = solve(web + node +
                           deployment("other", 1,
                                      "{nodeSelector: {topology.kubernetes.io/region: "
                                      "us-west-2}, containers: [{name: c, image: i}]}"));
  EXPECT_EQ(both.code, 2);
  EXPECT_NE(
      both.err.find("karst: the files name zones of eu-west-1 and of us-west-2; say with --zones"),
      std::string::npos)
      << both.err;
}

TEST(Solve, ReadsStdinAndTheKwokCatalogue) {
  const TempFolder folder;
  const std::string path = folder / "pool.json";
  write_file(path,
             R"({"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{"name":"k"},"spec":
             {"template":{"spec":{"requirements":[],"nodeClassRef":{"group":"karpenter.kwok.sh",
             "kind":"KWOKNodeClass","name":"default"}}}}})");
  const std::string pods = folder / "pods.yaml";
  write_file(pods, deployment("web", 2, asks("{cpu: 100m}")));
  const Ended ended = karst({"solve", "-f", path, "-f", pods, "--output", "json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json report = Json::parse(ended.out, nullptr, false);
  EXPECT_EQ(report["newNodes"].size(), 1u);
  EXPECT_TRUE(report["newNodes"][0]["zone"].get<std::string>().starts_with("test-zone-"));
  // What stdin is here holds nothing: that is no manifest, and no error.
  EXPECT_EQ(karst({"solve", "-f", path, "-f", "-"}).out, "No pods wait for a place.\n");
}

}  // namespace
}  // namespace karst::tests
