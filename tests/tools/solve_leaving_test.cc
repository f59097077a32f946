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

// A cordoned node takes nobody who does not tolerate it, but is there: its zone stays the emptiest.
// One that is being deleted will not be there.
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

std::string pod_on(const std::string& node, const std::string& name, const std::string& meta = "",
                   const std::string& spec = "") {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", labels: {app: " + name + "}" +
         meta + "}\nspec: {nodeName: " + node + spec +
         ", containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}\n---\n";
}

// Whoever tolerates it may be bound to a cordoned node: the kube-scheduler asks for no more.
TEST(Solve, ACordonedNodeTakesWhoeverTolerates) {
  struct Case {
    const char* name;
    std::string tolerations;
    bool is_taken;
  };
  const Case cases[] = {
      {"nothing", "[]", false},
      {"everything", "[{operator: Exists}]", true},
      {"just that", "[{key: node.kubernetes.io/unschedulable, operator: Exists}]", true},
      {"another effect",
       "[{key: node.kubernetes.io/unschedulable, operator: Exists, effect: NoExecute}]", false},
      {"another taint", "[{key: dedicated, operator: Exists}]", false},
  };
  for (const Case& test : cases)
    for (const char* taints :
         {"", ", taints: [{key: node.kubernetes.io/unschedulable, effect: NoSchedule}]"}) {
      const Json report = solved(
          node_in_zone("n1", "a", std::string("{unschedulable: true") + taints + "}") +
          deployment("web", 1,
                     "{tolerations: " + test.tolerations + ", containers: [{name: c, image: i}]}"));
      EXPECT_EQ(places(report).at("web").count("n1"), test.is_taken ? 1u : 0u) << test.name;
    }
}

// As a pass of the provisioner counts them; what runs there for the node alone does not move.
TEST(Solve, PodsOfANodeThatIsBeingDeletedGetAnotherPlace) {
  std::string leaving = node_in_zone("n1", "a");
  leaving.replace(leaving.find("{name: n1"), 9,
                  "{name: n1, deletionTimestamp: \"2026-11-22T00:00:00Z\"");
  const std::string of_daemon =
      ", ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: d, uid: u, controller: "
      "true}]";
  const std::string held = ", annotations: {karpenter.sh/do-not-disrupt: \"true\"}";
  const std::string gone = ", deletionTimestamp: \"2026-11-22T00:00:00Z\"";
  const Json report = solved(leaving + node_in_zone("n2", "a") + pod_on("n1", "web") +
                             pod_on("n2", "stays") + pod_on("n1", "agent", of_daemon) +
                             pod_on("n1", "held", held) + pod_on("n1", "ending", gone));
  EXPECT_EQ(report["totals"]["podsLeftOver"], 0);
  const auto all = places(report);
  ASSERT_EQ(all.size(), 1u) << report;
  EXPECT_EQ(all.at("web"), (std::map<std::string, int>{{"n2", 1}}));
}

// Who can never be evicted, as the budgets are written, needs no room elsewhere.
TEST(Solve, BudgetsThatAllowNoEvictionHoldPodsWhereTheyAre) {
  struct Case {
    const char* name;
    std::string budgets;  // of each PodDisruptionBudget over the pod, its spec but the selector
    std::string pod;
    bool moves;
  };
  const std::string tolerant = "tolerations: [{key: karpenter.sh/disrupted, operator: Exists}], ";
  const Case cases[] = {
      {"none", "", "", true},
      {"some may go", "maxUnavailable: 1", "", true},
      {"none may go", "maxUnavailable: 0", "", false},
      {"none of all may go", "maxUnavailable: 0%", "", false},
      {"all must be there", "minAvailable: 100%", "", false},
      {"two of them", "maxUnavailable: 1|maxUnavailable: 1", "", false},
      {"it is not evicted at all", "maxUnavailable: 0", tolerant, true},
      {"unready pods may always go", "maxUnavailable: 0, unhealthyPodEvictionPolicy: AlwaysAllow",
       "", true},
  };
  for (const Case& test : cases) {
    std::string all = node_in_zone("n1", "a");
    all.replace(all.find("{name: n1"), 9, "{name: n1, deletionTimestamp: \"2026-11-22T00:00:00Z\"");
    all += node_in_zone("n2", "a") +
           "apiVersion: v1\nkind: Pod\nmetadata: {name: web, labels: {app: web}}\nspec: {" +
           test.pod + "nodeName: n1, containers: [{name: c, image: i}]}\n---\n";
    std::istringstream budgets(test.budgets);
    for (std::string one; std::getline(budgets, one, '|');)
      all += "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b" +
             std::to_string(all.size()) + "}\nspec: {selector: {matchLabels: {app: web}}, " + one +
             "}\n---\n";
    EXPECT_EQ(places(solved(all)).count("web"), test.moves ? 1u : 0u) << test.name;
  }
}

