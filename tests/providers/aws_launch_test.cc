// A launch order of EC2: what is chosen, what is asked for, and that equal arguments are equal
// bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "providers/aws/aws.h"
#include "providers/aws/class_types.h"
#include "providers/aws/launch.h"
#include "providers/aws/launch_choice.h"
#include "tests/providers/aws_launch_case.h"

namespace karst::providers::aws {
namespace {

// The value of "Key" in a list of tags; "-" when it is not there.
std::string tag(const Tree& tags, const std::string& key) {
  for (const Tree& one : tags)
    if (one["Key"] == key) return one["Value"].get<std::string>();
  return "-";
}

std::vector<std::string> overrides(const LaunchOrder& order) {
  std::vector<std::string> all;
  for (const Tree& config : order.fleet.parameters["LaunchTemplateConfigs"])
    for (const Tree& one : config["Overrides"])
      all.push_back(one["InstanceType"].get<std::string>() + " " +
                    one["SubnetId"].get<std::string>() + " " + one["ImageId"].get<std::string>());
  std::sort(all.begin(), all.end());
  return all;
}

TEST(AwsLaunch, TheSubnetIsTheOneThatOrdersBeforeItLeaveTheMostOf) {
  LaunchCase c;
  const auto uses = addresses_of(c.encode());
  ASSERT_EQ(2u, uses.size()) << "one subnet of each zone";
  EXPECT_EQ((model::AddressUse{"subnet-a", "us-east-1a", 29}), uses[0]) << "pods of a large";
  EXPECT_EQ("subnet-b", uses[1].subnet);
  c.promised = {{"subnet-a", "us-east-1a", 29}, {"subnet-b", "us-east-1b", 29}};
  EXPECT_EQ("subnet-a", addresses_of(c.encode())[0].subnet) << "21 of 50 against 10";
  c.promised[0].each = 2 * 29;
  EXPECT_EQ("subnet-c", addresses_of(c.encode())[0].subnet);
  EXPECT_EQ("us-east-1a", c.order().zones.at("subnet-c"));
  EXPECT_TRUE(c.order().zones_with_more.empty()) << "58 of subnet-a's 50 are promised";
  c.promised[0].each = std::int64_t{1} << 40;  // it turned out to be full
  EXPECT_EQ("subnet-c", addresses_of(c.encode())[0].subnet);
  c.promised.clear();
  EXPECT_EQ(std::set<std::string>{"us-east-1a"}, c.order().zones_with_more);
  EXPECT_TRUE(addresses_of("{}").empty());
  EXPECT_TRUE(addresses_of("no").empty());
}

TEST(AwsLaunch, AnOrderHasItsTemplatesAndOneFleet) {
  LaunchCase c;
  const std::string bytes = c.encode();
  EXPECT_EQ(bytes, c.encode());
  const LaunchOrder order = c.order();
  EXPECT_EQ("", order.refusal) << order.message;
  EXPECT_EQ("spot", order.capacity_type);
  EXPECT_EQ((std::vector<std::string>{"c5.large subnet-b ami-1", "m5.large subnet-a ami-1",
                                      "m5.large subnet-b ami-1", "m6g.large subnet-a ami-2"}),
            overrides(order));
  const Tree& fleet = order.fleet.parameters;
  EXPECT_EQ("token-1", fleet["ClientToken"]);
  EXPECT_EQ("instant", fleet["Type"]);
  EXPECT_EQ(R"({"TotalTargetCapacity":"1","DefaultTargetCapacityType":"spot"})",
            fleet["TargetCapacitySpecification"].dump());
  EXPECT_EQ("price-capacity-optimized", fleet["SpotOptions"]["AllocationStrategy"]);
  EXPECT_FALSE(fleet.contains("OnDemandOptions"));
  EXPECT_EQ("us-east-1a", order.zones.at("subnet-a"));
  EXPECT_EQ(2000, order.sizes.at("m5.large").capacity.cpu_millis);
  EXPECT_EQ(29, order.sizes.at("m5.large").allocatable.pods);
  ASSERT_EQ(2u, order.templates.size()) << "two images";
  std::set<std::string> names;
  for (const Request& one : order.templates) {
    EXPECT_EQ("CreateLaunchTemplate", one.action);
    const auto name = one.parameters["LaunchTemplateName"].get<std::string>();
    EXPECT_TRUE(name.starts_with("karst.sh/")) << name;
    names.insert(name);
  }
  for (const Tree& config : fleet["LaunchTemplateConfigs"])
    EXPECT_TRUE(names.contains(
        config["LaunchTemplateSpecification"]["LaunchTemplateName"].get<std::string>()));
}

TEST(AwsLaunch, TagsRideInTheCall) {
  LaunchCase c;
  c.claims.resize(8, c.claims.front());
  for (std::size_t i = 0; i < c.claims.size(); ++i)
    c.claims[i].uid = model::ClaimUid("uid-" + std::to_string(i));
  const LaunchOrder order = c.order();
  std::vector<std::string> kinds;
  for (const Tree& one : order.fleet.parameters["TagSpecification"]) {
    kinds.push_back(one["ResourceType"]);
    EXPECT_EQ("owned", tag(one["Tag"], "kubernetes.io/cluster/demo"));
    EXPECT_EQ("demo", tag(one["Tag"], "eks:eks-cluster-name"));
    EXPECT_EQ("pool", tag(one["Tag"], "karpenter.sh/nodepool"));
    EXPECT_EQ("default", tag(one["Tag"], "karpenter.k8s.aws/ec2nodeclass"));
    EXPECT_EQ("log-7", tag(one["Tag"], "karst.sh/command-id"));
    EXPECT_EQ("token-1", tag(one["Tag"], "karst.sh/launch-token"));
    EXPECT_EQ("uid-0:1 uid-1:1 uid-2:1 uid-3:1 uid-4:1 uid-5:1",
              tag(one["Tag"], "karst.sh/claims.0"));
    EXPECT_EQ("uid-6:1 uid-7:1", tag(one["Tag"], "karst.sh/claims.1"));
    EXPECT_EQ("-", tag(one["Tag"], "karpenter.sh/nodeclaim")) << "of one claim only";
    EXPECT_EQ("a", tag(one["Tag"], "team"));
  }
  EXPECT_EQ((std::vector<std::string>{"instance", "volume", "fleet"}), kinds);
  EXPECT_EQ("8", order.fleet.parameters["TargetCapacitySpecification"]["TotalTargetCapacity"]);
  LaunchCase alone;
  EXPECT_EQ("pool-abcde", tag(alone.order().fleet.parameters["TagSpecification"][0]["Tag"],
                              "karpenter.sh/nodeclaim"));
}

TEST(AwsLaunch, TheTemplateIsOfTheClassNotOfTheClaim) {
  LaunchCase one;
  LaunchCase two;
  two.claims.front().uid = model::ClaimUid("another");
  two.claims.front().name = model::ClaimName("pool-zzzzz");
  two.token = "token-2";
  two.command_tag = "log-8";
  EXPECT_EQ(one.order().templates, two.order().templates);
  LaunchCase changed;
  changed.spec["tags"]["team"] = "b";
  EXPECT_NE(one.order().templates.front().parameters["LaunchTemplateName"],
            changed.order().templates.front().parameters["LaunchTemplateName"]);
}

TEST(AwsLaunch, ATemplateHoldsWhatTheClassSays) {
  LaunchCase c;
  c.spec.merge_patch(nlohmann::json::parse(R"({
    "associatePublicIPAddress": false, "ipPrefixCount": 1, "detailedMonitoring": true,
    "connectionTracking": {"udpTimeout": 30}, "context": "c-1",
    "metadataOptions": {"httpTokens": "optional", "httpPutResponseHopLimit": 2},
    "blockDeviceMappings": [{"deviceName": "/dev/xvda",
      "ebs": {"volumeSize": "100Gi", "volumeType": "gp3", "encrypted": true, "iops": 3000}}]})"));
  const LaunchOrder order = c.order();
  EXPECT_EQ("c-1", order.fleet.parameters["Context"]);
  const Tree& data = order.templates.front().parameters["LaunchTemplateData"];
  EXPECT_EQ("ami-1", data["ImageId"]);
  EXPECT_EQ("profile", data["IamInstanceProfile"]["Name"]);
  EXPECT_EQ(R"([{"DeviceName":"/dev/xvda","Ebs":{"VolumeSize":"100","VolumeType":"gp3",)"
            R"("Encrypted":"true","Iops":"3000"}}])",
            data["BlockDeviceMapping"].dump());
  EXPECT_EQ("true", data["Monitoring"]["Enabled"]);
  EXPECT_EQ(R"({"HttpEndpoint":"enabled","HttpProtocolIpv6":"disabled",)"
            R"("HttpPutResponseHopLimit":"2","HttpTokens":"optional",)"
            R"("InstanceMetadataTags":"disabled"})",
            data["MetadataOptions"].dump());
  EXPECT_EQ(R"([{"DeviceIndex":"0","SecurityGroupId":["sg-1","sg-2"],)"
            R"("AssociatePublicIpAddress":"false","Ipv4PrefixCount":"1",)"
            R"("ConnectionTrackingSpecification":{"UdpTimeout":"30"}}])",
            data["NetworkInterface"].dump());
  EXPECT_EQ("none", data["CapacityReservationSpecification"]["CapacityReservationPreference"]);
  EXPECT_EQ("default", data["Placement"]["Tenancy"]);
  EXPECT_EQ(2u, data["TagSpecification"].size()) << "interfaces, and requests of spot";
  EXPECT_TRUE(data["UserData"].get<std::string>().starts_with("TUlNRS1WZXJzaW9uOiAxLjA"))
      << "\"MIME-Version: 1.0\" in base64";
}

TEST(AwsLaunch, TypesWithOtherPodsHaveOtherTemplates) {
  LaunchCase c;
  c.offers = {{"m5.large", "us-east-1a", "spot", 10, ""},
              {"m5.xlarge", "us-east-1a", "spot", 20, ""}};
  EXPECT_EQ(2u, c.order().templates.size()) << "29 and 58 pods";
  c.spec["kubelet"] = {{"maxPods", 20}};
  EXPECT_EQ(1u, c.order().templates.size());
}

TEST(AwsLaunch, EfaIsWiredWhenAskedFor) {
  LaunchCase c;
  c.offers = {{"p4d.24xlarge", "us-east-1a", "on-demand", 10, ""}};
  c.resolved.images.push_back(LaunchCase::image("ami-gpu", "amd64", true));
  EXPECT_EQ(
      1u, c.order().templates.front().parameters["LaunchTemplateData"]["NetworkInterface"].size());
  c.claims.front().requests.set_amount("vpc.amazonaws.com/efa", 1);
  const LaunchOrder order = c.order();
  const Tree& interfaces =
      order.templates.front().parameters["LaunchTemplateData"]["NetworkInterface"];
  ASSERT_EQ(4u, interfaces.size());
  EXPECT_EQ("0", interfaces[0]["DeviceIndex"]);
  EXPECT_EQ("1", interfaces[3]["DeviceIndex"]);
  EXPECT_EQ("3", interfaces[3]["NetworkCardIndex"]);
  EXPECT_EQ("efa", interfaces[3]["InterfaceType"]);
}

TEST(AwsLaunch, WhatCannotBeSentIsARefusal) {
  struct Case {
    const char* name;
    void (*change)(LaunchCase&);
    const char* refusal;
  };
  const Case cases[] = {
      {"no image", [](LaunchCase& c) { c.resolved.images.clear(); }, "InsufficientCapacity"},
      {"no subnet", [](LaunchCase& c) { c.resolved.subnets.clear(); }, "InsufficientCapacity"},
      {"no offer", [](LaunchCase& c) { c.offers.clear(); }, "InsufficientCapacity"},
      {"unknown types",
       [](LaunchCase& c) { c.offers = {{"x9.huge", "us-east-1a", "spot", 1, ""}}; },
       "InsufficientCapacity"},
      {"class gone", [](LaunchCase& c) { c.class_gone = true; }, "InsufficientCapacity"},
      {"class broken", [](LaunchCase& c) { c.spec = nlohmann::json::array(); },
       "NodeClassNotReady"},
      {"user data too long", [](LaunchCase& c) { c.spec["userData"] = std::string(20'000, 'x'); },
       "LaunchFailed"},
  };
  for (const Case& one : cases) {
    LaunchCase c;
    one.change(c);
    const LaunchOrder order = c.order();
    EXPECT_EQ(one.refusal, order.refusal) << one.name;
    EXPECT_NE("", order.message) << one.name;
    EXPECT_TRUE(order.templates.empty());
  }
  EXPECT_FALSE(read_launch("{}"));
  EXPECT_FALSE(read_launch("no"));
}

TEST(AwsLaunch, SizesAreThoseOfTheClusterAndOfMachinesSeen) {
  constexpr std::int64_t kMi = 1 << 20;
  LaunchCase c;
  c.offers = {{"c5.large", "us-east-1a", "spot", 1, ""}, {"m5.large", "us-east-1a", "spot", 2, ""}};
  c.resolved.cluster.reserved_interfaces = 1;
  c.resolved.cluster.memory_overhead_ppm = 50'000;
  c.seen_memory = {{"m5.large", "ami-1", 7'800 * kMi}};
  const LaunchOrder order = c.order();
  ASSERT_EQ(2u, order.sizes.size());
  EXPECT_EQ((4096 - 205) * kMi, order.sizes.at("c5.large").capacity.memory_bytes);
  EXPECT_EQ(20, order.sizes.at("c5.large").capacity.pods);
  EXPECT_EQ(7'800 * kMi, order.sizes.at("m5.large").capacity.memory_bytes);
  EXPECT_EQ((7'800 - (11 * 29 + 255) - 100) * kMi,
            order.sizes.at("m5.large").allocatable.memory_bytes);
}

std::vector<std::string> chosen(const LaunchCase& c, std::string* capacity_type = nullptr) {
  std::vector<model::InstanceType> types;
  const auto spec = read_node_class_spec(c.spec.dump());
  for (const model::InstanceType& base : LaunchCase::catalogue().types)
    types.push_back(adapted(base, spec->settings));
  const Choice choice = choose_offers(c.offers, types, c.resolved, c.claims.front());
  if (capacity_type != nullptr) *capacity_type = choice.capacity_type;
  std::vector<std::string> all;
  for (const ChosenOffer& one : choice.offers)
    all.push_back(one.offer.instance_type + (one.reservation.empty() ? "" : " " + one.reservation));
  return all;
}

TEST(AwsLaunch, OffersAreChosenAsKarpenterDoes) {
  LaunchCase c;
  c.resolved.images.push_back(LaunchCase::image("ami-gpu", "amd64", true));
  const auto offers = [&](std::vector<model::Offer> list) { c.offers = std::move(list); };
  using Names = std::vector<std::string>;
  std::string type;

  offers({{"g4dn.xlarge", "us-east-1a", "spot", 1, ""},
          {"m5.large", "us-east-1a", "spot", 5, ""},
          {"m5.metal", "us-east-1a", "spot", 2, ""}});
  EXPECT_EQ((Names{"m5.large"}), chosen(c)) << "ordinary machines where they do";
  offers({{"g4dn.xlarge", "us-east-1a", "spot", 1, ""}});
  EXPECT_EQ((Names{"g4dn.xlarge"}), chosen(c)) << "nothing else is left";

  offers({{"m5.large", "us-east-1a", "spot", 5, ""},
          {"c5.large", "us-east-1a", "on-demand", 7, ""},
          {"m5.xlarge", "us-east-1a", "spot", 9, ""}});
  EXPECT_EQ((Names{"m5.large"}), chosen(c, &type)) << "no spot dearer than on demand";
  EXPECT_EQ("spot", type);
  c.claims.front().requirements = {
      {"node.kubernetes.io/instance-type", model::Operator::kExists, {}, 2}};
  EXPECT_EQ((Names{"m5.large", "m5.xlarge"}), chosen(c)) << "but with minValues";
  c.claims.front().requirements.clear();

  offers(
      {{"c5.large", "us-east-1a", "on-demand", 7, ""}, {"m5.large", "us-east-1a", "spot", 9, ""}});
  EXPECT_EQ((Names{"c5.large"}), chosen(c, &type));
  EXPECT_EQ("on-demand", type);

  const Reservation small = LaunchCase::reservation("cr-1", 1);
  const Reservation large = LaunchCase::reservation("cr-2", 5);
  Reservation block = small;
  block.id = "cr-3";
  block.instance_type = "c5.large";
  block.type = "capacity-block";
  c.resolved.reservations = {small, large, block};
  offers({{"m5.large", "us-east-1a", "reserved", 1, ""},
          {"c5.large", "us-east-1a", "reserved", 1, ""},
          {"m5.large", "us-east-1a", "spot", 5, ""}});
  EXPECT_EQ((Names{"m5.large cr-2"}), chosen(c, &type)) << "the one with most left, one kind";
  EXPECT_EQ("reserved", type);
  c.resolved.reservations = {block};
  EXPECT_EQ((Names{"c5.large cr-3"}), chosen(c));
  const LaunchOrder order = c.order();
  EXPECT_EQ("capacity-block",
            order.fleet.parameters["TargetCapacitySpecification"]["DefaultTargetCapacityType"]);
  const Tree& data = order.templates.front().parameters["LaunchTemplateData"];
  EXPECT_EQ("cr-3", data["CapacityReservationSpecification"]["CapacityReservationTarget"]
                        ["CapacityReservationId"]);
  EXPECT_EQ("capacity-block", data["InstanceMarketOptions"]["MarketType"]);
}

TEST(AwsLaunch, AnOfferOfAReservationIsOfThatOne) {
  LaunchCase c;
  using Names = std::vector<std::string>;
  const Reservation small = LaunchCase::reservation("cr-1", 1);
  const Reservation large = LaunchCase::reservation("cr-2", 5);
  c.resolved.reservations = {small, large};
  c.offers = {{"m5.large", "us-east-1a", "reserved", 1, "cr-1"}};
  EXPECT_EQ((Names{"m5.large cr-1"}), chosen(c)) << "the claim may take no other";
  c.offers.push_back({"m5.large", "us-east-1a", "reserved", 1, "cr-2"});
  EXPECT_EQ((Names{"m5.large cr-2"}), chosen(c)) << "one of a type and zone: with most left";
  c.offers.push_back({"m5.large", "us-east-1a", "reserved", 1, "cr-9"});
  EXPECT_EQ((Names{"m5.large cr-2"}), chosen(c)) << "one that is no more";
}

// A claim may be launched before its class's status says that the class is no good.
TEST(AwsLaunch, AClassThatMayNotBeLaunchedFromIsRefused) {
  struct Case {
    const char* patch;
    const char* message;
  };
  for (const char* family : {"AL2", "AL2023", "Bottlerocket", "Windows2022"})
    for (const Case& one : {Case{R"({"kubelet": {"kubeReserved": {"cpu": 1}}})",
                                 "kubelet.kubeReserved: expected a map to text"},
                            Case{R"({"kubelet": {"evictionHard": {"memory.available": 5}}})",
                                 "kubelet.evictionHard: expected a map to text"},
                            Case{R"({"kubelet": {"clusterDNS": [1]}})",
                                 "kubelet.clusterDNS: expected a list of text"},
                            Case{R"({"kubelet": {"registerWithTaints": {}}})",
                                 "kubelet.registerWithTaints: expected a list"},
                            Case{R"({"kubelet": {"registerWithTaints": []}})",
                                 "kubelet.registerWithTaints: taints belong into the NodePool"},
                            Case{R"({"kubelet": {"maxPods": "110"}})",
                                 "kubelet.maxPods: expected a whole number of 32 bits"},
                            Case{R"({"tags": {"karpenter.sh/nodepool": "a"}})",
                                 "tags.karpenter.sh/nodepool: the controller sets this tag"}}) {
      LaunchCase c;
      c.spec["amiFamily"] = family;
      c.spec.merge_patch(nlohmann::json::parse(one.patch));
      const LaunchOrder order = c.order();
      EXPECT_EQ("NodeClassNotReady", order.refusal) << family << one.patch;
      EXPECT_EQ(one.message, order.message) << family;
    }
}

// EC2 takes an open reservation by itself where nothing is said of them.
TEST(AwsLaunch, WithoutReservationsNothingIsSaidOfThem) {
  LaunchCase c;
  c.resolved.cluster.uses_reservations = false;
  const LaunchOrder order = c.order();
  ASSERT_FALSE(order.templates.empty());
  EXPECT_FALSE(order.templates.front().parameters["LaunchTemplateData"].contains(
      "CapacityReservationSpecification"));
}

TEST(AwsLaunch, AtMostSixtyTypes) {
  LaunchCase c;
  std::int64_t price = 1;
  for (const model::InstanceType& type : LaunchCase::catalogue().types)
    for (const char* zone : {"us-east-1a", "us-east-1b"})
      c.offers.push_back({type.name, zone, "on-demand", ++price, ""});
  c.offers.erase(c.offers.begin(), c.offers.begin() + 4);
  const std::vector<std::string> names = chosen(c);
  EXPECT_EQ(kLaunchTypesMax, (std::set<std::string>(names.begin(), names.end()).size()));
}

}  // namespace
}  // namespace karst::providers::aws
