// What is told of machines that are compared with their EC2NodeClass: Karpenter's reasons in
// Karpenter's order, and what nobody can tell.
#include <gtest/gtest.h>

#include <functional>

#include "providers/aws/aws.h"
#include "providers/aws/class_types.h"
#include "providers/aws/node_class_spec.h"
#include "providers/aws/resolution.h"

namespace karst::providers::aws {
namespace {

constexpr const char* kClassHash = "karpenter.k8s.aws/ec2nodeclass-hash";
constexpr const char* kClassVersion = "karpenter.k8s.aws/ec2nodeclass-hash-version";
constexpr const char* kNobodyKnows = "?";

// A machine that is as its class says.
struct DriftCase {
  DriftCase() {
    node_class.ref = {"karpenter.k8s.aws", "EC2NodeClass", "default"};
    node_class.generation = 1;
    node_class.spec_json = R"({"amiFamily":"AL2023","role":"node"})";
    Resolved& resolved = resolution.resolved;
    resolved.subnets = {{"subnet-a", "us-east-1a", "use1-az1", 10},
                        {"subnet-b", "us-east-1b", "use1-az2", 10}};
    resolved.security_groups = {{"sg-1", "one"}, {"sg-2", "two"}};
    Image arm{"ami-arm", "arm", "", false, {}};
    arm.requirements = {{"kubernetes.io/arch", model::Operator::kIn, {"arm64"}, 0}};
    Image x86{"ami-x86", "x86", "", false, {}};
    x86.requirements = {{"kubernetes.io/arch", model::Operator::kIn, {"amd64"}, 0}};
    resolved.images = {arm, x86};
    resolved.reservations = {{"cr-1", "us-east-1a", "m5.large", "", "open"}};
    for (const char* type : {"AMIsReady", "CapacityReservationsReady", "PlacementGroupReady",
                             "SecurityGroupsReady", "SubnetsReady"})
      resolution.conditions.push_back({type, model::ConditionStatus::kTrue, type, "", 0, 1});
    machine.offer = {"m5.large", "us-east-1a", "on-demand", 0, ""};
    machine.image = "ami-x86";
    machine.subnet = "subnet-b";
    machine.security_groups = {"sg-1", "sg-2"};
    // Class and claim carry this build's hash.
    node_class.hash = node_class_hash(node_class.spec_json, "").value_or("");
    node_class.hash_version = kNodeClassHashVersion;
    claim.annotations = {{kClassHash, node_class.hash}, {kClassVersion, node_class.hash_version}};
  }
  void unread(const std::string& type,
              model::ConditionStatus status = model::ConditionStatus::kUnknown) {
    for (model::Condition& one : resolution.conditions)
      if (one.type == type) one.status = status;
  }
  void reserve(const char* id) {
    machine.offer.capacity_type = "reserved";
    machine.offer.reservation = id;
  }
  // The class asks for a group, and its hash is of that.
  void ask_for_group() {
    node_class.spec_json = R"({"amiFamily":"AL2023","role":"node","placementGroupSelector":)"
                           R"({"name":"near"}})";
    node_class.hash = node_class_hash(node_class.spec_json, "").value_or("");
    model::set_label(claim.annotations, kClassHash, node_class.hash);
  }
  std::string told() const {
    const std::vector<DriftSubject> subjects = {{&claim, listed ? &machine : nullptr}};
    const auto drifts =
        provider().drift_of(provider().embedded_catalogue(), node_class,
                            resolved_at_all ? to_json(resolution, 1) : "", subjects);
    return drifts.size() == 1 ? drifts[0].value_or(kNobodyKnows) : "no answer";
  }

