// What a node class means in an account: the questions, the answers, the conditions.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/time.h"
#include "providers/aws/images.h"
#include "providers/aws/profile.h"
#include "providers/aws/selectors.h"
#include "tests/providers/aws_answers.h"

namespace karst::providers::aws {
namespace {

using model::ConditionStatus;

const std::int64_t kToday = *base::parse_rfc3339("2026-08-01T00:00:00Z");
const Cluster kCluster = {"demo", "uid-1",       "https://demo.example",
                          "Q0E=", "10.100.0.10", "10.100.0.0/16",
                          "1.34", "us-east-1",   false};
const std::string kSsm = "/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/";

NodeClassSubject subject(const std::string& more = "",
                         const std::string& images = R"([{"alias": "al2023@latest"}])") {
  const std::string spec = R"({"amiSelectorTerms": )" + images +
                           R"(, "instanceProfile": "nodes",
      "subnetSelectorTerms": [{"tags": {"a": "b", "c": "*"}}, {"id": "subnet-2"},
                              {"id": "subnet-3"}],
      "securityGroupSelectorTerms": [{"name": "nodes"}, {"id": "sg-1"}])" +
                           more + "}";
  auto read = read_node_class_spec(spec);
  EXPECT_TRUE(read) << (read ? "" : read.error().message);
  return {"default", "class-uid", 3, *read};
}

// All that an al2023 class is asked, well answered.
Answers good_answers() {
  Answers answers;
  answers["subnet/0"] =
      page(set_of("subnetSet", subnet("subnet-1", "a", 10) + subnet("subnet-2", "b", 20)));
  answers["subnet/ids"] =
      page(set_of("subnetSet", subnet("subnet-2", "b", 20) + subnet("subnet-3", "c", 20)));
  answers["group/names"] = page(set_of("securityGroupInfo", group("sg-2", "nodes")));
  answers["group/ids"] = page(set_of("securityGroupInfo", group("sg-1", "other")));
  answers["ssm/" + kSsm + "x86_64/standard/recommended/image_id"] = parameter("ami-1");
  answers["ssm/" + kSsm + "arm64/standard/recommended/image_id"] = parameter("ami-2");
  answers["ssm/" + kSsm + "x86_64/nvidia/recommended/image_id"] = parameter("ami-3");
  answers["ssm/" + kSsm + "arm64/nvidia/recommended/image_id"] = refused("ParameterNotFound");
  answers["ssm/" + kSsm + "x86_64/neuron/recommended/image_id"] = parameter("no image");
  answers["image/ids"] =
      page(set_of("imagesSet", image("ami-1", "x86_64", "2026-07-01T00:00:00.000Z") +
                                   image("ami-2", "arm64", "2026-07-02T00:00:00.000Z") +
                                   image("ami-3", "x86_64", "2026-07-03T00:00:00.000Z")));
  return answers;
}

const model::Condition* condition(const Resolution& resolution, const std::string& type) {
  for (const model::Condition& one : resolution.conditions)
    if (one.type == type) return &one;
  return nullptr;
}
std::string reason(const Resolution& resolution, const std::string& type) {
  const model::Condition* one = condition(resolution, type);
  return one == nullptr ? "absent"
         : one->status == ConditionStatus::kTrue
             ? "True"
             : (one->status == ConditionStatus::kFalse ? "False " : "Unknown ") + one->reason;
}
std::vector<std::string> keys(const std::vector<Question>& questions) {
  std::vector<std::string> all;
  for (const Question& one : questions) all.push_back(one.key);
  std::sort(all.begin(), all.end());
  return all;
}
const Question* question(const std::vector<Question>& all, const std::string& key) {
  for (const Question& one : all)
    if (one.key == key) return &one;
  return nullptr;
}

TEST(AwsSelectors, QuestionsComeUntilAllIsAnswered) {
  const NodeClassSubject one = subject();
  const std::vector<Question> first = questions(one, kCluster, {});
  const std::vector<std::string> wanted = {"group/ids",
                                           "group/names",
                                           "ssm/" + kSsm + "arm64/nvidia/recommended/image_id",
                                           "ssm/" + kSsm + "arm64/standard/recommended/image_id",
                                           "ssm/" + kSsm + "x86_64/neuron/recommended/image_id",
                                           "ssm/" + kSsm + "x86_64/nvidia/recommended/image_id",
                                           "ssm/" + kSsm + "x86_64/standard/recommended/image_id",
                                           "subnet/0",
                                           "subnet/ids"};
  EXPECT_EQ(wanted, keys(first));
  ASSERT_NE(nullptr, question(first, "subnet/0"));
  EXPECT_EQ(R"({"MaxResults":"1000","Filter":[{"Name":"tag:a","Value":["b"]},)"
            R"({"Name":"tag-key","Value":["c"]}]})",
            question(first, "subnet/0")->request.parameters.dump());
  EXPECT_EQ(R"({"MaxResults":"1000","Filter":[)"
            R"({"Name":"subnet-id","Value":["subnet-2","subnet-3"]}]})",
            question(first, "subnet/ids")->request.parameters.dump());
  EXPECT_EQ(R"({"MaxResults":"1000","Filter":[{"Name":"group-name","Value":["nodes"]}]})",
            question(first, "group/names")->request.parameters.dump());
  Answers answers = good_answers();
  answers.erase("image/ids");
  const std::vector<Question> second = questions(one, kCluster, answers);
  ASSERT_EQ(std::vector<std::string>{"image/ids"}, keys(second));
  EXPECT_EQ(R"({"IncludeDeprecated":"true","MaxResults":"1000","Filter":[)"
            R"({"Name":"state","Value":["available"]},)"
            R"({"Name":"image-id","Value":["ami-1","ami-2","ami-3"]}]})",
            second.front().request.parameters.dump());
  EXPECT_TRUE(questions(one, kCluster, good_answers()).empty());
}

TEST(AwsSelectors, WhatWasFoundIsOrderedAndReady) {
  const Resolution out = resolve(subject(), kCluster, good_answers(), kToday);
  EXPECT_TRUE(out.ready);
  std::vector<std::string> ids;
  for (const Subnet& one : out.resolved.subnets) ids.push_back(one.id);
  EXPECT_EQ((std::vector<std::string>{"subnet-2", "subnet-3", "subnet-1"}), ids);
  EXPECT_EQ("use1-azb", out.resolved.subnets.front().zone_id);
  ids.clear();
  for (const SecurityGroup& one : out.resolved.security_groups) ids.push_back(one.id);
  EXPECT_EQ((std::vector<std::string>{"sg-1", "sg-2"}), ids);
  ids.clear();
  for (const Image& one : out.resolved.images) ids.push_back(one.id);
  EXPECT_EQ((std::vector<std::string>{"ami-3", "ami-2", "ami-1"}), ids) << "newest first";
  EXPECT_EQ("nodes", out.resolved.instance_profile);
  for (const model::Condition& one : out.conditions) {
    EXPECT_EQ(ConditionStatus::kTrue, one.status) << one.type << one.message;
    EXPECT_EQ(3, one.observed_generation);
  }
  const auto again = read_resolved(to_json(out.resolved));
  ASSERT_TRUE(again);
  EXPECT_EQ(out.resolved, *again);
  EXPECT_EQ(to_json(out.resolved), to_json(*again));
  EXPECT_FALSE(read_resolved("{}"));
  EXPECT_FALSE(read_resolved("no"));
}

TEST(AwsSelectors, ConditionsHaveKarpentersReasons) {
  struct Case {
    const char* name;
    NodeClassSubject subject;
    Cluster cluster;
    std::vector<std::pair<std::string, Answer>> changes;
    const char* type;
    const char* want;
    const char* ready;
  };
  Cluster old = kCluster;
  old.version = "1.32";
  Cluster no_cidr = kCluster;
  no_cidr.service_cidr.clear();
  const Answer none = page("<Answer/>");
  const std::vector<Case> cases = {
      {"no subnet",
       subject(),
       kCluster,
       {{"subnet/0", none}, {"subnet/ids", none}},
       "SubnetsReady",
       "False SubnetsNotFound",
       "False UnhealthyDependents"},
      {"and validation waits",
       subject(),
       kCluster,
       {{"subnet/0", none}, {"subnet/ids", none}},
       "ValidationSucceeded",
       "False DependenciesNotReady",
       "False UnhealthyDependents"},
      {"no group",
       subject(),
       kCluster,
       {{"group/names", none}, {"group/ids", none}},
       "SecurityGroupsReady",
       "False SecurityGroupsNotFound",
       "False UnhealthyDependents"},
      {"no image",
       subject(),
       kCluster,
       {{"image/ids", none}},
       "AMIsReady",
       "False AMINotFound",
       "False UnhealthyDependents"},
      {"we may not ask",
       subject(),
       kCluster,
       {{"subnet/0", refused("UnauthorizedOperation")}},
       "SubnetsReady",
       "Unknown ResolutionFailed",
       "Unknown UnhealthyDependents"},
      {"an answer that is none",
       subject(),
       kCluster,
       {{"group/ids", page("<a")}},
       "SecurityGroupsReady",
       "Unknown ResolutionFailed",
       "Unknown UnhealthyDependents"},
      {"al2 ended",
       subject("", R"([{"alias": "al2@latest"}])"),
       kCluster,
       {},
       "AMIsReady",
       "False UnsupportedAlias",
       "False UnhealthyDependents"},
      {"windows2025 has not begun",
       subject("", R"([{"alias": "windows2025@latest"}])"),
       kCluster,
       {},
       "AMIsReady",
       "False UnsupportedAlias",
       "False UnhealthyDependents"},
      {"no service CIDR",
       subject(),
       no_cidr,
       {},
       "ValidationSucceeded",
       "False ClusterCIDRResolutionFailed",
       "False UnhealthyDependents"},
      {"tags of ours",
       subject(R"(, "tags": {"karpenter.sh/nodepool": "a"})"),
       kCluster,
       {},
       "ValidationSucceeded",
       "False TagValidationFailed",
       "False UnhealthyDependents"},
      {"kubelet",
       subject(R"(, "kubelet": {"maxPod": 1})"),
       kCluster,
       {},
       "ValidationSucceeded",
       "False InvalidKubeletConfiguration",
       "False UnhealthyDependents"},
      {"no placement group",
       subject(R"(, "placementGroupSelector": {"name": "x"})"),
       kCluster,
       {{"placement-group", refused("InvalidPlacementGroup.Unknown")}},
       "PlacementGroupReady",
       "False PlacementGroupNotFound",
       "False UnhealthyDependents"},
      {"reservation that is gone",
       subject(R"(, "capacityReservationSelectorTerms": [{"id": "cr-1"}])"),
       kCluster,
       {{"reservation/ids", refused("InvalidCapacityReservationId.NotFound")}},
       "CapacityReservationsReady",
       "True",
       "True"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Answers answers = good_answers();
    for (const auto& [key, answer] : c.changes) answers[key] = answer;
    const Resolution out = resolve(c.subject, c.cluster, answers, kToday);
    EXPECT_EQ(c.want, reason(out, c.type));
    EXPECT_EQ(c.ready, reason(out, "Ready"));
    EXPECT_EQ(std::string("True") == c.ready, out.ready);
  }
}

TEST(AwsSelectors, WhatChangesEveryMinuteIsNotKept) {
  const auto free = [](int addresses) {
    Answers answers = good_answers();
    answers["subnet/0"] = page(set_of("subnetSet", subnet("subnet-1", "a", addresses)));
    answers["subnet/ids"] = page("<Answer/>");
    return resolve(subject(), kCluster, answers, kToday).resolved.subnets.front().free_addresses;
  };
  for (const auto& [addresses, want] : std::vector<std::pair<int, int>>{
           {0, 0}, {63, 63}, {64, 64}, {79, 64}, {80, 80}, {251, 224}, {4091, 3584}})
    EXPECT_EQ(want, free(addresses)) << addresses;
  Answers answers = good_answers();
  answers["subnet/0"] = {
      {},
      "UnauthorizedOperation",
      "You may not. Encoded authorization failure message: " + std::string(900, 'x')};
  const Resolution out = resolve(subject(), kCluster, answers, kToday);
  EXPECT_EQ("UnauthorizedOperation: You may not. ", condition(out, "SubnetsReady")->message);
}

TEST(AwsSelectors, TermsOfImagesAreQuestionsOfTheirOwn) {
  const NodeClassSubject one = subject(
      R"(, "amiFamily": "AL2")",
      R"([{"id": "ami-9"}, {"name": "n-*"}, {"name": "m", "owner": "1"}, {"tags": {"a": "*"}},
          {"ssmParameter": "/p"}])");
  Answers answers = good_answers();
  const std::vector<Question> all = questions(one, kCluster, answers);
  EXPECT_EQ((std::vector<std::string>{"image/1", "image/2", "image/3", "ssm//p"}), keys(all));
  EXPECT_EQ(R"(["self","amazon"])", question(all, "image/1")->request.parameters["Owner"].dump());
  EXPECT_EQ(R"(["1"])", question(all, "image/2")->request.parameters["Owner"].dump());
  EXPECT_FALSE(question(all, "image/3")->request.parameters.contains("Owner"));
  answers.erase("image/ids");
  answers["ssm//p"] = parameter("ami-8");
  const std::vector<Question> then = questions(one, kCluster, answers);
  ASSERT_NE(nullptr, question(then, "image/ids"));
  EXPECT_EQ(R"({"Name":"image-id","Value":["ami-8","ami-9"]})",
            question(then, "image/ids")->request.parameters["Filter"][1].dump());
}

TEST(AwsSelectors, AMachineGetsTheImageOfItsKind) {
  const Resolution out = resolve(subject(), kCluster, good_answers(), kToday);
  const auto image_of = [&](const char* arch, bool gpu) {
    model::Labels labels = {{"kubernetes.io/arch", arch}};
    if (gpu) model::set_label(labels, "karpenter.k8s.aws/instance-gpu-count", "1");
    const Image* image = image_for(out.resolved.images, model::Requirements::from_labels(labels));
    return image == nullptr ? "none" : image->id;
  };
  EXPECT_EQ("ami-1", image_of("amd64", false));
  EXPECT_EQ("ami-2", image_of("arm64", false));
  EXPECT_EQ("ami-3", image_of("amd64", true));
  EXPECT_EQ("none", image_of("arm64", true));
}

TEST(AwsSelectors, ReservationsAreKeptWithWhatIsLeft) {
  const NodeClassSubject one = subject(
      R"(, "capacityReservationSelectorTerms": [{"id": "cr-2"},
                                                 {"tags": {"a": "b"}, "ownerID": "1"}])");
  const std::vector<Question> all = questions(one, kCluster, good_answers());
  EXPECT_EQ(R"({"CapacityReservationId":["cr-2"],"Filter":[{"Name":"state","Value":["active"]}]})",
            question(all, "reservation/ids")->request.parameters.dump());
  Answers answers = good_answers();
  answers["reservation/ids"] = page(set_of(
      "capacityReservationSet",
      "<item><capacityReservationId>cr-2</capacityReservationId><availabilityZone>us-east-1a"
      "</availabilityZone><instanceType>p5.48xlarge</instanceType><ownerId>1</ownerId>"
      "<instanceMatchCriteria>targeted</instanceMatchCriteria><reservationType>capacity-block"
      "</reservationType><endDate>2026-08-01T00:30:00.000Z</endDate><state>active</state>"
      "<availableInstanceCount>4</availableInstanceCount></item>"));
  const Resolution out = resolve(one, kCluster, answers, kToday);
  ASSERT_EQ(1u, out.resolved.reservations.size());
  const Reservation& reservation = out.resolved.reservations.front();
  EXPECT_EQ("expiring", reservation.state) << "less than 40 minutes are left";
  EXPECT_EQ("capacity-block", reservation.type);
  EXPECT_EQ(4, reservation.available);
}

