// What manifests mean to `karst solve -f`: owners, node classes, claims, buffers, volumes.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/tools/solve_fixture.h"

namespace karst::tests {
namespace {

TEST(Solve, WhatIsInTheFilesAlreadyIsNotCountedAgain) {
  const std::string owned =
      "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: web-1, ownerReferences: "
      "[{apiVersion: "
      "apps/v1, kind: Deployment, name: web, uid: u, controller: true}]}\nspec:\n  replicas: 3\n"
      "  selector: {matchLabels: {app: web}}\n  template: {metadata: {labels: {app: web}}, spec: " +
      asks("{cpu: 1}") + "}\n---\n";
  const auto pod = [](const std::string& name, const std::string& node) {
    return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
           ", labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: "
           "web-1, uid: u, controller: true}]}\nspec: {" +
           node + "containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}\n---\n";
  };
  const std::string node =
      "apiVersion: v1\nkind: Node\nmetadata: {name: old}\nspec: {unschedulable: true}\nstatus: "
      "{allocatable: {cpu: 4, memory: 8Gi, pods: 10}}\n---\n";
  const Json report = solved(kPool + deployment("web", 3, asks("{cpu: 1}")) + owned + node +
                             pod("web-1-a", "nodeName: old, ") + pod("web-1-b", ""));
  const auto all = places(report);
  // Three are wanted: one runs on a cordoned node, one waits, one is still to be made.
  EXPECT_EQ(report["totals"]["podsOnNewNodes"], 2);
  ASSERT_EQ(all.size(), 1u);  // the Deployment's, all of them
  EXPECT_EQ(all.begin()->first, "web");
  EXPECT_EQ(report["newNodes"][0]["pods"][0]["kind"], "Deployment");
}

TEST(Solve, NodeClassesPoolsAndOverlaysDecideWhatThereIs) {
  const std::string node_class =
      "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: default}\nspec:\n"
      "  role: r\n  amiSelectorTerms: [{alias: al2023@latest}]\n"
      "  subnetSelectorTerms: [{id: subnet-1}]\n  securityGroupSelectorTerms: [{id: sg-1}]\n";
  const Json crowded = solved(kPool + node_class + "  kubelet: {maxPods: 2}\n---\n" +
                              deployment("web", 6, asks("{cpu: 10m}")));
  EXPECT_EQ(crowded["totals"]["newNodes"], 3);

  const Json dear =
      solved(kPool + deployment("web", 1, asks("{cpu: 1500m, memory: 2Gi}")) +
             "apiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: gift}\nspec:\n"
             "  requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: "
             "[m5.4xlarge]}]\n"
             "  price: \"0.001\"\n---\n");
  EXPECT_EQ(dear["newNodes"][0]["instanceType"], "m5.4xlarge");
  EXPECT_NEAR(dear["totals"]["pricePerHour"].get<double>(), 0.001, 1e-12);

  const Json zone_id = solved(
      kPool +
      deployment("web", 1,
                 "{nodeSelector: {topology.k8s.aws/zone-id: use1-az4}, containers: [{name: c, "
                 "image: i}]}"));
  EXPECT_EQ(zone_id["newNodes"][0]["zone"], "us-east-1d");

  const Json gpu = solved(
      kPool +
      deployment("ml", 1,
                 "{containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]}"));
  ASSERT_EQ(gpu["newNodes"].size(), 1u);
  EXPECT_TRUE(gpu["newNodes"][0]["instanceType"].get<std::string>().starts_with("g"));
}

TEST(Solve, PortsOfTheHostsNetworkAreHostPorts) {
  const auto ports = [](const char* host_network, const char* list) {
    return std::string("{hostNetwork: ") + host_network +
           ", containers: [{name: c, image: i, ports: [" + list + "]}]}";
  };
  struct Case {
    const char* name;
    std::string pod;
    int nodes;
  };
  const Case cases[] = {
      {"not said, and so the container's", ports("true", "{containerPort: 7070}"), 3},
      {"said", ports("true", "{containerPort: 7070, hostPort: 7070}"), 3},
      {"a network of its own", ports("false", "{containerPort: 7070}"), 1},
  };
  for (const Case& test : cases)
    EXPECT_EQ(solved(kPool + deployment("proxy", 3, test.pod))["totals"]["newNodes"], test.nodes)
        << test.name;
}

TEST(Solve, ReservationsOfANodeClassAreUsedFirstAndOnce) {
  const std::string node_class =
      "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: default}\nspec:\n"
      "  role: r\n  amiSelectorTerms: [{alias: al2023@latest}]\n"
      "  subnetSelectorTerms: [{id: subnet-1}]\n  securityGroupSelectorTerms: [{id: sg-1}]\n"
      "status:\n  capacityReservations:\n"
      "  - {id: cr-1, instanceType: m5.4xlarge, availabilityZone: us-east-1b, ownerID: "
      "\"123456789012\",\n     instanceMatchCriteria: targeted, reservationType: default, state: "
      "active";
  std::string pool = kPool;
  pool.replace(pool.find("[on-demand]"), 11, "[on-demand, reserved]");
  const std::string web = deployment("web", 3, asks("{cpu: 10}"));
  struct Case {
    const char* name;
    std::string end;
    int reserved;
  };
  const Case cases[] = {{"two left", ", availableInstanceCount: 2}\n---\n", 2},
                        {"not said", "}\n---\n", 1},
                        {"none left", ", availableInstanceCount: 0}\n---\n", 0}};
  for (const Case& test : cases) {
    const Json report = solved(pool + node_class + test.end + web);
    int reserved = 0;
    for (const Json& node : report["newNodes"]) {
      if (node["capacityType"] != "reserved") continue;
      ++reserved;
      EXPECT_EQ(node["instanceType"], "m5.4xlarge") << test.name;
      EXPECT_EQ(node["zone"], "us-east-1b") << test.name;
      EXPECT_EQ(node["reservations"], Json::array({"cr-1"})) << test.name;
    }
    EXPECT_EQ(reserved, test.reserved) << test.name;
    EXPECT_EQ(report["totals"]["podsLeftOver"], 0) << test.name;
  }
  EXPECT_EQ(solve(pool + node_class + ", availableInstanceCount: many}\n").code, 2);
  pool.replace(pool.find("[on-demand, reserved]"), 21, "[reserved]");
  const Json short_of_one = solved(pool + node_class + cases[0].end + web);
  EXPECT_EQ(short_of_one["totals"]["podsLeftOver"], 1);
  EXPECT_NE(short_of_one.dump().find("could not be reserved"), std::string::npos);
  EXPECT_EQ(short_of_one.dump().find("host ports"), std::string::npos);
}

TEST(Solve, APoolAsksForLabelsThatItsCloudHas) {
  std::string pool = kPool;
  pool.replace(pool.find("[{key"), 1,
               "[{key: karpenter.k8s.aws/instance-catgory, operator: In, values: [m]}, ");
  const Ended ended = solve(pool + deployment("web", 1, asks("{cpu: 1}")));
  EXPECT_EQ(ended.code, 2);
  EXPECT_NE(ended.err.find("did you mean karpenter.k8s.aws/instance-category?"), std::string::npos)
      << ended.err;
  EXPECT_NE(
      ended.err.find(
          "all.yaml:8: NodePool general: spec.template.spec.requirements[0].key: label domain"),
      std::string::npos)
      << ended.err;
}

TEST(Solve, APoolOfKwokToo) {
  std::string pool = kPool;
  pool.replace(pool.find("{group"), 61,
               "{group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}");
  EXPECT_EQ(solve(pool + deployment("web", 1, asks("{cpu: 1}"))).code, 0);
  pool.replace(pool.find("[{key"), 1,
               "[{key: karpenter.kwok.sh/instance-famly, operator: In, values: [m]}, ");
  const Ended ended = solve(pool + deployment("web", 1, asks("{cpu: 1}")));
  EXPECT_EQ(ended.code, 2);
  EXPECT_NE(ended.err.find("did you mean karpenter.kwok.sh/instance-family?"), std::string::npos)
      << ended.err;
}

// A pool for others, with a taint, is in every zone; theirs is in two.
TEST(Solve, ZonesOfAPoolThatRefusesThePodsDoNotHoldThemUp) {
  std::string general = kPool;
  general.replace(general.find("[{key"), 1,
                  "[{key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a, "
                  "us-east-1b]}, ");
  std::string gpu = kPool;
  gpu.replace(gpu.find("general"), 7, "gpu");
  gpu.replace(gpu.find("nodeClassRef"), 0,
              "taints: [{key: nvidia.com/gpu, effect: NoSchedule}]\n      ");
  const Json report = solved(
      general + gpu +
      deployment("web", 6,
                 "{topologySpreadConstraints: [{maxSkew: 1, topologyKey: "
                 "topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: "
                 "{matchLabels: {app: web}}}], containers: [{name: c, image: i, resources: "
                 "{requests: {cpu: 1}}}]}"));
  EXPECT_EQ(report["totals"]["podsLeftOver"], 0) << report["leftOver"].dump();
}

TEST(Solve, NamesCannotSteerATerminal) {
  const Ended ended = solve(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, image: c}], "
      "\"\\e[31mred\\u0085\": 1}\n");
  EXPECT_EQ(ended.code, 2);
  EXPECT_NE(ended.err.find("\\x1b[31mred\\x85"), std::string::npos) << ended.err;
  EXPECT_EQ(ended.err.find('\x1b'), std::string::npos);
}

