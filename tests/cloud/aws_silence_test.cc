// Node classes while the account is silent: what was found before, what is asked again, and how
// often anything is asked at all.
#include <algorithm>
#include <map>

#include "base/sha256.h"
#include "providers/aws/resolution.h"
#include "tests/cloud/aws_cloud_case.h"
#include "tests/providers/aws_answers.h"

namespace karst::cloud::aws {
namespace {

using model::OutcomeKind;
using providers::aws::group;
using providers::aws::image;
using providers::aws::set_of;
using providers::aws::subnet;

// A class by id of everything, of which each answer is as the test says.
struct AwsSilenceTest : AwsCloudTest {
  AwsSilenceTest() {
    node_class.ref = spec.ref = {"karpenter.k8s.aws", "EC2NodeClass", "default"};
    node_class.uid = spec.uid = "class-uid";
    node_class.generation = spec.generation = 1;
    node_class.spec_json =
        R"({"amiFamily":"AL2023","amiSelectorTerms":[{"ssmParameter":"/ours"}],"role":"nodes",
    "subnetSelectorTerms":[{"id":"subnet-1"}],"securityGroupSelectorTerms":[{"id":"sg-1"}]})";
  }
  // What there is to answer: an action's name in its request, and its good answer.
  static std::string good_answer(const http::Request& request) {
    const auto is = [&](const char* what) { return request.body.find(what) != std::string::npos; };
    if (is("DescribeSubnets")) return set_of("subnetSet", subnet("subnet-1", "a", 10));
    if (is("DescribeImages")) return set_of("imagesSet", image("ami-1", "x86_64", "2026-07-01"));
    if (is("GetInstanceProfile"))
      return "<GetInstanceProfileResponse><GetInstanceProfileResult><InstanceProfile><Roles>"
             "<member/></Roles></InstanceProfile></GetInstanceProfileResult>"
             "</GetInstanceProfileResponse>";
    if (is("/ours")) return R"({"Parameter": {"Value": "ami-1"}})";
    return set_of("securityGroupInfo", group("sg-1", "nodes"));
  }
  static std::string what_asks(const http::Request& request) {
    for (const char* what :
         {"DescribeSubnets", "DescribeImages", "GetInstanceProfile", "DescribeSecurityGroups"})
      if (request.body.find(what) != std::string::npos) return what;
    return request.body.find("/ours") != std::string::npos ? "GetParameter" : "another";
  }
  // A look at the class, some time after the last. `bad`: the actions that fail, so often.
  model::Outcome look(std::map<std::string, int> bad = {}, int status = 503,
                      const std::string& code = "Unavailable") {
    clock.now_millis += 60'000;
    spec.request = providers::aws::encode_resolve(node_class);
    sink.facts.clear();
    asked.clear();
    submit(spec);
    for (int i = 0; i < 20; ++i) {
      while (!transport.open.empty()) {
        const http::Request request = transport.open.front().request;
        asked.push_back(what_asks(request));
        if (bad[asked.back()]-- <= 0)
          reply(200, good_answer(request));
        else if (status == 0)
          transport.fail(http::Failure::kUnclear), settle();
        else
          reply(status, error(code));
      }
      transport.advance(500);
    }
    std::sort(asked.begin(), asked.end());
    return outcome();
  }
  static std::string ready_of(const std::string& resolution) {
    const auto all = providers::aws::conditions_of(resolution);
    for (const model::Condition& one : all)
      if (one.type == "Ready")
        return one.status == model::ConditionStatus::kTrue      ? "True"
               : one.status == model::ConditionStatus::kUnknown ? "Unknown"
                                                                : "False";
    return "none";
  }

  model::ResolveNodeClass spec;
  model::NodeClass node_class;
  Strings asked;
};

const char* const kQuestions[] = {"DescribeSubnets", "DescribeSecurityGroups", "DescribeImages",
                                  "GetInstanceProfile", "GetParameter"};

TEST_F(AwsSilenceTest, OneFailureOfAnyReadIsAskedAgainAtOnce) {
  for (const char* what : kQuestions)
    for (const int status : {0, 503}) {
      cloud =
          std::make_unique<AwsCloud>(*client, sink, withheld, clock, LaunchCase().resolved.cluster);
      EXPECT_EQ(ready_of(look({{what, 2}}, status).resolution), "True") << what << " " << status;
      EXPECT_EQ(std::count(asked.begin(), asked.end(), what), 3) << what;
    }
}

