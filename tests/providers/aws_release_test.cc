// What is deleted with a node class: launch templates by tags, profiles by path and tags; and that
// what cannot be read is not taken for nothing.
#include <gtest/gtest.h>

#include "providers/aws/release.h"
#include "tests/providers/aws_answers.h"

namespace karst::providers::aws {
namespace {

constexpr const char* kPath = "/karpenter/us-east-1/demo/class-uid/";

std::string templates(const std::vector<std::string>& ids) {
  std::string items;
  for (const std::string& id : ids)
    items += "<item><launchTemplateId>" + id + "</launchTemplateId></item>";
  return "<DescribeLaunchTemplatesResponse><launchTemplates>" + items +
         "</launchTemplates></DescribeLaunchTemplatesResponse>";
}
std::string profiles(const std::vector<std::pair<std::string, std::string>>& names_and_paths) {
  std::string members;
  for (const auto& [name, path] : names_and_paths)
    members += "<member><InstanceProfileName>" + name + "</InstanceProfileName><Path>" + path +
               "</Path></member>";
  return "<ListInstanceProfilesResponse><ListInstanceProfilesResult><InstanceProfiles>" + members +
         "</InstanceProfiles></ListInstanceProfilesResult></ListInstanceProfilesResponse>";
}
std::string profile(const std::string& cluster, const std::string& class_name) {
  const auto tag = [](const std::string& key, const std::string& value) {
    return "<member><Key>" + key + "</Key><Value>" + value + "</Value></member>";
  };
  return "<GetInstanceProfileResponse><GetInstanceProfileResult><InstanceProfile><Tags>" +
         tag("kubernetes.io/cluster/" + cluster, "owned") +
         tag("karpenter.k8s.aws/ec2nodeclass", class_name) +
         "</Tags><Roles><member><RoleName>nodes</RoleName></member></Roles></InstanceProfile>"
         "</GetInstanceProfileResult></GetInstanceProfileResponse>";
}

struct AwsRelease : ::testing::Test {
  AwsRelease() {
    cluster.name = "demo";
    cluster.region = "us-east-1";
    model::NodeClass node_class;
    node_class.ref = {"karpenter.k8s.aws", "EC2NodeClass", "default"};
    node_class.uid = "class-uid";
    node_class.spec_json = R"({"role":"nodes"})";
    subject = *read_release(encode_release(node_class));
  }
  // Plays it to its end; the keys of the steps, in order.
  std::vector<std::string> play(std::map<std::string, Answer> given) {
    std::vector<std::string> keys;
    Answers answers;
    while (auto step = next_release(subject, cluster, answers)) {
      keys.push_back(step->key);
      const auto at = given.find(step->key);
      answers[step->key] = at == given.end() ? Answer{} : at->second;
      if (!release_goes_on(subject, *step, answers[step->key])) {
        keys.push_back("stopped");
        break;
      }
      requests.push_back(step->request);
    }
    return keys;
  }
  Cluster cluster;
  ReleaseSubject subject;
  std::vector<Request> requests;
};
using Keys = std::vector<std::string>;

TEST_F(AwsRelease, TemplatesGoFirstAndProfilesOfTheClassAfterThem) {
  EXPECT_EQ(play({{"templates", {{templates({"lt-1"}), templates({"lt-2"})}, "", ""}},
                  {"profiles", page(profiles({{"one", kPath}, {"other", "/"}}))},
                  {"profile/one", page(profile("demo", "default"))}}),
            (Keys{"templates", "template/lt-1", "template/lt-2", "profiles", "profile/one",
                  "role/nodes/one", "delete/one"}));
  EXPECT_EQ(requests[0].parameters["Filter"][0]["Name"], "tag:kubernetes.io/cluster/demo");
  EXPECT_EQ(requests[0].parameters["Filter"][1]["Value"][0], "default");
  EXPECT_EQ(requests[1].action, "DeleteLaunchTemplate");
  EXPECT_EQ(requests[2].parameters["LaunchTemplateId"], "lt-2");
  EXPECT_EQ(requests[3].parameters["PathPrefix"], kPath);
  EXPECT_EQ(requests[5].parameters["RoleName"], "nodes");
  EXPECT_EQ(requests[6].action, "DeleteInstanceProfile");
}

TEST_F(AwsRelease, ProfilesOfOthersAreLeftAlone) {
  for (const auto& [of_cluster, of_class] :
       {std::pair("another", "default"), std::pair("demo", "another")})
    EXPECT_EQ(play({{"templates", page(templates({}))},
                    {"profiles", page(profiles({{"one", kPath}}))},
                    {"profile/one", page(profile(of_cluster, of_class))}}),
              (Keys{"templates", "profiles", "profile/one"}));
}

TEST_F(AwsRelease, WhatIsGoneIsNoError) {
  EXPECT_EQ(play({{"templates", page(templates({"lt-1"}))},
                  {"template/lt-1", refused("InvalidLaunchTemplateId.NotFound")},
                  {"profiles", page(profiles({{"one", kPath}, {"two", kPath}}))},
                  {"profile/one", refused("NoSuchEntity")},
                  {"profile/two", page(profile("demo", "default"))},
                  {"role/nodes/two", refused("NoSuchEntity")},
                  {"delete/two", refused("NoSuchEntity")}}),
            (Keys{"templates", "template/lt-1", "profiles", "profile/one", "profile/two",
                  "role/nodes/two", "delete/two"}));
}

TEST_F(AwsRelease, WhatIsUnknownIsNotNothing) {
  for (const Answer& answer :
       {refused("UnauthorizedOperation"), page("<DescribeLaunchTemp"), page("<html/>")})
    EXPECT_EQ(play({{"templates", answer}}), (Keys{"templates", "stopped"}));
  EXPECT_EQ(play({{"templates", page(templates({"lt-1"}))},
                  {"template/lt-1", refused("UnauthorizedOperation")}}),
            (Keys{"templates", "template/lt-1", "stopped"}));
  EXPECT_EQ(play({{"templates", page(templates({}))}, {"profiles", refused("AccessDenied")}}),
            (Keys{"templates", "profiles", "stopped"}));
}

TEST_F(AwsRelease, WhoMayNotListProfilesHasMadeNoneWithoutARole) {
  subject.has_role = false;
  EXPECT_EQ(play({{"templates", page(templates({}))}, {"profiles", refused("AccessDenied")}}),
            (Keys{"templates", "profiles"}));
}

TEST_F(AwsRelease, BytesOfAnythingElseAreRefused) {
  for (const char* bytes : {"", "[]", "{}", R"({"name":"default"})", R"({"name":1,"uid":"u"})"})
    EXPECT_FALSE(read_release(bytes)) << bytes;
}

}  // namespace
}  // namespace karst::providers::aws