TEST(Solve, APoolBuysInItsZonesOnly) {
  // us-east-1e has no m7i.
  std::string pool = kPool;
  pool.replace(pool.find("[{key"), 1,
               "[{key: topology.kubernetes.io/zone, operator: In, values: [us-east-1e]}, ");
  const Json report =
      solved(pool + deployment("any", 1, asks("{cpu: 1500m}")) +
             deployment("m7i", 1,
                        "{nodeSelector: {node.kubernetes.io/instance-type: m7i.large}, "
                        "containers: [{name: c, image: i}]}"));
  const auto where = places(report);
  EXPECT_EQ(where.at("any"), (std::map<std::string, int>{{"new-1", 1}}));
  EXPECT_EQ(where.at("m7i"), (std::map<std::string, int>{{"", 1}}));
  ASSERT_EQ(report["newNodes"].size(), 1U);
  EXPECT_EQ(report["newNodes"][0]["zone"], "us-east-1e");
}

TEST(Solve, ClaimsOnTheirWayAndLimitsCount) {
  const std::string coming =
      "apiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: general-x, labels: "
      "{karpenter.sh/nodepool: general}}\nspec:\n  requirements: [{key: "
      "node.kubernetes.io/instance-type, operator: In, values: [m5.xlarge]}]\n  nodeClassRef: "
      "{group: "
      "karpenter.k8s.aws, kind: EC2NodeClass, name: default}\n---\n";
  const Json report = solved(kPool + coming + deployment("web", 3, asks("{cpu: 1}")));
  EXPECT_EQ(report["totals"]["newNodes"], 0);
  EXPECT_EQ(places(report).at("web").at("general-x"), 3);

  std::string limited = kPool;
  limited.insert(limited.find("  template:"), "  limits: {cpu: 2}\n");
  const Json short_of = solved(limited + deployment("web", 3, asks("{cpu: 1500m}")));
  EXPECT_EQ(short_of["totals"]["newNodes"], 1);
  EXPECT_EQ(short_of["totals"]["podsLeftOver"], 2);
}

