// EC2 behind the interface: a class that is asked, found and launched from, end to end, without
// I/O.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "providers/aws/aws.h"
#include "providers/aws/resolution.h"
#include "tests/providers/aws_launch_case.h"

namespace karst::providers::aws {
namespace {

model::NodeClass node_class() {
  model::NodeClass one;
  one.ref = {"karpenter.k8s.aws", "EC2NodeClass", "default"};
  one.uid = "class-uid";
  one.generation = 4;
  one.spec_json = LaunchCase().spec.dump();
  return one;
}

// What LaunchCase's selectors found, ready.
std::string resolution() {
  Resolution found;
  found.resolved = LaunchCase().resolved;
  found.resolved.reservations = {{"cr-1", "us-east-1a", "m5.large", "123456789012", "open",
                                  "default", "active", "", 2, false}};
  found.conditions = {{"Ready", model::ConditionStatus::kTrue, "Ready", "", 0, 4},
                      {"SubnetsReady", model::ConditionStatus::kTrue, "SubnetsReady", "", 0, 4}};
  return to_json(found, 4);
}

TEST(AwsProvider, ABlockNearItsEndIsNotForSaleAndItsMachinesAreGivenUp) {
  std::string ending = resolution();
  EXPECT_TRUE(provider().ending_reservations(ending).empty());
  ending.replace(ending.find("\"active\""), 8, "\"expiring\"");
  EXPECT_EQ(std::vector<std::string>{"cr-1"}, provider().ending_reservations(ending));
  for (const auto& [resolved, sold] : {std::pair(resolution(), true), std::pair(ending, false)}) {
    bool reserved = false;
    for (const model::InstanceType& type :
         provider().types_for(provider().embedded_catalogue(), node_class(), resolved, {}))
      for (const model::Offering& one : type.offerings) reserved |= one.reservation == "cr-1";
    EXPECT_EQ(sold, reserved);
  }
  EXPECT_TRUE(provider().ending_reservations("expiring").empty()) << "not in its form";
}

TEST(AwsProvider, TheHashIsOfTheClassAndTheClustersCa) {
  const std::string hash = provider().class_hash(node_class(), resolution());
  EXPECT_FALSE(hash.empty());
  EXPECT_EQ("", provider().class_hash(node_class(), "")) << "the CA is not known yet";
  model::NodeClass changed = node_class();
  changed.spec_json.insert(1, R"("detailedMonitoring":true,)");
  EXPECT_NE(hash, provider().class_hash(changed, resolution()));
  EXPECT_EQ("karpenter.k8s.aws/ec2nodeclass-hash",
            model::class_hash_key(changed.ref.group, changed.ref.kind));
}

TEST(AwsProvider, UnderstandsItsClassAlone) {
  const Provider& aws = provider();
  EXPECT_TRUE(aws.understands(node_class().ref));
  EXPECT_FALSE(aws.understands({"karpenter.kwok.sh", "KWOKNodeClass", "default"}));
  EXPECT_TRUE(aws.depends_on_class());
  EXPECT_EQ("karpenter.k8s.aws/capacity-reservation-id", aws.reservation_label());
}

TEST(AwsProvider, AClassIsAskedForByItsOwnBytes) {
  const std::string bytes = provider().encode_resolve(node_class());
  EXPECT_EQ(bytes, provider().encode_resolve(node_class()));
  const auto read = read_resolve(bytes);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ("default", read->name);
  EXPECT_EQ("class-uid", read->uid);
  EXPECT_EQ(4, read->generation);
  EXPECT_EQ("node", read->spec.role);
  EXPECT_FALSE(read_resolve("{}"));
  EXPECT_FALSE(read_resolve("no"));
}

TEST(AwsProvider, ASpecThatCannotBeReadIsNotAskedForAndTold) {
  model::NodeClass broken = node_class();
  broken.spec_json = R"({"amiFamily":"AL3"})";
  EXPECT_EQ("", provider().encode_resolve(broken));
  const NodeClassStatus told = provider().status_of(broken, resolution());
  ASSERT_EQ(2u, told.conditions.size());
  EXPECT_EQ("Ready", told.conditions[0].type);
  EXPECT_EQ(model::ConditionStatus::kFalse, told.conditions[0].status);
  EXPECT_EQ("ValidationSucceeded", told.conditions[1].type);
  EXPECT_EQ("SpecInvalid", told.conditions[1].reason);
  EXPECT_NE(std::string::npos, told.conditions[1].message.find("amiFamily"))
      << told.conditions[1].message;
  EXPECT_EQ("", told.fields_json);
}

// Beside what its selectors find, as Karpenter's condition has it.
TEST(AwsProvider, AKubeletMapThatIsWrongIsToldAsSuch) {
  for (const char* kubelet :
       {R"({"maxPods": "110"})", R"({"maxPods": -1})", R"({"podsPerCore": 1.5})",
        R"({"kubeReserved": {"cpu": "much"}})", R"({"systemReserved": {"memory": "-1Gi"}})",
        R"({"kubeReserved": {"memory": 1}})", R"({"evictionHard": {"memory.available": "101%"}})",
        R"({"evictionHard": {"nodefs.available": "some"}})"}) {
    model::NodeClass one = node_class();
    auto spec = nlohmann::json::parse(one.spec_json);
    spec["kubelet"] = nlohmann::json::parse(kubelet);
    one.spec_json = spec.dump();
    const auto subject = read_resolve(provider().encode_resolve(one));
    ASSERT_TRUE(subject) << kubelet;
    const Resolution found = resolve(*subject, LaunchCase().resolved.cluster, {}, 0);
    std::map<std::string, std::string> told;
    for (const model::Condition& condition :
         provider().status_of(one, to_json(found, one.generation)).conditions)
      told[condition.type] = condition.reason;
    EXPECT_EQ("InvalidKubeletConfiguration", told["ValidationSucceeded"]) << kubelet;
    EXPECT_EQ("SubnetsNotFound", told["SubnetsReady"]) << kubelet;
    EXPECT_EQ("UnhealthyDependents", told["Ready"]) << kubelet;
  }
}

TEST(AwsProvider, RepairsWhatKarpenterRepairs) {
  std::string all;
  for (const RepairPolicy& one : provider().repair_policies())
    all += std::string(one.condition) + "=" +
           (one.status == model::ConditionStatus::kFalse ? "False " : "Unknown ") +
           std::to_string(one.toleration_millis / 60'000) + " ";
  EXPECT_EQ(
      "Ready=False 30 Ready=Unknown 30 AcceleratedHardwareReady=False 10 StorageReady=False 30 "
      "NetworkingReady=False 30 KernelReady=False 30 ContainerRuntimeReady=False 30 ",
      all);
  for (const RepairPolicy& one : provider().repair_policies()) {
    const auto& read = model::kRepairConditions;
    EXPECT_NE(std::find(std::begin(read), std::end(read), one.condition), std::end(read));
  }
}

TEST(AwsProvider, ItsStatusIsWhatWasFound) {
  const NodeClassStatus before = provider().status_of(node_class(), "");
  ASSERT_EQ(1u, before.conditions.size());
  EXPECT_EQ(model::ConditionStatus::kUnknown, before.conditions.front().status);
  EXPECT_EQ("", before.fields_json);
  const NodeClassStatus after = provider().status_of(node_class(), resolution());
  ASSERT_EQ(2u, after.conditions.size());
  EXPECT_EQ("Ready", after.conditions.front().type);
  EXPECT_EQ(model::ConditionStatus::kTrue, after.conditions.front().status);
  EXPECT_EQ(4, after.conditions.front().observed_generation);
  const auto fields = nlohmann::json::parse(after.fields_json);
  EXPECT_EQ(R"([{"id":"subnet-b","zone":"us-east-1b","zoneID":"use1-az2"},)"
            R"({"id":"subnet-a","zone":"us-east-1a","zoneID":"use1-az1"},)"
            R"({"id":"subnet-c","zone":"us-east-1a","zoneID":"use1-az1"}])",
            fields["subnets"].dump());
  EXPECT_EQ(R"({"id":"ami-1","name":"ami-1","requirements":[)"
            R"({"key":"karpenter.k8s.aws/instance-gpu-count","operator":"DoesNotExist"},)"
            R"({"key":"kubernetes.io/arch","operator":"In","values":["amd64"]}]})",
            fields["amis"][0].dump());
  EXPECT_EQ(R"([{"availabilityZone":"us-east-1a","id":"cr-1","instanceMatchCriteria":"open",)"
            R"("instanceType":"m5.large","ownerID":"123456789012","reservationType":"default",)"
            R"("state":"active"}])",
            fields["capacityReservations"].dump());
  EXPECT_EQ("profile", fields["instanceProfile"]);
  EXPECT_EQ(R"({"amis":null,"capacityReservations":null,"instanceProfile":null,)"
            R"("securityGroups":null,"subnets":null})",
            provider().status_of(node_class(), to_json(Resolution(), 4)).fields_json)
      << "what is not found any more goes";
}

TEST(AwsProvider, TypesAreOfTheClassAndOrdersOfThem) {
  const Provider& aws = provider();
  const std::string found = resolution();
  EXPECT_TRUE(aws.types_for(aws.embedded_catalogue(), node_class(), "", {}).empty());
  const auto types = aws.types_for(aws.embedded_catalogue(), node_class(), found, {});
  ASSERT_FALSE(types.empty());
  std::string offers;
  for (const model::InstanceType& type : types)
    if (type.name == "m5.large") {
      for (const model::Offering& one : type.offerings)
        offers += one.zone + " " + one.capacity_type + " " +
                  std::string(model::label_value(one.labels, "topology.k8s.aws/zone-id")) + " " +
                  one.reservation + std::to_string(one.reservation_count) + "; ";
      EXPECT_EQ("26", model::label_value(type.attach_limits, "ebs.csi.aws.com"));
    }
  EXPECT_EQ(
      "us-east-1a on-demand use1-az1 0; us-east-1a reserved use1-az1 cr-12; "
      "us-east-1a spot use1-az1 0; us-east-1b on-demand use1-az2 0; "
      "us-east-1b spot use1-az2 0; ",
      offers);
  const LaunchCase c;
  const model::NodeClass one = node_class();
  const std::vector<LaunchSubject> subjects = {{&c.claims.front(), 1, one.spec_json, found}};
  const auto bytes = aws.encode_launch(aws.embedded_catalogue(), subjects,
                                       model::LaunchToken("token-1"), c.offers, "log-7");
  EXPECT_EQ(bytes, aws.encode_launch(aws.embedded_catalogue(), subjects,
                                     model::LaunchToken("token-1"), c.offers, "log-7"));
  const auto order = read_launch(bytes);
  ASSERT_TRUE(order);
  EXPECT_EQ("", order->refusal);
  EXPECT_EQ("token-1", order->fleet.parameters["ClientToken"]);
}

}  // namespace
}  // namespace karst::providers::aws