  model::NodeClass node_class;
  Resolution resolution;
  model::NodeClaim claim;
  model::Instance machine;
  bool listed = true;
  bool resolved_at_all = true;
};

Resolved& answers_of(DriftCase& c) {
  return c.resolution.resolved;
}

TEST(AwsDrift, Table) {
  const struct {
    const char* name;
    std::function<void(DriftCase&)> change;
    const char* want;
  } rows[] = {
      {"as the class says", [](DriftCase&) {}, ""},
      {"another hash", [](DriftCase& c) { c.claim.annotations[0].second = "7"; }, "NodeClassDrift"},
      {"another hash of another recipe",
       [](DriftCase& c) { c.claim.annotations = {{kClassHash, "7"}, {kClassVersion, "v5"}}; }, ""},
      {"a claim without a hash", [](DriftCase& c) { c.claim.annotations.clear(); }, ""},
      {"a class without a hash", [](DriftCase& c) { c.node_class.hash.clear(); }, ""},
      {"both of Karpenter's, and different",
       [](DriftCase& c) {
         c.node_class.hash = "8";
         c.node_class.hash_version = "v5";
         c.claim.annotations = {{kClassHash, "7"}, {kClassVersion, "v5"}};
       },
       "NodeClassDrift"},
      {"both of Karpenter's, and equal",
       [](DriftCase& c) {
         c.node_class.hash = "7";
         c.node_class.hash_version = "v5";
         c.claim.annotations = {{kClassHash, "7"}, {kClassVersion, "v5"}};
       },
       ""},
      {"a class that is about to be stamped", [](DriftCase& c) { c.node_class.hash = "7"; },
       kNobodyKnows},
      {"another hash, and the machine is not known",
       [](DriftCase& c) {
         c.claim.annotations[0].second = "7";
         c.listed = false;
       },
       "NodeClassDrift"},
      {"the machine is not known", [](DriftCase& c) { c.listed = false; }, kNobodyKnows},
      {"nothing was asked", [](DriftCase& c) { c.resolved_at_all = false; }, kNobodyKnows},
      {"a spec that cannot be read", [](DriftCase& c) { c.node_class.spec_json = "{"; },
       kNobodyKnows},
      {"another image", [](DriftCase& c) { c.machine.image = "ami-old"; }, "AMIDrift"},
      {"the other architecture's image", [](DriftCase& c) { c.machine.image = "ami-arm"; },
       "AMIDrift"},
      {"a newer image comes first",
       [](DriftCase& c) {
         Image newer = answers_of(c).images[1];
         newer.id = "ami-newer";
         answers_of(c).images.insert(answers_of(c).images.begin(), newer);
       },
       "AMIDrift"},
      {"no image is for its type any more", [](DriftCase& c) { answers_of(c).images.pop_back(); },
       "AMIDrift"},
      {"there are no images", [](DriftCase& c) { answers_of(c).images.clear(); }, kNobodyKnows},
      {"its type is not known", [](DriftCase& c) { c.machine.offer.instance_type = "zz.large"; },
       kNobodyKnows},
      {"its image is not known", [](DriftCase& c) { c.machine.image.clear(); }, kNobodyKnows},
      {"images could not be asked",
       [](DriftCase& c) {
         c.machine.image = "ami-old";
         c.unread("AMIsReady");
       },
       kNobodyKnows},
      {"an alias that cannot be used",
       [](DriftCase& c) {
         c.machine.image = "ami-old";
         c.unread("AMIsReady", model::ConditionStatus::kFalse);
       },
       kNobodyKnows},
      {"a group less", [](DriftCase& c) { c.machine.security_groups = {"sg-1"}; },
       "SecurityGroupDrift"},
      {"a group more", [](DriftCase& c) { c.machine.security_groups = {"sg-1", "sg-2", "sg-3"}; },
       "SecurityGroupDrift"},
      {"groups are a set",
       [](DriftCase& c) { c.machine.security_groups = {"sg-2", "sg-1", "sg-2"}; }, ""},
      {"its groups are not known", [](DriftCase& c) { c.machine.security_groups.clear(); },
       kNobodyKnows},
      {"the class has no groups", [](DriftCase& c) { answers_of(c).security_groups.clear(); },
       kNobodyKnows},
      {"groups could not be asked in full",
       [](DriftCase& c) {
         answers_of(c).security_groups.pop_back();
         c.unread("SecurityGroupsReady");
       },
       kNobodyKnows},
      {"another subnet", [](DriftCase& c) { c.machine.subnet = "subnet-c"; }, "SubnetDrift"},
      {"its subnet is not known", [](DriftCase& c) { c.machine.subnet.clear(); }, kNobodyKnows},
      {"the class has no subnets", [](DriftCase& c) { answers_of(c).subnets.clear(); },
       kNobodyKnows},
      {"subnets could not be asked in full",
       [](DriftCase& c) {
         answers_of(c).subnets.pop_back();
         c.unread("SubnetsReady");
       },
       kNobodyKnows},
      {"bought from a reservation", [](DriftCase& c) { c.reserve("cr-1"); }, ""},
      {"of a reservation that is no more the class's", [](DriftCase& c) { c.reserve("cr-2"); },
       "CapacityReservationDrift"},
      {"bought on demand, whatever it runs in",
       [](DriftCase& c) { c.machine.offer.reservation = "cr-2"; }, ""},
      {"reservations could not be asked",
       [](DriftCase& c) {
         c.reserve("cr-2");
         c.unread("CapacityReservationsReady");
       },
       kNobodyKnows},
      {"in its placement group",
       [](DriftCase& c) {
         c.ask_for_group();
         answers_of(c).placement_group.id = "pg-1";
         c.claim.labels = {{"karpenter.k8s.aws/placement-group-id", "pg-1"}};
       },
       ""},
      {"in another placement group",
       [](DriftCase& c) {
         c.ask_for_group();
         answers_of(c).placement_group.id = "pg-1";
         c.claim.labels = {{"karpenter.k8s.aws/placement-group-id", "pg-2"}};
       },
       "PlacementGroupDrift"},
      {"in no placement group",
       [](DriftCase& c) {
         c.ask_for_group();
         answers_of(c).placement_group.id = "pg-1";
       },
       "PlacementGroupDrift"},
      {"in a placement group that nobody asks for",
       [](DriftCase& c) { c.claim.labels = {{"karpenter.k8s.aws/placement-group-id", "pg-2"}}; },
       "PlacementGroupDrift"},
      {"the placement group is not found", [](DriftCase& c) { c.ask_for_group(); }, kNobodyKnows},
      {"the first of several",
       [](DriftCase& c) {
         c.machine.image = "ami-old";
         c.machine.security_groups = {"sg-3"};
         c.machine.subnet = "subnet-c";
         c.reserve("cr-2");
       },
       "AMIDrift"},
      {"the next of them",
       [](DriftCase& c) {
         c.machine.security_groups = {"sg-3"};
         c.machine.subnet = "subnet-c";
         c.reserve("cr-2");
       },
       "SecurityGroupDrift"},
      {"and the next",
       [](DriftCase& c) {
         c.machine.subnet = "subnet-c";
         c.reserve("cr-2");
         c.claim.labels = {{"karpenter.k8s.aws/placement-group-id", "pg-2"}};
       },
       "SubnetDrift"},
  };
  for (const auto& row : rows) {
    DriftCase one;
    row.change(one);
    EXPECT_EQ(one.told(), row.want) << row.name;
  }
}

TEST(AwsDrift, EachHasItsAnswer) {
  DriftCase one;
  model::Instance old = one.machine;
  old.image = "ami-old";
  const std::vector<DriftSubject> subjects = {
      {&one.claim, &old}, {&one.claim, nullptr}, {&one.claim, &one.machine}};
  const auto drifts = provider().drift_of(provider().embedded_catalogue(), one.node_class,
                                          to_json(one.resolution, 1), subjects);
  EXPECT_EQ(drifts, (std::vector<std::optional<std::string>>{"AMIDrift", std::nullopt, ""}));
}

// So that claims carry the label by which they are compared.
TEST(AwsDrift, TypesOfAPlacementGroupSayWhich) {
  DriftCase one;
  one.ask_for_group();
  for (const char* id : {"", "pg-1"}) {
    answers_of(one).placement_group.id = id;
    const auto types = provider().types_for(provider().embedded_catalogue(), one.node_class,
                                            to_json(one.resolution, 1), {});
    ASSERT_FALSE(types.empty());
    const model::Requirements labels(types.front().requirements);
    const model::ValueSet* group = labels.find(kPlacementGroupIdLabel);
    EXPECT_EQ(group != nullptr && group->contains("pg-1"), std::string(id) == "pg-1");
  }
}

}  // namespace
}  // namespace karst::providers::aws