TEST(Solve, BuffersAskForRoomThatStaysFree) {
  const std::string head = "apiVersion: autoscaling.x-k8s.io/v1beta1\nkind: CapacityBuffer\n";
  const std::string made =
      "apiVersion: v1\nkind: PodTemplate\nmetadata: {name: chunk}\ntemplate: {spec: " +
      asks("{cpu: 500m}") + "}\n---\n";
  const std::string web = deployment("web", 10, asks("{cpu: 100m}"));
  struct Case {
    const char* spec;
    int count;
  };
  const Case cases[] = {
      {"{podTemplateRef: {name: chunk}, replicas: 3}", 3},
      {"{podTemplateRef: {name: chunk}, limits: {cpu: 2}}", 4},
      {"{podTemplateRef: {name: chunk}, replicas: 9, limits: {cpu: 2}}", 4},
      {"{scalableRef: {apiGroup: apps, kind: Deployment, name: web}, percentage: 25}", 3},
      {"{scalableRef: {apiGroup: apps, kind: Deployment, name: web}, percentage: 1, replicas: 2}",
       2},
      {"{scalableRef: {apiGroup: apps, kind: Deployment, name: gone}, replicas: 2}", 0},
      {"{podTemplateRef: {name: chunk}, replicas: 3, provisioningStrategy: other.example/x}", 0},
  };
  for (const Case& test : cases) {
    const Json report = solved(kPool + made + web + head +
                               "metadata: {name: spare}\nspec: " + test.spec + "\n---\n");
    int count = 0;
    auto all = places(report);
    for (const auto& [node, pods] : all["spare"]) count += pods;
    EXPECT_EQ(count, test.count) << test.spec;
  }
}