TEST(AwsSelectors, AProfileOfARoleIsMadeWhenItIsNotThere) {
  NodeClassSubject one = subject();
  one.spec.instance_profile.clear();
  one.spec.role = "team/node";
  const std::string name = profile_name(one, kCluster);
  EXPECT_TRUE(name.starts_with("demo_"));
  NodeClassSubject other = one;
  other.spec.role = "other";
  EXPECT_NE(name, profile_name(other, kCluster));

  Answers answers = good_answers();
  EXPECT_EQ((std::vector<std::string>{"profile"}), keys(questions(one, kCluster, answers)));
  EXPECT_EQ("Unknown ResolutionFailed",
            reason(resolve(one, kCluster, answers, kToday), "InstanceProfileReady"));
  answers["profile"] = refused("NoSuchEntity");
  auto next = questions(one, kCluster, answers);
  ASSERT_EQ((std::vector<std::string>{"profile/create"}), keys(next));
  EXPECT_EQ("/karpenter/us-east-1/demo/class-uid/", next.front().request.parameters["Path"]);
  EXPECT_EQ(4u, next.front().request.parameters["Tags"].size());
  answers["profile/create"] = page("<a/>");
  next = questions(one, kCluster, answers);
  ASSERT_EQ((std::vector<std::string>{"profile/role"}), keys(next));
  EXPECT_EQ("node", next.front().request.parameters["RoleName"]) << "without its path";
  answers["profile/role"] = refused("LimitExceeded");
  EXPECT_TRUE(questions(one, kCluster, answers).empty());
  const Resolution out = resolve(one, kCluster, answers, kToday);
  EXPECT_TRUE(out.ready);
  EXPECT_EQ(name, out.resolved.instance_profile);

  answers["profile"] = page(
      "<R><GetInstanceProfileResult><InstanceProfile><Roles><member/></Roles></InstanceProfile>"
      "</GetInstanceProfileResult></R>");
  answers.erase("profile/create");
  answers.erase("profile/role");
  EXPECT_TRUE(questions(one, kCluster, answers).empty()) << "it has its role";
  answers["profile"] = refused("AccessDenied");
  EXPECT_EQ("Unknown ResolutionFailed",
            reason(resolve(one, kCluster, answers, kToday), "InstanceProfileReady"));
}

TEST(AwsSelectors, AShadowTakesAProfileToBeThere) {
  NodeClassSubject one = subject();
  one.spec.instance_profile.clear();
  one.spec.role = "team/node";
  Cluster watched = kCluster;
  watched.may_make_profiles = false;
  EXPECT_TRUE(questions(one, watched, good_answers()).empty());
  const Resolution out = resolve(one, watched, good_answers(), kToday);
  EXPECT_TRUE(out.ready);
  EXPECT_EQ(profile_name(one, kCluster), out.resolved.instance_profile);
}

}  // namespace
}  // namespace karst::providers::aws
