// The spec of an EC2NodeClass: what is read, what is refused, and what its hash covers.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "providers/aws/node_class_spec.h"

namespace karst::providers::aws {
namespace {

using nlohmann::json;

json minimal() {
  return json::parse(R"({
    "amiSelectorTerms": [{"alias": "al2023@latest"}],
    "subnetSelectorTerms": [{"tags": {"karpenter.sh/discovery": "demo"}}],
    "securityGroupSelectorTerms": [{"id": "sg-1"}, {"name": "nodes"}],
    "role": "node"})");
}

NodeClassSpec read(const json& spec) {
  auto read = read_node_class_spec(spec.dump());
  EXPECT_TRUE(read) << (read ? "" : read.error().message);
  return read ? *read : NodeClassSpec();
}

TEST(AwsNodeClass, EveryFieldIsRead) {
  json object = minimal();
  object.merge_patch(json::parse(R"({
    "amiSelectorTerms": [{"name": "a-*", "owner": "123456789012"}, {"ssmParameter": "/my/ami"}],
    "amiFamily": "Bottlerocket",
    "capacityReservationSelectorTerms": [{"ownerID": "123456789012",
                                          "instanceMatchCriteria": "targeted",
                                          "tags": {"a": "*"}}],
    "placementGroupSelector": {"name": "near"},
    "associatePublicIPAddress": false, "ipPrefixCount": 2, "userData": "x = 1",
    "tags": {"team": "a"}, "kubelet": {"maxPods": 20},
    "blockDeviceMappings": [{"deviceName": "/dev/xvda", "rootVolume": true,
      "ebs": {"volumeSize": "100G", "volumeType": "gp3", "encrypted": true,
              "deleteOnTermination": false,
              "iops": 3000, "throughput": 125, "kmsKeyID": "k", "snapshotID": "snap-1",
              "volumeInitializationRate": 100}}],
    "instanceStorePolicy": "RAID0",
    "networkInterfaces": [{"networkCardIndex": 1, "deviceIndex": 1, "interfaceType": "efa-only"},
                          {"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "interface"}],
    "detailedMonitoring": true,
    "metadataOptions": {"httpEndpoint": "disabled", "httpProtocolIPv6": "enabled",
                        "httpPutResponseHopLimit": 2, "httpTokens": "optional"},
    "connectionTracking": {"udpTimeout": 30},
    "cpuOptions": {"nestedVirtualization": "enabled"}, "context": "c-1"})"));
  const NodeClassSpec spec = read(object);
  EXPECT_EQ(Family::kBottlerocket, spec.settings.family);
  EXPECT_EQ(20, spec.settings.max_pods);
  EXPECT_TRUE(spec.settings.raid);
  EXPECT_EQ("", spec.alias.family);
  ASSERT_EQ(2u, spec.images.size());
  EXPECT_EQ("a-*", spec.images[0].name);
  EXPECT_EQ("123456789012", spec.images[0].owner);
  EXPECT_EQ("/my/ami", spec.images[1].ssm_parameter);
  EXPECT_EQ("demo", model::label_value(spec.subnets.at(0).tags, "karpenter.sh/discovery"));
  EXPECT_EQ("sg-1", spec.security_groups.at(0).id);
  EXPECT_EQ("nodes", spec.security_groups.at(1).name);
  EXPECT_EQ("123456789012", spec.reservations.at(0).owner);
  EXPECT_EQ("targeted", spec.reservations.at(0).match_criteria);
  EXPECT_EQ("near", spec.placement_group_name);
  EXPECT_EQ(false, spec.associate_public_ip);
  EXPECT_EQ(2, spec.ip_prefixes);
  EXPECT_EQ("x = 1", spec.user_data);
  EXPECT_EQ("node", spec.role);
  EXPECT_EQ("a", model::label_value(spec.tags, "team"));
  EXPECT_EQ(R"({"maxPods":20})", spec.kubelet_json);
  ASSERT_EQ(1u, spec.disks.size());
  const Disk& disk = spec.disks.front();
  EXPECT_EQ(94, disk.size_gib) << "100 * 10^9 bytes are 93.1 GiB";
  EXPECT_TRUE(disk.root);
  EXPECT_EQ("gp3", disk.type);
  EXPECT_EQ(true, disk.encrypted);
  EXPECT_EQ(false, disk.delete_on_termination);
  EXPECT_EQ(3000, disk.iops);
  EXPECT_EQ(125, disk.throughput);
  EXPECT_EQ("k", disk.kms_key);
  EXPECT_EQ("snap-1", disk.snapshot);
  EXPECT_EQ(100, disk.initialization_rate);
  ASSERT_EQ(2u, spec.interfaces.size());
  EXPECT_FALSE(spec.interfaces[0].efa_only);
  EXPECT_TRUE(spec.interfaces[1].efa_only);
  EXPECT_TRUE(spec.detailed_monitoring);
  EXPECT_EQ("disabled", spec.metadata.endpoint);
  EXPECT_EQ("enabled", spec.metadata.ipv6);
  EXPECT_EQ(2, spec.metadata.hop_limit);
  EXPECT_EQ("optional", spec.metadata.tokens);
  EXPECT_EQ(30, spec.tracking ? spec.tracking->udp.value_or(0) : 0);
  EXPECT_EQ("enabled", spec.nested_virtualization);
  EXPECT_EQ("c-1", spec.context);
}

TEST(AwsNodeClass, DefaultsAreThoseOfTheDefinition) {
  const NodeClassSpec spec = read(minimal());
  EXPECT_EQ("al2023", spec.alias.family);
  EXPECT_EQ("latest", spec.alias.version);
  EXPECT_TRUE(spec.images.empty());
  EXPECT_EQ("enabled", spec.metadata.endpoint);
  EXPECT_EQ("disabled", spec.metadata.ipv6);
  EXPECT_EQ(1, spec.metadata.hop_limit);
  EXPECT_EQ("required", spec.metadata.tokens);
  EXPECT_FALSE(spec.associate_public_ip.has_value());
  EXPECT_EQ("", spec.kubelet_json);
  EXPECT_FALSE(check_node_class(spec));
}

TEST(AwsNodeClass, WhatIsOfAnotherTypeNamesItsField) {
  struct Case {
    const char* patch;
    const char* message;
  };
  const Case cases[] = {
      {R"({"role": 7})", "role: expected text"},
      {R"({"tags": {"a": 1}})", "tags: expected a map to text"},
      {R"({"subnetSelectorTerms": {}})", "subnetSelectorTerms: expected a list of at most 30"},
      {R"({"subnetSelectorTerms": [7]})", "subnetSelectorTerms[0]: expected an object"},
      {R"({"amiSelectorTerms": [{"alias": "al2023@"}]})", "alias: expected FAMILY@VERSION"},
      {R"({"detailedMonitoring": "yes"})", "detailedMonitoring: expected a boolean"},
      {R"({"ipPrefixCount": 1.5})", "ipPrefixCount: expected a whole number"},
      {R"({"blockDeviceMappings": [{"ebs": {"volumeSize": "big"}}]})", "volumeSize: expected"},
      {R"({"blockDeviceMappings": [7]})", "blockDeviceMappings[0]: expected an object"},
      {R"({"amiSelectorTerms": [{"id": "ami-1"}]})", "amiFamily: no known family"},
  };
  for (const Case& c : cases) {
    json object = minimal();
    object.merge_patch(json::parse(c.patch));
    const auto read = read_node_class_spec(object.dump());
    ASSERT_FALSE(read) << c.patch;
    EXPECT_NE(std::string::npos, read.error().message.find(c.message)) << read.error().message;
  }
  EXPECT_FALSE(read_node_class_spec("[]"));
  EXPECT_FALSE(read_node_class_spec("{"));
}

TEST(AwsNodeClass, TagsThatTheControllerSetsAreRefused) {
  for (const char* key :
       {"", "eks:eks-cluster-name", "karpenter.sh/nodepool", "karpenter.sh/nodeclaim",
        "karpenter.k8s.aws/ec2nodeclass", "kubernetes.io/cluster/demo"}) {
    json object = minimal();
    object["tags"] = {{key, "a"}};
    const auto found = check_node_class(read(object));
    ASSERT_TRUE(found) << key;
    EXPECT_EQ("TagValidationFailed", found->reason);
  }
  json object = minimal();
  object["tags"] = {{"Name", "a"}, {"karpenter.sh/discovery", "b"}};
  EXPECT_FALSE(check_node_class(read(object)));
}

TEST(AwsNodeClass, KubeletIsReadAsStrictlyAsKubeletReadsIt) {
  struct Case {
    const char* name;
    const char* kubelet;
    Family family;
    const char* reason;  // empty: it is fine
  };
  const char* bad = "InvalidKubeletConfiguration";
  const char* other = "UnsupportedKubeletConfiguration";
  const Family al2023 = Family::kAl2023;
  const std::vector<Case> cases = {
      {"empty", "{}", al2023, ""},
      {"all that are managed",
       R"({"clusterDNS": ["10.0.0.10"], "maxPods": 0, "podsPerCore": 3,
           "systemReserved": {"cpu": "100m"},
           "kubeReserved": {"memory": "1Gi", "pid": "100", "ephemeral-storage": "1Gi"},
           "evictionHard": {"memory.available": "5%", "nodefs.available": "100Mi"},
           "evictionSoft": {"pid.available": "10%"},
           "evictionSoftGracePeriod": {"pid.available": "1m30s"},
           "evictionMaxPodGracePeriod": 60, "imageGCHighThresholdPercent": 85,
           "imageGCLowThresholdPercent": 80, "cpuCFSQuota": false})",
       Family::kAl2, ""},
      {"unknown", R"({"maxPod": 3})", al2023, bad},
      {"of another type", R"({"maxPods": "3"})", al2023, bad},
      {"too large a number", R"({"maxPods": 3000000000})", al2023, bad},
      {"a list of numbers", R"({"clusterDNS": [1]})", al2023, bad},
      {"a map to numbers", R"({"kubeReserved": {"cpu": 1}})", al2023, bad},
      {"a gate that is text", R"({"featureGates": {"A": "true"}})", al2023, bad},
      {"no duration", R"({"syncFrequency": "soon"})", al2023, bad},
      {"null is absent", R"({"syncFrequency": null})", al2023, ""},
      {"taints", R"({"registerWithTaints": []})", al2023, bad},
      {"below 0", R"({"podsPerCore": -1})", al2023, bad},
      {"no signal", R"({"evictionHard": {"memory": "1Gi"}})", al2023, bad},
      {"above 100%", R"({"evictionHard": {"memory.available": "101%"}})", al2023, bad},
      {"negative threshold", R"({"evictionHard": {"memory.available": "-1Gi"}})", al2023, bad},
      {"soft without grace", R"({"evictionSoft": {"memory.available": "1Gi"}})", al2023, bad},
      {"grace that is none",
       R"({"evictionSoft": {"memory.available": "1Gi"},
           "evictionSoftGracePeriod": {"memory.available": "x"}})",
       al2023, bad},
      {"reserves another thing", R"({"kubeReserved": {"gpu": "1"}})", al2023, bad},
      {"reserves less than nothing", R"({"systemReserved": {"cpu": "-1"}})", al2023, bad},
      {"percent", R"({"imageGCHighThresholdPercent": 101})", al2023, bad},
      {"high not above low",
       R"({"imageGCHighThresholdPercent": 80, "imageGCLowThresholdPercent": 80})", al2023, bad},
      {"any key on AL2023", R"({"shutdownGracePeriod": "30s", "tracing": {}})", al2023, ""},
      {"not on AL2", R"({"shutdownGracePeriod": "30s"})", Family::kAl2, other},
      {"but on Custom", R"({"shutdownGracePeriod": "30s"})", Family::kCustom, ""},
      {"podsPerCore on Bottlerocket", R"({"podsPerCore": 3})", Family::kBottlerocket, other},
      {"two addresses", R"({"clusterDNS": ["1.1.1.1", "2.2.2.2"]})", Family::kWindows2022, other},
      {"two addresses on AL2023", R"({"clusterDNS": ["1.1.1.1", "2.2.2.2"]})", al2023, ""},
  };
  for (const Case& c : cases) {
    const auto found = check_kubelet(c.kubelet, c.family);
    EXPECT_EQ(c.reason, found ? found->reason : "") << c.name << (found ? found->message : "");
  }
  EXPECT_TRUE(check_kubelet("[]", al2023));
}