// A node that comes up gets the labels that say so.
TEST(Solve, ClaimsOnTheirWayWillBeRegisteredAndInitialized) {
  const std::string coming =
      "apiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: general-x, labels: "
      "{karpenter.sh/nodepool: general}}\nspec:\n  requirements: [{key: "
      "node.kubernetes.io/instance-type, operator: In, values: [m5.xlarge]}]\n  nodeClassRef: "
      "{group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}\n---\n";
  for (const std::string label : {"karpenter.sh/initialized", "karpenter.sh/registered"}) {
    const Json wanted = solved(kPool + coming +
                               deployment("web", 1,
                                          "{nodeSelector: {" + label +
                                              ": \"true\"}, containers: [{name: "
                                              "c, image: i}]}"));
    EXPECT_EQ(places(wanted).at("web"), (std::map<std::string, int>{{"general-x", 1}})) << label;
    const Json unwanted = solved(
        kPool + coming +
        deployment("web", 1,
                   "{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                   "{nodeSelectorTerms: [{matchExpressions: [{key: " +
                       label +
                       ", operator: DoesNotExist}]}]}}}, containers: [{name: c, image: i}]}"));
    EXPECT_EQ(places(unwanted).at("web"), (std::map<std::string, int>{{"", 1}})) << label;
  }
}

std::string claim(const std::string& name, const std::string& mode, const std::string& more = "") {
  return "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: " + name +
         "}\nspec: {accessModes: [" + mode + "], resources: {requests: {storage: 1Gi}}" + more +
         "}\n---\n";
}

std::string mounting(const std::string& name) {
  return ", volumes: [{name: v, persistentVolumeClaim: {claimName: " + name + "}}]";
}

TEST(Solve, AClaimForOnePodIsUsedByOne) {
  const std::string set =
      deployment("web", 3, "{containers: [{name: c, image: i}]" + mounting("data") + "}");
  struct Case {
    const char* name;
    std::string mode;
    std::string there;
    int left;
  };
  std::string leaving = node_in_zone("gone", "a");
  leaving.replace(leaving.find("{name: gone"), 11,
                  "{name: gone, deletionTimestamp: \"2026-11-22T00:00:00Z\"");
  const Case cases[] = {
      {"many pods of a node", "ReadWriteOnce", "", 0},
      {"one pod", "ReadWriteOncePod", "", 2},
      {"which runs", "ReadWriteOncePod", pod_on("n1", "user", "", mounting("data")), 3},
      {"which moves", "ReadWriteOncePod", leaving + pod_on("gone", "user", "", mounting("data")),
       3},
  };
  for (const Case& test : cases) {
    const Json report =
        solved(node_in_zone("n1", "a") + claim("data", test.mode) + test.there + set);
    const auto all = places(report);
    EXPECT_EQ(all.at("web").contains("") ? all.at("web").at("") : 0, test.left) << test.name;
    const bool is_said =
        report.dump().find("is ReadWriteOncePod, and another pod uses it") != std::string::npos;
    EXPECT_EQ(is_said, test.left > 0) << report;
  }
}

// A disk of one machine can be reached there alone; of one that is gone nothing is demanded.
TEST(Solve, AVolumeOfAMachinesOwnDiskHoldsItsPodThere) {
  const auto volume = [](const std::string& host) {
    return "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: disk}\nspec:\n  capacity: "
           "{storage: 1Gi}\n  accessModes: [ReadWriteOnce]\n  local: {path: /mnt}\n  nodeAffinity: "
           "{required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, "
           "operator: In, values: [" +
           host + "]}]}]}}\n---\n";
  };
  const std::string rest =
      kPool + node_in_zone("n1", "a") + node_in_zone("n2", "a") +
      claim("data", "ReadWriteOnce", ", volumeName: disk") +
      deployment("web", 10,
                 "{containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]" +
                     mounting("data") + "}");
  const auto there = places(solved(rest + volume("n2")));
  EXPECT_EQ(there.at("web"), (std::map<std::string, int>{{"n2", 8}, {"", 2}}));
  const auto gone = places(solved(rest + volume("lost")));
  EXPECT_FALSE(gone.at("web").contains(""));
}

}  // namespace
}  // namespace karst::tests