TEST_F(AwsSilenceTest, WhatWasFoundCountsOnForAQuarterOfAnHour) {
  const std::string whole = look().resolution;
  EXPECT_EQ(ready_of(whole), "True");
  std::map<std::string, int> all;
  for (const char* what : kQuestions) all[what] = 100;
  for (int minute = 1; minute <= 14; ++minute) EXPECT_EQ(look(all).resolution, whole) << minute;
  for (int minute = 0; minute < 30; ++minute) look(all);
  EXPECT_EQ(ready_of(look(all).resolution), "Unknown") << "there is an end to it";
  EXPECT_EQ(look().resolution, whole);
}

TEST_F(AwsSilenceTest, ADefiniteNoCountsAtOnce) {
  EXPECT_EQ(ready_of(look().resolution), "True");
  EXPECT_EQ(ready_of(look({{"DescribeSubnets", 100}}, 403, "UnauthorizedOperation").resolution),
            "Unknown");
  EXPECT_EQ(std::count(asked.begin(), asked.end(), "DescribeSubnets"), 1) << "and is asked once";
  EXPECT_EQ(ready_of(look({{"DescribeSubnets", 100}}).resolution), "Unknown")
      << "what was before the no is over";
}

// A process that has just started knows nothing from before, but the log does.
TEST_F(AwsSilenceTest, TheLogsResolutionStaysWhileTheAccountIsSilent) {
  spec.known = base::hex_lower(base::sha256("what was found"));
  for (int minute = 0; minute < 14; ++minute) {
    const model::Outcome outcome = look({{"DescribeSubnets", 100}});
    EXPECT_EQ(outcome.kind, OutcomeKind::kRefused);
    EXPECT_EQ(outcome.code, model::RefusalCode::kRetry);
  }
  for (int minute = 0; minute < 2; ++minute) look({{"DescribeSubnets", 100}});
  EXPECT_EQ(ready_of(look({{"DescribeSubnets", 100}}).resolution), "Unknown");
}

TEST_F(AwsSilenceTest, ParametersAndProfilesAreAskedForEverySeveralMinutes) {
  look();
  EXPECT_EQ(asked, (Strings{"DescribeImages", "DescribeSecurityGroups", "DescribeSubnets",
                            "GetInstanceProfile", "GetParameter"}));
  std::size_t parameters = 0, profiles = 0;
  for (int minute = 0; minute < 30; ++minute) {
    look();
    parameters += static_cast<std::size_t>(std::count(asked.begin(), asked.end(), "GetParameter"));
    profiles +=
        static_cast<std::size_t>(std::count(asked.begin(), asked.end(), "GetInstanceProfile"));
  }
  EXPECT_LE(parameters, 6u);
  EXPECT_GE(parameters, 5u);
  EXPECT_EQ(profiles, 2u);
}

// Each of many classes would ask for the same parameters, and the service allows few calls.
TEST_F(AwsSilenceTest, AQuestionOfManyClassesIsAskedOnce) {
  for (int i = 0; i < 15; ++i) {
    node_class.ref.name = spec.ref.name = "class-" + std::to_string(i);
    node_class.uid = spec.uid = "uid-" + std::to_string(i);
    spec.request = providers::aws::encode_resolve(node_class);
    cloud->submit(
        {{model::LogId("log"), model::Position(7 + static_cast<std::uint64_t>(i))}, 1, spec});
  }
  settle();
  std::size_t parameters = 0;
  while (!transport.open.empty()) {
    const http::Request request = transport.open.front().request;
    parameters += what_asks(request) == "GetParameter";
    reply(200, good_answer(request));
  }
  EXPECT_EQ(parameters, 1u);
  const auto outcomes = sink.all<model::Outcome>();
  ASSERT_EQ(outcomes.size(), 15u);
  for (const model::Outcome& one : outcomes) EXPECT_EQ(ready_of(one.resolution), "True");
  node_class.uid = spec.uid = "a class that comes later";
  look();
  EXPECT_EQ(std::count(asked.begin(), asked.end(), "GetParameter"), 0);
}

}  // namespace
}  // namespace karst::cloud::aws
