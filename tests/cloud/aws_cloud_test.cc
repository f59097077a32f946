// The hands of EC2 by script over a fake transport: which calls leave, in which order, and what
// each answer comes to.
#include "cloud/aws/aws_cloud.h"

#include <gtest/gtest.h>

#include "base/sha256.h"
#include "providers/aws/resolution.h"
#include "tests/cloud/aws_account.h"
#include "tests/providers/aws_launch_case.h"

namespace karst::cloud::aws {
namespace {

using model::OutcomeKind;
using model::RefusalCode;
using providers::aws::LaunchCase;
using testing_kube::FakeClock;
using testing_kube::FakeSink;
using testing_kube::FakeTransport;
using Strings = std::vector<std::string>;

constexpr const char* kMade = "<CreateLaunchTemplateResponse/>";

std::string error(const std::string& code) {
  return "<Response><Errors><Error><Code>" + code +
         "</Code><Message>no</Message></Error></Errors>" + "<RequestID>r</RequestID></Response>";
}
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
std::string instance(const std::string& id, const std::string& claims,
                     const std::string& state = "running") {
  return "<item><instanceId>" + id + "</instanceId><instanceType>m5.large</instanceType>" +
         "<placement><availabilityZone>us-east-1a</availabilityZone></placement>" +
         "<instanceState><name>" + state + "</name></instanceState><tagSet>" +
         "<item><key>karst.sh/launch-token</key><value>token-1</value></item>" +
         "<item><key>karst.sh/claims.0</key><value>" + claims + "</value></item></tagSet></item>";
}
std::string described(const std::string& instances, const std::string& next = "") {
  return "<DescribeInstancesResponse><reservationSet><item><instancesSet>" + instances +
         "</instancesSet></item></reservationSet><nextToken>" + next +
         "</nextToken></DescribeInstancesResponse>";
}

struct AwsCloudTest : ::testing::Test, AwsAccount {
  AwsCloudTest() {
    cloud = std::make_unique<AwsCloud>(*client, sink, clock, LaunchCase().resolved.cluster);
  }
  void submit(model::CommandSpec spec) {
    cloud->submit({{model::LogId("log"), model::Position(7)}, 1, std::move(spec)});
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
  } cases[] = {
      {"in part", 200, fleet({"i-a"}, "InsufficientInstanceCapacity"), OutcomeKind::kDone,
       RefusalCode::kNone, 1, 1},
      {"no room", 200, fleet({}, "InsufficientInstanceCapacity"), OutcomeKind::kRefused,
       RefusalCode::kCapacity, 0, 1},
      {"not allowed", 403, error("UnauthorizedOperation"), OutcomeKind::kRefused,
       RefusalCode::kDenied, 0, 0},
      {"the service failed", 500, error("InternalError"), OutcomeKind::kUnclear, RefusalCode::kNone,
       0, 0},
      {"an answer of another kind", 200, "<html/>", OutcomeKind::kUnclear, RefusalCode::kNone, 0,
       0},
      {"throttled, which slows the next ones", 503, error("RequestLimitExceeded"),
       OutcomeKind::kRefused, RefusalCode::kThrottled, 0, 0},
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
    EXPECT_EQ(out.message.empty(), one.kind == OutcomeKind::kDone && one.exhausted == 0);
  }
}

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
  EXPECT_EQ(out.kind, OutcomeKind::kRefused) << "no instance can have come of it";
  EXPECT_EQ(out.code, RefusalCode::kRetry);
}

TEST_F(AwsCloudTest, AnOrderKnownToBeInVainIsNotSent) {
  LaunchCase c;
  c.resolved.images.clear();
  submit(c.command());
  const model::Outcome out = outcome();
  EXPECT_EQ(out.kind, OutcomeKind::kRefused);
  EXPECT_EQ(out.code, RefusalCode::kInvalid);
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

TEST_F(AwsCloudTest, OnlyTheClaimsOwnInstanceIsEnded) {
  const model::Terminate spec{model::ProviderId("aws:///us-east-1a/i-a"), model::ClaimUid("uid-0")};
  const struct {
    const char* name;
    int status;
    std::string body;
    bool ends;  // TerminateInstances follows
    OutcomeKind kind;
    model::InstanceState state;
  } cases[] = {
      {"it runs", 200, described(instance("i-a", "uid-9:1 uid-0:1")), true, OutcomeKind::kDone,
       model::InstanceState::kShuttingDown},
      {"it is going", 200, described(instance("i-a", "uid-0:1", "shutting-down")), false,
       OutcomeKind::kDone, model::InstanceState::kShuttingDown},
      {"it is gone", 200, described(instance("i-a", "uid-0:1", "terminated")), false,
       OutcomeKind::kDone, model::InstanceState::kTerminated},
      {"nobody knows it", 400, error("InvalidInstanceID.NotFound"), false, OutcomeKind::kDone,
       model::InstanceState::kTerminated},
      {"it is another's",
       200,
       described(instance("i-a", "uid-1:1")),
       false,
       OutcomeKind::kRefused,
       {}},
      {"it cannot be read", 500, error("InternalError"), false, OutcomeKind::kRefused, {}},
      {"it is not in its answer", 200, described(""), false, OutcomeKind::kRefused, {}},
      {"the answer is about another",
       200,
       described(instance("i-b", "uid-0:1", "terminated")),
       false,
       OutcomeKind::kRefused,
       {}},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.name);
    sink.facts.clear();
    submit(spec);
    EXPECT_EQ(reply(one.status, one.body), "DescribeInstances");
    if (one.ends) {
      EXPECT_EQ(reply(200, "<TerminateInstancesResponse/>"), "TerminateInstances");
      EXPECT_NE(last.body.find("InstanceId.1=i-a"), std::string::npos);
    }
    const model::Outcome out = outcome();
    EXPECT_EQ(out.kind, one.kind) << out.message;
    if (one.kind == OutcomeKind::kDone) {
      ASSERT_EQ(out.instances.size(), 1u);
      EXPECT_EQ(out.instances[0].state, one.state);
      EXPECT_EQ(out.instances[0].claim.str(), "uid-0");
    }
  }
}

TEST_F(AwsCloudTest, ATerminationWithoutAnAnswerIsUnclear) {
  submit(model::Terminate{model::ProviderId("aws:///us-east-1a/i-a"), model::ClaimUid("uid-0")});
  EXPECT_EQ(reply(200, described(instance("i-a", "uid-0:1"))), "DescribeInstances");
  transport.fail(http::Failure::kUnclear);
  settle();
  EXPECT_EQ(outcome().kind, OutcomeKind::kUnclear);
}

TEST_F(AwsCloudTest, ASearchByTagReadsAllPages) {
  submit(model::FindInstances{model::ClaimUid("uid-1"), {}});
  EXPECT_EQ(reply(200, described(instance("i-a", "uid-0:1 uid-1:1"), "more")), "DescribeInstances");
  EXPECT_EQ(reply(200, described(instance("i-b", "uid-0:1 uid-1:1"))), "DescribeInstances");
  EXPECT_NE(last.body.find("NextToken=more"), std::string::npos);
  EXPECT_EQ(given(outcome()), (Strings{"aws:///us-east-1a/i-b uid-1"}));
}

TEST_F(AwsCloudTest, ASearchWithAHoleProvesNothing) {
  submit(model::FindInstances{model::ClaimUid("uid-1"), {}});
  EXPECT_EQ(reply(200, described(instance("i-a", "uid-0:1 uid-1:1"), "more")), "DescribeInstances");
  EXPECT_EQ(reply(503, error("RequestLimitExceeded")), "DescribeInstances");
  const model::Outcome out = outcome();
  EXPECT_EQ(out.kind, OutcomeKind::kRefused);
  EXPECT_EQ(out.code, RefusalCode::kThrottled);
}

TEST_F(AwsCloudTest, OnlyTheServicesWordProvesAnInstanceAbsent) {
  const struct {
    const char* name;
    int status;
    std::string body;
    OutcomeKind kind;
    std::size_t instances;
  } cases[] = {
      {"nobody knows it", 400, error("InvalidInstanceID.NotFound"), OutcomeKind::kDone, 0},
      {"it is gone", 200, described(instance("i-a", "uid-0:1", "terminated")), OutcomeKind::kDone,
       0},
      {"it runs", 200, described(instance("i-a", "uid-0:1")), OutcomeKind::kDone, 1},
      {"an empty answer", 200, described(""), OutcomeKind::kRefused, 0},
      {"another's answer", 200, described(instance("i-b", "uid-0:1")), OutcomeKind::kRefused, 0},
      {"a cut answer", 200, described(instance("i-a", "uid-0:1")).substr(0, 90),
       OutcomeKind::kRefused, 0},
      {"a throttle", 503, error("RequestLimitExceeded"), OutcomeKind::kRefused, 0},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.name);
    sink.facts.clear();
    submit(
        model::FindInstances{model::ClaimUid("uid-0"), model::ProviderId("aws:///us-east-1a/i-a")});
    EXPECT_EQ(reply(one.status, one.body), "DescribeInstances");
    const model::Outcome out = outcome();
    EXPECT_EQ(out.kind, one.kind) << out.message;
    EXPECT_EQ(out.instances.size(), one.instances);
  }
}