TEST(Solve, HigherPrioritiesGoFirstWhereRoomIsShort) {
  std::string limited = kPool;
  limited.insert(limited.find("  template:"), "  limits: {cpu: 2}\n");
  const auto with_class = [](const std::string& name, const std::string& priority) {
    return deployment(
        name, 1,
        "{priorityClassName: " + priority +
            ", containers: [{name: c, image: i, resources: {requests: {cpu: 1500m}}}]}");
  };
  const std::string high =
      "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: "
      "1000\n---\n";
  const Json report =
      solved(limited + with_class("a-low", "low") + high + with_class("b-high", "high"));
  EXPECT_EQ(places(report).at("a-low").count(""), 1u);
  EXPECT_EQ(places(report).at("b-high").count(""), 0u);
  const Ended ended = solve(limited + with_class("a-low", "low") + high);
  EXPECT_NE(ended.err.find("PriorityClass low is not in the files: reckoned as 0"),
            std::string::npos);
}

// A node with room for 1 cpu: half of it free for pods, or taken by what runs or will run there.
TEST(Solve, WhatRunsOnANodeTakesItsRoomOnce) {
  const std::string node =
      "apiVersion: v1\nkind: Node\nmetadata: {name: old}\nstatus: {allocatable: {cpu: 1, memory: "
      "8Gi, "
      "pods: 10}}\n---\n";
  const std::string agent =
      "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent}\nspec:\n  selector: "
      "{matchLabels: "
      "{app: agent}}\n  template: {metadata: {labels: {app: agent}}, spec: " +
      asks("{cpu: 500m}") + "}\n---\n";
  const auto bound = [](const std::string& name, const std::string& owner,
                        const std::string& spec) {
    return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", labels: {app: x}" + owner +
           "}\nspec: {nodeName: old, " + spec + "}\n---\n";
  };
  const std::string of_agent =
      ", ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: u, controller: "
      "true}]";
  const std::string half = "containers: [{name: c, image: i, resources: {requests: {cpu: 500m}}}]";
  const std::string port =
      "containers: [{name: c, image: i, ports: [{containerPort: 80, hostPort: 80}]}]";
  const auto ended = [&](const std::string& name) {
    return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + "}\nspec: {nodeName: old, " +
           half + "}\nstatus: {phase: Succeeded}\n---\n";
  };
  struct Case {
    const char* name;
    std::string manifests;
    bool on_old;
  };
  const Case cases[] = {
      {"nothing there", "", true},
      {"a daemon will come", agent, true},
      {"the daemon runs already", agent + bound("agent-1", of_agent, half), true},
      {"the daemon and a pod", agent + bound("agent-1", of_agent, half) + bound("p", "", half),
       false},
      {"a daemon will come beside a pod", agent + bound("p", "", half), false},
      {"pods that have ended", ended("p") + ended("q"), true},
      {"the port is taken", bound("p", "", port), false},
  };
  for (const Case& test : cases) {
    const bool ports = std::string(test.name).find("port") != std::string::npos;
    const Json report = solved(kPool + node + test.manifests +
                               deployment("web", 1, "{" + (ports ? port : half) + "}"));
    EXPECT_EQ(places(report).at("web").count("old"), test.on_old ? 1u : 0u) << test.name;
  }
}

