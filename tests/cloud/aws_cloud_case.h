// The hands of EC2 over a fake transport, to be played by script: aws_cloud_test.cc what they do,
// aws_reads_test.cc what they read.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "cloud/aws/aws_cloud.h"
#include "tests/cloud/aws_account.h"
#include "tests/providers/aws_launch_case.h"

namespace karst::cloud::aws {

using providers::aws::LaunchCase;
using Strings = std::vector<std::string>;

inline constexpr const char* kMade = "<CreateLaunchTemplateResponse/>";
// Of a service that speaks JSON.
inline constexpr const char* kDenied = R"({"__type": "AccessDeniedException", "message": "no"})";

inline std::string error(const std::string& code) {
  return "<Response><Errors><Error><Code>" + code +
         "</Code><Message>no</Message></Error></Errors>" + "<RequestID>r</RequestID></Response>";
}
inline std::string instance(const std::string& id, const std::string& claims,
                            const std::string& state = "running") {
  return "<item><instanceId>" + id + "</instanceId><instanceType>m5.large</instanceType>" +
         "<placement><availabilityZone>us-east-1a</availabilityZone></placement>" +
         "<instanceState><name>" + state + "</name></instanceState><tagSet>" +
         "<item><key>karst.sh/launch-token</key><value>token-1</value></item>" +
         "<item><key>karst.sh/claims.0</key><value>" + claims + "</value></item></tagSet></item>";
}
inline std::string described(const std::string& instances, const std::string& next = "") {
  return "<DescribeInstancesResponse><reservationSet><item><instancesSet>" + instances +
         "</instancesSet></item></reservationSet><nextToken>" + next +
         "</nextToken></DescribeInstancesResponse>";
}

struct AwsCloudTest : ::testing::Test, AwsAccount {
  AwsCloudTest() {
    cloud =
        std::make_unique<AwsCloud>(*client, sink, withheld, clock, LaunchCase().resolved.cluster);
  }
  std::function<bool()> may_leave;  // of what is submitted
  void submit(model::CommandSpec spec) {
    cloud->submit({{model::LogId("log"), model::Position(7)}, 1, std::move(spec), may_leave});
    settle();
  }
  void settle() {
    for (int i = 0; i < 4; ++i) transport.advance(0);
  }
  // The action of the oldest open request, which is answered so.
  std::string reply(int status, const std::string& body) {
    if (transport.open.empty()) return "no request";
    last = transport.open.front().request;
    const std::size_t at = last.body.find("Action=");
    const std::string action = last.body.substr(at + 7, last.body.find('&', at) - at - 7);
    transport.answer(status, body);
    settle();
    return action;
  }
  // The one outcome that came.
  model::Outcome outcome() {
    const auto all = sink.all<model::Outcome>();
    EXPECT_EQ(all.size(), 1u);
    EXPECT_TRUE(transport.open.empty()) << "calls are left open";
    return all.empty() ? model::Outcome() : all.front();
  }
  Strings given(const model::Outcome& from) {
    Strings all;
    for (const model::Instance& one : from.instances)
      all.push_back(one.provider_id.str() + " " + one.claim.str());
    return all;
  }
  // An order of two claims, whose two templates are there.
  void launch_two(int template_status, const std::string& template_answer) {
    LaunchCase c;
    c.claims.resize(2, c.claims.front());
    c.claims[1].uid = model::ClaimUid("uid-1");
    submit(c.command());
    EXPECT_EQ(reply(template_status, template_answer), "CreateLaunchTemplate");
    EXPECT_EQ(reply(200, kMade), "CreateLaunchTemplate");
  }

  http::Request last;
  std::unique_ptr<AwsCloud> cloud;
};

}  // namespace karst::cloud::aws