TEST_F(AwsCloudTest, WritesLeaveOnlyWhileTheTermLasts) {
  bool leads = true;
  cloud->guard_writes([&leads] { return [&leads] { return leads; }; });
  submit(LaunchCase().command());
  ASSERT_FALSE(transport.open.empty());
  const http::Request request = transport.open.front().request;
  ASSERT_TRUE(request.may_leave);
  EXPECT_TRUE(request.may_leave());
  leads = false;
  EXPECT_FALSE(request.may_leave());
  transport.fail(http::Failure::kNotSent);
  settle();
  EXPECT_EQ(outcome().kind, OutcomeKind::kRefused);
}

TEST_F(AwsCloudTest, TheListTellsWhatRunsAndWhatIsSold) {
  cloud->start();
  settle();
  EXPECT_EQ(
      reply(200, described(instance("i-a", "uid-0:1") + instance("i-b", "uid-1:1", "terminated"))),
      "DescribeInstances");
  EXPECT_EQ(sink.names(), (Strings{"ListStarted", "InstanceObserved", "ListEnded"}));
  EXPECT_EQ(reply(200, "<DescribeInstanceTypesResponse/>"), "DescribeInstanceTypes");
  EXPECT_EQ(reply(200, "<DescribeInstanceTypeOfferingsResponse/>"),
            "DescribeInstanceTypeOfferings");
  EXPECT_EQ(reply(403, error("UnauthorizedOperation")), "DescribeSpotPriceHistory");
  for (const char* family : {"\"Compute Instance\"", "bare metal"}) {
    reply(200, R"({"PriceList": []})");
    EXPECT_NE(std::string::npos, last.body.find(family)) << last.body;
  }
  EXPECT_EQ(sink.names().back(), "CatalogueObserved") << "prices are not needed for it";
}