TEST(Solve, NodesTakeAsManyVolumesAsTheirDriverSays) {
  const std::string node =
      "apiVersion: v1\nkind: Node\nmetadata: {name: old, labels: {topology.kubernetes.io/zone: "
      "us-east-1a}}\nstatus: {allocatable: {cpu: 8, memory: 8Gi, pods: 10}}\n---\n";
  const auto csi = [](int count) {
    return "apiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: old}\nspec: {drivers: "
           "[{name: "
           "ebs.csi.aws.com, nodeID: i, allocatable: {count: " +
           std::to_string(count) + "}}]}\n---\n";
  };
  const std::string storage =
      "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: gp3}\nprovisioner: "
      "kubernetes.io/aws-ebs\nvolumeBindingMode: WaitForFirstConsumer\n---\n";
  const std::string set =
      "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\nspec:\n  replicas: 3\n  "
      "selector: "
      "{matchLabels: {app: db}}\n  template: {metadata: {labels: {app: db}}, spec: " +
      asks("{}") +
      "}\n  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], "
      "storageClassName: gp3, resources: {requests: {storage: 1Gi}}}}]\n---\n";
  for (const int count : {1, 2, 3}) {
    const Json report = solved(kPool + node + csi(count) + storage + set);
    EXPECT_EQ(places(report).at("db").at("old"), count);
  }
}

TEST(Solve, VolumesThatCannotBeAreSaid) {
  const auto claim = [](const std::string& name, const std::string& spec) {
    return "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: " + name +
           "}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}" + spec +
           "}\n---\n";
  };
  const std::string classes =
      "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: now}\nprovisioner: "
      "p\n---\n"
      "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: later}\nprovisioner: p\n"
      "volumeBindingMode: WaitForFirstConsumer\nallowedTopologies: [{matchLabelExpressions: [{key: "
      "topology.kubernetes.io/zone, values: [us-east-1c]}]}]\n---\n"
      "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: other}\nspec: {accessModes: "
      "[ReadWriteOnce], capacity: {storage: 1Gi}, nfs: {server: s, path: /}}\n---\n";
  const auto mounts = [](const std::string& name) {
    return deployment(
        "on-" + name, 1,
        "{containers: [{name: c, image: i}], volumes: [{name: v, persistentVolumeClaim: "
        "{claimName: " +
            name + "}}]}");
  };
  const Json report = solved(
      kPool + classes + claim("immediate", ", storageClassName: now") +
      claim("topology", ", storageClassName: later") + claim("none", ", storageClassName: gone") +
      claim("bound", ", volumeName: lost") + claim("plain", "") + mounts("immediate") +
      mounts("topology") + mounts("none") + mounts("bound") + mounts("plain") + mounts("absent"));
  std::map<std::string, std::string> why;
  for (const Json& pods : report["leftOver"]) why[pods["name"]] = pods["why"];
  EXPECT_EQ(why,
            (std::map<std::string, std::string>{
                {"on-absent", "persistentvolumeclaim \"default/absent\" is not in the files"},
                {"on-bound",
                 "persistentvolumeclaim \"default/bound\": persistentvolume \"lost\" is not in "
                 "the files"},
                {"on-immediate",
                 "persistentvolumeclaim \"default/immediate\": storageclass \"now\" binds "
                 "immediately: the claim must be bound first"},
                {"on-none",
                 "persistentvolumeclaim \"default/none\": storageclass \"gone\" is not in the "
                 "files"},
                {"on-plain",
                 "persistentvolumeclaim \"default/plain\": no storage class, and none is "
                 "the default"}}));
  ASSERT_EQ(report["newNodes"].size(), 1u);
  EXPECT_EQ(report["newNodes"][0]["zone"], "us-east-1c");
}

}  // namespace
}  // namespace karst::tests