TEST(AwsNodeClass, TheHashCoversWhatNeedsNewMachines) {
  const auto hash = [](const json& spec, const char* ca = "ca") {
    const auto one = node_class_hash(spec.dump(), ca);
    EXPECT_TRUE(one);
    return one ? *one : "";
  };
  const std::string base = hash(minimal());
  EXPECT_EQ(base, hash(minimal()));
  EXPECT_EQ(std::string::npos, base.find_first_not_of("0123456789"));
  EXPECT_NE(base, hash(minimal(), "another ca"));
  for (const char* patch :
       {R"({"userData": "x"})", R"({"role": "other"})", R"({"tags": {"a": "b"}})",
        R"({"kubelet": {"maxPods": 1}})", R"({"detailedMonitoring": true})",
        R"({"metadataOptions": {"httpTokens": "optional"}})", R"({"context": "x"})",
        R"({"amiSelectorTerms": [{"alias": "bottlerocket@latest"}]})",
        R"({"associatePublicIPAddress": true})", R"({"instanceStorePolicy": "RAID0"})",
        R"({"blockDeviceMappings": [{"deviceName": "/dev/xvda"}]})",
        R"({"connectionTracking": {"udpTimeout": 30}})",
        R"({"cpuOptions": {"nestedVirtualization": "enabled"}})",
        R"({"placementGroupSelector": {"id": "pg-1"}})"}) {
    json object = minimal();
    object.merge_patch(json::parse(patch));
    EXPECT_NE(base, hash(object)) << patch;
  }
  for (const char* patch :
       {R"({"subnetSelectorTerms": [{"id": "subnet-1"}]})", R"({"ipPrefixCount": 1})",
        R"({"amiSelectorTerms": [{"alias": "al2023@v20240703"}]})",
        R"({"capacityReservationSelectorTerms": [{"id": "cr-1"}]})"}) {
    json object = minimal();
    object.merge_patch(json::parse(patch));
    EXPECT_EQ(base, hash(object)) << patch;
  }
  json one = minimal();
  json two = minimal();
  one["blockDeviceMappings"] = {{{"deviceName", "a"}}, {{"deviceName", "b"}}};
  two["blockDeviceMappings"] = {{{"deviceName", "b"}}, {{"deviceName", "a"}}};
  EXPECT_EQ(hash(one), hash(two));
}

}  // namespace
}  // namespace karst::providers::aws