TEST_F(AwsCloudTest, PricesThatCannotBeReadAreToldOnceAndAskedAgain) {
  Strings told;
  cloud->tell_prices([&](bool good, const std::string& line) {
    told.push_back((good ? "good: " : "bad: ") + line.substr(0, line.find(':')));
  });
  cloud->start();
  settle();
  // Answers whatever is asked until a catalogue has come, which it must within ten minutes.
  const auto until_a_catalogue = [&](int price_list_status) {
    const std::size_t before = sink.all<events::CatalogueObserved>().size();
    for (int second = 0; second < 600; ++second) {
      while (!transport.open.empty()) {
        const std::string& body = transport.open.front().request.body;
        const bool prices = body.find("Action=") == std::string::npos;
        const bool instances = body.find("DescribeInstances&") != std::string::npos;
        if (prices && price_list_status != 200)
          reply(price_list_status, R"({"__type": "AccessDeniedException", "message": "no"})");
        else
          reply(200, prices ? R"({"PriceList": []})" : instances ? described("") : "<Response/>");
      }
      if (sink.all<events::CatalogueObserved>().size() > before) return second;
      transport.advance(1'000);
    }
    return -1;
  };
  EXPECT_EQ(0, until_a_catalogue(400));
  const int again = until_a_catalogue(400);
  EXPECT_GE(again, kPricesAgainMillis / 1000);
  EXPECT_LT(again, kPricesAgainMillis / 1000 + 10);
  EXPECT_NE(-1, until_a_catalogue(200));
  EXPECT_EQ(told, (Strings{"bad: EC2's on-demand prices cannot be read (AccessDeniedException)",
                           "good: EC2's prices can be read again"}));
}

TEST_F(AwsCloudTest, AnIsolatedNetworkHasNoPriceList) {
  cloud->without_price_list();
  cloud->start();
  settle();
  EXPECT_EQ(reply(200, described("")), "DescribeInstances");
  EXPECT_EQ(reply(200, "<DescribeInstanceTypesResponse/>"), "DescribeInstanceTypes");
  EXPECT_EQ(reply(200, "<DescribeInstanceTypeOfferingsResponse/>"),
            "DescribeInstanceTypeOfferings");
  EXPECT_EQ(reply(200, "<DescribeSpotPriceHistoryResponse/>"), "DescribeSpotPriceHistory");
  EXPECT_EQ(sink.names().back(), "CatalogueObserved");
  EXPECT_TRUE(transport.open.empty());
}

TEST_F(AwsCloudTest, AListBesideALaunchIsTakenAgain) {
  cloud->start();
  settle();
  cloud->submit({{model::LogId("log"), model::Position(7)}, 1, LaunchCase().command()});
  EXPECT_EQ(reply(200, described("")), "DescribeInstances");
  EXPECT_TRUE(sink.all<events::ListStarted>().empty());
}

TEST_F(AwsCloudTest, ANodeClassIsAskedUntilNothingIsOpen) {
  model::ResolveNodeClass spec;
  spec.ref = {"karpenter.k8s.aws", "EC2NodeClass", "default"};
  spec.uid = "class-uid";
  spec.generation = 3;
  model::NodeClass node_class;
  node_class.ref = spec.ref;
  node_class.uid = spec.uid;
  node_class.generation = 3;
  node_class.spec_json =
      R"({"amiFamily":"AL2023","amiSelectorTerms":[{"id":"ami-1"}],"instanceProfile":"nodes",
    "subnetSelectorTerms":[{"id":"subnet-1"}],"securityGroupSelectorTerms":[{"id":"sg-1"}]})";
  spec.request = providers::aws::encode_resolve(node_class);
  Strings asked;
  const auto answer_all = [&] {
    for (int i = 0; i < 20 && !transport.open.empty(); ++i)
      asked.push_back(reply(400, error("InvalidParameterValue")));
  };
  submit(spec);
  answer_all();
  const model::Outcome first = outcome();
  EXPECT_EQ(first.kind, OutcomeKind::kDone) << "what was refused is told by the class's conditions";
  EXPECT_NE(first.resolution.find("SubnetsReady"), std::string::npos);
  EXPECT_NE(std::find(asked.begin(), asked.end(), "DescribeSubnets"), asked.end());
  EXPECT_NE(std::find(asked.begin(), asked.end(), "DescribeSecurityGroups"), asked.end());
  sink.facts.clear();
  spec.known = base::hex_lower(base::sha256(first.resolution));
  submit(spec);
  answer_all();
  EXPECT_EQ(outcome().resolution, "") << "nothing has changed";
}

}  // namespace
}  // namespace karst::cloud::aws
