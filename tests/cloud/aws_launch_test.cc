// The hands of EC2 by script over a fake transport: launches. Which calls leave, in which order,
// and what each answer comes to.
#include "base/base64.h"
#include "base/sha256.h"
#include "tests/cloud/aws_cloud_case.h"
#include "tests/cloud/ec2_server.h"

namespace karst::cloud::aws {
namespace {

using model::OutcomeKind;
using model::RefusalCode;

std::string fleet(const Strings& ids, const std::string& error_code = "") {
  std::string text = "<CreateFleetResponse><errorSet>";
  if (!error_code.empty())
    text +=
        "<item><launchTemplateAndOverrides><overrides><instanceType>m5.large</instanceType>"
        "<availabilityZone>us-east-1a</availabilityZone></overrides>"
        "</launchTemplateAndOverrides><errorCode>" +
        error_code + "</errorCode><errorMessage>none left</errorMessage></item>";
  text += "</errorSet><fleetInstanceSet>";
  if (!ids.empty()) {
    text +=
        "<item><launchTemplateAndOverrides><overrides><instanceType>m5.large</instanceType>"
        "<subnetId>subnet-a</subnetId></overrides></launchTemplateAndOverrides>"
        "<lifecycle>spot</lifecycle><instanceIds>";
    for (const std::string& id : ids) text += "<item>" + id + "</item>";
    text += "</instanceIds><instanceType>m5.large</instanceType></item>";
  }
  return text + "</fleetInstanceSet></CreateFleetResponse>";
}

TEST_F(AwsCloudTest, AnOrderSendsItsTemplatesAndOneFleetWithItsToken) {
  launch_two(200, kMade);
  EXPECT_EQ(reply(200, fleet({"i-b", "i-a"})), "CreateFleet");
  EXPECT_NE(last.body.find("ClientToken=token-1"), std::string::npos);
  const model::Outcome out = outcome();
  EXPECT_EQ(out.kind, OutcomeKind::kDone);
  EXPECT_EQ(given(out), (Strings{"aws:///us-east-1a/i-a uid-0", "aws:///us-east-1a/i-b uid-1"}));
}

TEST_F(AwsCloudTest, AFleetComesToWhatItsAnswerSays) {
  const struct {
    const char* name;
    int status;
    std::string body;
    OutcomeKind kind;
    RefusalCode code;
    std::size_t instances;
    std::size_t exhausted;
    const char* reason;
  } cases[] = {
      {"in part", 200, fleet({"i-a"}, "InsufficientInstanceCapacity"), OutcomeKind::kDone,
       RefusalCode::kNone, 1, 1, ""},
      {"no room", 200, fleet({}, "InsufficientInstanceCapacity"), OutcomeKind::kRefused,
       RefusalCode::kCapacity, 0, 1, "InsufficientCapacity"},
      {"not allowed", 403, error("UnauthorizedOperation"), OutcomeKind::kRefused,
       RefusalCode::kDenied, 0, 0, "Unauthorized"},
      {"the service failed", 500, error("InternalError"), OutcomeKind::kUnclear, RefusalCode::kNone,
       0, 0, ""},
      {"an answer of another kind", 200, "<html/>", OutcomeKind::kUnclear, RefusalCode::kNone, 0, 0,
       ""},
      {"the order is wrong", 400, error("InvalidSubnetID.NotFound"), OutcomeKind::kRefused,
       RefusalCode::kInvalid, 0, 0, "LaunchFailed"},
      {"throttled, which slows the next ones", 503, error("RequestLimitExceeded"),
       OutcomeKind::kRefused, RefusalCode::kThrottled, 0, 0, "RequestLimitExceeded"},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.name);
    sink.facts.clear();
    launch_two(200, kMade);
    EXPECT_EQ(reply(one.status, one.body), "CreateFleet");
    const model::Outcome out = outcome();
    EXPECT_EQ(out.kind, one.kind);
    EXPECT_EQ(out.code, one.code) << out.message;
    EXPECT_EQ(out.instances.size(), one.instances);
    EXPECT_EQ(out.exhausted.size(), one.exhausted);
    EXPECT_EQ(out.reason, one.reason);
    EXPECT_EQ(out.message.empty(), one.kind == OutcomeKind::kDone && one.exhausted == 0);
  }
}

// They pass where karst runs, and say nothing of the order.
struct CredentialsRefused : AwsCloudTest, ::testing::WithParamInterface<const char*> {};

TEST_P(CredentialsRefused, AFleetIsToBeTriedAgain) {
  launch_two(200, kMade);
  EXPECT_EQ(reply(403, error(GetParam())), "CreateFleet");
  const model::Outcome out = outcome();
  EXPECT_EQ(out.kind, OutcomeKind::kRefused);
  EXPECT_EQ(out.code, RefusalCode::kRetry) << out.message;
  EXPECT_NE(out.message.find(GetParam()), std::string::npos) << out.message;
}

INSTANTIATE_TEST_SUITE_P(Codes, CredentialsRefused,
                         ::testing::Values("ExpiredToken", "InvalidClientTokenId",
                                           "SignatureDoesNotMatch", "RequestTimeTooSkewed",
                                           "AuthFailure", "RequestExpired"));

TEST_F(AwsCloudTest, ACutFleetIsUnclear) {
  launch_two(200, kMade);
  transport.fail(http::Failure::kUnclear);
  settle();
  EXPECT_EQ(outcome().kind, OutcomeKind::kUnclear);
}

TEST_F(AwsCloudTest, ATemplateThatIsThereIsTheRightOne) {
  launch_two(400, error("InvalidLaunchTemplateName.AlreadyExistsException"));
  EXPECT_EQ(reply(200, fleet({"i-a", "i-b"})), "CreateFleet");
  EXPECT_EQ(outcome().kind, OutcomeKind::kDone);
}

TEST_F(AwsCloudTest, WithoutItsTemplateNothingIsLaunched) {
  submit(LaunchCase().command());
  EXPECT_EQ(reply(500, error("InternalError")), "CreateLaunchTemplate");
  const model::Outcome out = outcome();
  EXPECT_EQ(out.reason, "InternalError");
  EXPECT_EQ(out.kind, OutcomeKind::kRefused) << "no instance can have come of it";
  EXPECT_EQ(out.code, RefusalCode::kRetry);
}

struct WithheldCase : LaunchCase {
  explicit WithheldCase(const std::string& text) {
    offers.resize(1);
    spec["userData"] = {{"sha256", base::hex_lower(base::sha256(text))}, {"bytes", text.size()}};
  }
};

TEST_F(AwsCloudTest, UserDataThatTheOrderLacksIsPutInWhenItLeaves) {
  const WithheldCase c("#!/bin/bash\necho canary");
  withheld.keep("#!/bin/bash\necho canary");
  submit(c.command());
  EXPECT_EQ(reply(200, kMade), "CreateLaunchTemplate");
  const std::string key = "LaunchTemplateData.UserData=";
  const std::size_t at = last.body.find(key);
  ASSERT_NE(at, std::string::npos) << last.body;
  const std::string sent = last.body.substr(at + key.size());
  const auto text = base::decode_base64(decoded(sent.substr(0, sent.find('&'))));
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("echo canary"), std::string::npos);
  EXPECT_NE(text->find("NodeConfig"), std::string::npos);
  EXPECT_EQ(reply(200, fleet({"i-a"})), "CreateFleet");
  EXPECT_EQ(outcome().kind, OutcomeKind::kDone);
}

