// Whether EC2 would let a class's machines be made: what is asked, and what holds the class.
#include <gtest/gtest.h>

#include "providers/aws/dry_run.h"
#include "tests/providers/aws_answers.h"
#include "tests/providers/aws_launch_case.h"

namespace karst::providers::aws {
namespace {

struct DryRunCase {
  LaunchCase launch;
  Answers answers;

  NodeClassSubject subject() const {
    return {"default", "class-uid", 3, *read_node_class_spec(launch.spec.dump())};
  }
  std::vector<Question> asked() const {
    std::vector<Question> all;
    ask_dry_run(all, subject(), launch.resolved, answers);
    return all;
  }
  std::string keys() const {
    std::string all;
    for (const Question& one : asked()) all += one.key + " ";
    return all;
  }
  std::string held() const {
    const auto finding = dry_run_finding(subject(), launch.resolved, answers);
    return finding ? finding->reason + ": " + finding->message : "";
  }
  void answer(const std::string& key, const std::string& code, const std::string& message = "no") {
    answers["dry-run/" + key] = {{}, code, message};
  }
};

TEST(AwsDryRun, AsksForATemplateAndAMachineThatAreNotMade) {
  const DryRunCase c;
  const auto all = c.asked();
  ASSERT_EQ(2u, all.size());
  EXPECT_EQ("dry-run/template", all[0].key);
  EXPECT_EQ("CreateLaunchTemplate", all[0].request.action);
  EXPECT_EQ("dry-run/instance/subnet-b", all[1].key);
  const Tree& run = all[1].request.parameters;
  EXPECT_EQ("RunInstances", all[1].request.action);
  for (const Question& one : all) {
    EXPECT_EQ("true", one.request.parameters["DryRun"]) << one.key;
    EXPECT_EQ("DryRunOperation", one.good_code);
    EXPECT_EQ(30 * 60'000, one.life_millis);
  }
  EXPECT_EQ("m5.large", run["InstanceType"]);
  EXPECT_EQ("ami-1", run["ImageId"]);
  EXPECT_EQ("1", run["MaxCount"]);
  EXPECT_EQ("subnet-b", run["NetworkInterface"][0]["SubnetId"]);
  EXPECT_EQ("profile", run["IamInstanceProfile"]["Name"]);
  std::string tagged;
  for (const Tree& one : run["TagSpecification"]) {
    tagged += one["ResourceType"].get<std::string>() + " ";
    const std::string tags = one["Tag"].dump();
    // What our rights rest on.
    for (const char* tag :
         {R"({"Key":"kubernetes.io/cluster/demo","Value":"owned"})",
          R"({"Key":"eks:eks-cluster-name","Value":"demo"})", R"("karpenter.sh/nodepool")"})
      EXPECT_NE(std::string::npos, tags.find(tag)) << tag;
  }
  EXPECT_EQ("network-interface instance volume ", tagged);
  EXPECT_EQ(all[1].request, c.asked()[1].request) << "the same class asks the same";
}

TEST(AwsDryRun, TriesSubnetsUntilOnePasses) {
  DryRunCase c;
  c.answer("template", "DryRunOperation");
  EXPECT_EQ("dry-run/instance/subnet-b ", c.keys());
  c.answer("instance/subnet-b", "UnauthorizedOperation");
  EXPECT_EQ("dry-run/instance/subnet-a ", c.keys());
  EXPECT_EQ("RunInstancesAuthCheckFailed: ec2:RunInstances: no", c.held());
  c.answer("instance/subnet-a", "DryRunOperation");
  EXPECT_EQ("", c.keys());
  EXPECT_EQ("", c.held());
  c.answer("instance/subnet-a", "UnauthorizedOperation");
  c.answer("instance/subnet-c", "UnauthorizedOperation");
  EXPECT_EQ("", c.keys()) << "there are no more";
}

TEST(AwsDryRun, OnlyWhatIsCertainHoldsAClass) {
  struct Case {
    const char* name;
    std::string key, code, message, want;
    bool named_profile = false;
  };
  const std::string no_profile =
      "Value (x) for parameter iamInstanceProfile.name is invalid. "
      "Invalid IAM Instance Profile name";
  for (const Case& one : {
           Case{"all is well", "template", "DryRunOperation", "", ""},
           Case{"no right to templates", "template", "UnauthorizedOperation",
                "You may not. Encoded authorization failure message: abc",
                "CreateLaunchTemplateAuthCheckFailed: ec2:CreateLaunchTemplate: You may not. "},
           Case{"a throttle", "template", "RequestLimitExceeded", "", ""},
           Case{"a type that is not sold there", "instance/subnet-b", "Unsupported", "", ""},
           Case{"no answer", "instance/subnet-b", "unclear", "", ""},
           Case{"a profile that was just made", "instance/subnet-b", "InvalidParameterValue",
                no_profile, ""},
           Case{"a profile that is not there", "instance/subnet-b", "InvalidParameterValue",
                no_profile, "InstanceProfileNotFound: instanceProfile: EC2 knows no \"mine\"",
                true},
       }) {
    SCOPED_TRACE(one.name);
    DryRunCase c;
    if (one.named_profile) {
      c.launch.spec.erase("role");
      c.launch.spec["instanceProfile"] = "mine";
    }
    c.answer(one.key, one.code, one.message);
    EXPECT_EQ(one.want, c.held());
  }
}

TEST(AwsDryRun, UserDataHasEc2sLimit) {
  DryRunCase c;
  c.launch.spec["userData"] = "#!/bin/bash\n" + std::string(17'000, '#');
  EXPECT_TRUE(c.held().starts_with("UserDataSizeLimitExceeded: userData: ")) << c.held();
  c.launch.spec["userData"] = "#!/bin/bash\n" + std::string(8'000, '#');
  EXPECT_EQ("", c.held());
}

TEST(AwsDryRun, TakesATypeThatItsImagesFit) {
  DryRunCase c;
  c.launch.resolved.images = {LaunchCase::image("ami-2", "arm64", false)};
  EXPECT_EQ("m6g.large", c.asked().at(1).request.parameters["InstanceType"]);
  c.launch.resolved.images = {LaunchCase::image("ami-3", "amd64", true)};
  EXPECT_EQ("g4dn.xlarge", c.asked().at(1).request.parameters["InstanceType"]);
  c.launch.resolved.images.clear();
  EXPECT_EQ("", c.keys());
}

// A whole class: the trial comes when all else is found, and its answer is the class's validation.
TEST(AwsDryRun, IsPartOfAClassesValidation) {
  LaunchCase c;
  c.spec = nlohmann::json::parse(R"({"amiFamily": "AL2023", "amiSelectorTerms": [{"id": "ami-1"}],
      "instanceProfile": "nodes", "subnetSelectorTerms": [{"id": "subnet-1"}],
      "securityGroupSelectorTerms": [{"id": "sg-1"}]})");
  const NodeClassSubject subject{"default", "uid", 3, *read_node_class_spec(c.spec.dump())};
  Cluster cluster = c.resolved.cluster;
  cluster.tries_launches = true;
  Answers answers;
  answers["subnet/ids"] = page(set_of("subnetSet", subnet("subnet-1", "a", 10)));
  answers["group/ids"] = page(set_of("securityGroupInfo", group("sg-1", "nodes")));
  answers["image/ids"] = page(set_of("imagesSet", image("ami-1", "x86_64", "2026-07-01")));
  const auto keys = [&](const Cluster& of) {
    std::string all;
    for (const Question& one : questions(subject, of, answers)) all += one.key + " ";
    return all;
  };
  const auto validation = [&](const Cluster& of) {
    for (const model::Condition& one : resolve(subject, of, answers, 0).conditions)
      if (one.type == "ValidationSucceeded") return one.reason;
    return std::string();
  };
  EXPECT_EQ("", keys(c.resolved.cluster)) << "DISABLE_DRY_RUN";
  EXPECT_EQ("dry-run/template dry-run/instance/subnet-1 ", keys(cluster));
  answers["dry-run/template"] = refused("UnauthorizedOperation");
  answers["dry-run/instance/subnet-1"] = refused("DryRunOperation");
  EXPECT_EQ("", keys(cluster));
  EXPECT_EQ("CreateLaunchTemplateAuthCheckFailed", validation(cluster));
  EXPECT_EQ("ValidationSucceeded", validation(c.resolved.cluster));
  answers["dry-run/template"] = refused("DryRunOperation");
  EXPECT_EQ("ValidationSucceeded", validation(cluster));
  answers["subnet/ids"] = page("<Answer/>");
  answers.erase("dry-run/template");
  EXPECT_EQ("", keys(cluster)) << "there is nowhere to try it";
  EXPECT_EQ("DependenciesNotReady", validation(cluster));
}

}  // namespace
}  // namespace karst::providers::aws