TEST_F(AwsCloudTest, WithoutTheUserDataTheTemplateThatIsThereDoes) {
  const WithheldCase c("gone");
  submit(c.command());
  EXPECT_EQ(reply(200, fleet({"i-a"})), "CreateFleet");
  EXPECT_EQ(outcome().kind, OutcomeKind::kDone);
  sink.facts.clear();
  submit(c.command());
  EXPECT_EQ(reply(400, error("InvalidLaunchTemplateName.NotFoundException")), "CreateFleet");
  const model::Outcome out = outcome();
  EXPECT_EQ(out.kind, OutcomeKind::kRefused);
  EXPECT_EQ(out.code, RefusalCode::kRetry) << "another order is made, of the class as it is now";
}

TEST_F(AwsCloudTest, BrokenUserDataIsRefusedWithoutACall) {
  const std::string broken = "MIME-Version: 1.0\nContent-Type: multipart/mixed; canary\n\n";
  withheld.keep(broken);
  submit(WithheldCase(broken).command());
  const model::Outcome out = outcome();
  EXPECT_EQ(out.kind, OutcomeKind::kRefused);
  EXPECT_EQ(out.code, RefusalCode::kInvalid);
  EXPECT_EQ(out.message.substr(0, 9), "userData:");
  EXPECT_EQ(out.message.find("canary"), std::string::npos);
}

TEST_F(AwsCloudTest, AnOrderKnownToBeInVainIsNotSent) {
  const struct {
    void (*spoil)(LaunchCase&);
    const char* reason;
    RefusalCode code;  // kCapacity: the claim is dropped, and another made
  } cases[] = {
      {[](LaunchCase& c) { c.class_gone = true; }, "InsufficientCapacity", RefusalCode::kCapacity},
      {[](LaunchCase& c) { c.spec["kubelet"]["maxPods"] = "110"; }, "NodeClassNotReady",
       RefusalCode::kCapacity},
      {[](LaunchCase& c) { c.spec["userData"] = "MIME-Version: 1.0"; }, "LaunchFailed",
       RefusalCode::kInvalid},
  };
  for (const auto& one : cases) {
    sink.facts.clear();
    LaunchCase c;
    one.spoil(c);
    submit(c.command());
    const model::Outcome out = outcome();
    EXPECT_EQ(out.reason, one.reason);
    EXPECT_EQ(out.code, one.code);
  }
}

TEST_F(AwsCloudTest, ATokenWithOtherParametersIsFoundByItsTag) {
  launch_two(200, kMade);
  EXPECT_EQ(reply(400, error("IdempotentParameterMismatch")), "CreateFleet");
  EXPECT_EQ(reply(200, described(instance("i-b", "uid-0:1 uid-1:1") +
                                 instance("i-a", "uid-0:1 uid-1:1", "terminated"))),
            "DescribeInstances");
  const model::Outcome out = outcome();
  EXPECT_EQ(out.kind, OutcomeKind::kDone);
  EXPECT_EQ(given(out), (Strings{"aws:///us-east-1a/i-b uid-1"})) << "the first one's is gone";
}

}  // namespace
}  // namespace karst::cloud::aws
