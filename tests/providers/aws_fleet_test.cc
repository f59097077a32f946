// What CreateFleet answers: whose instance is whose, which offers have nothing left, and what too
// few instances mean. And instances as DescribeInstances shows them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "providers/aws/fleet.h"
#include "providers/aws/launch_errors.h"
#include "tests/providers/aws_launch_case.h"

namespace karst::providers::aws {
namespace {

using model::RefusalCode;

std::string launched(const std::string& ids, const char* type = "m5.large",
                     const char* subnet = "subnet-a") {
  return std::string("<item><launchTemplateAndOverrides><overrides><instanceType>") + type +
         "</instanceType><subnetId>" + subnet +
         "</subnetId></overrides></launchTemplateAndOverrides><lifecycle>spot</lifecycle>"
         "<instanceIds>" +
         ids + "</instanceIds><instanceType>" + type + "</instanceType></item>";
}
std::string id(const char* text) {
  return std::string("<item>") + text + "</item>";
}
std::string failed(const std::string& code, const std::string& message = "no",
                   const std::string& type = "m5.large", const std::string& zone = "us-east-1a") {
  return "<item><launchTemplateAndOverrides><overrides><instanceType>" + type +
         "</instanceType><availabilityZone>" + zone +
         "</availabilityZone></overrides></launchTemplateAndOverrides><errorCode>" + code +
         "</errorCode><errorMessage>" + message + "</errorMessage></item>";
}
std::string answer(const std::string& instances, const std::string& errors) {
  return "<CreateFleetResponse xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\"><errorSet>" +
         errors + "</errorSet><fleetInstanceSet>" + instances +
         "</fleetInstanceSet></CreateFleetResponse>";
}

LaunchCase three_claims() {
  LaunchCase c;
  c.claims.resize(3, c.claims.front());
  for (std::size_t i = 0; i < 3; ++i) c.claims[i].uid = model::ClaimUid("uid-" + std::to_string(i));
  return c;
}

std::vector<std::string> given(const std::vector<model::Instance>& instances) {
  std::vector<std::string> all;
  for (const model::Instance& one : instances)
    all.push_back(one.provider_id.str() + " " + one.claim.str());
  return all;
}

TEST(AwsFleet, InstancesByIdGoToTheClaimsInTheirOrder) {
  const model::Launch launch = three_claims().command();
  const auto out = decode_fleet(
      answer(launched(id("i-c") + id("i-a")) + launched(id("i-b"), "c5.large", "subnet-b"), ""),
      launch);
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ((std::vector<std::string>{"aws:///us-east-1a/i-a uid-0", "aws:///us-east-1b/i-b uid-1",
                                      "aws:///us-east-1a/i-c uid-2"}),
            given(out->instances));
  EXPECT_EQ(RefusalCode::kNone, out->code);
  const model::Instance& one = out->instances.front();
  EXPECT_EQ((model::Offer{"m5.large", "us-east-1a", "spot", 40'000'000, ""}), one.offer);
  EXPECT_EQ(2000, one.capacity.cpu_millis);
  EXPECT_EQ(29, one.allocatable.pods);
  EXPECT_EQ("log-7", one.command_tag);
  EXPECT_EQ(1u, one.attempt);
}

TEST(AwsFleet, APartOfTheFleetLeavesTheLastClaimsOut) {
  const model::Launch launch = three_claims().command();
  const auto out = decode_fleet(
      answer(launched(id("i-b") + id("i-a")), failed("InsufficientInstanceCapacity")), launch);
  ASSERT_TRUE(out);
  EXPECT_EQ(
      (std::vector<std::string>{"aws:///us-east-1a/i-a uid-0", "aws:///us-east-1a/i-b uid-1"}),
      given(out->instances));
  EXPECT_EQ(RefusalCode::kCapacity, out->code);
  ASSERT_EQ(1u, out->exhausted.size());
  EXPECT_EQ((model::Offer{"m5.large", "us-east-1a", "spot", 40'000'000, ""}),
            out->exhausted.front());
}

TEST(AwsFleet, ErrorsSayWhatBecomesOfTheClaims) {
  struct Case {
    const char* name;
    std::string errors;
    RefusalCode code;
    const char* reason;
    std::size_t exhausted;
  };
  const std::vector<Case> cases = {
      {"no room", failed("InsufficientInstanceCapacity"), RefusalCode::kCapacity,
       "InsufficientCapacity", 1},
      {"no room, twice the same", failed("UnfulfillableCapacity") + failed("VcpuLimitExceeded"),
       RefusalCode::kCapacity, "InsufficientCapacity", 1},
      {"no room in two places",
       failed("InsufficientInstanceCapacity") +
           failed("InsufficientInstanceCapacity", "no", "c5.large", "us-east-1b"),
       RefusalCode::kCapacity, "InsufficientCapacity", 2},
      {"no addresses in a zone",
       failed("InsufficientFreeAddressesInSubnet", "no", "", "us-east-1b"), RefusalCode::kCapacity,
       "InsufficientCapacity", 2},
      {"no room, and a fault", failed("InsufficientInstanceCapacity") + failed("InternalError"),
       RefusalCode::kRetry, "InternalError", 1},
      {"no role for spot", failed("AuthFailure.ServiceLinkedRoleCreationNotPermitted"),
       RefusalCode::kCapacity, "InsufficientCapacity", 1},
      {"denied", failed("UnauthorizedOperation"), RefusalCode::kDenied, "Unauthorized", 0},
      {"image denied", failed("UnauthorizedOperation", "Not authorized for images: [ami-1]"),
       RefusalCode::kDenied, "AMIAuthorizationFailure", 0},
      {"throttled", failed("RequestLimitExceeded"), RefusalCode::kThrottled, "RequestLimitExceeded",
       0},
      {"template gone", failed("InvalidLaunchTemplateName.NotFoundException"), RefusalCode::kRetry,
       "LaunchFailed", 0},
      {"image gone", failed("InvalidAMIID.NotFound"), RefusalCode::kInvalid, "AMINotFound", 0},
      {"groups of another network",
       failed("InvalidParameter",
              "Security group sg-1 and subnet subnet-1 belong to different "
              "networks."),
       RefusalCode::kInvalid, "SecurityGroupSubnetVPCMismatch", 0},
      {"nothing at all", "", RefusalCode::kRetry, "LaunchFailed", 0},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto out = decode_fleet(answer("", c.errors), LaunchCase().command());
    ASSERT_TRUE(out);
    EXPECT_TRUE(out->instances.empty());
    EXPECT_EQ(c.code, out->code) << out->message;
    EXPECT_EQ(c.reason, out->reason);
    EXPECT_EQ(c.exhausted, out->exhausted.size());
    EXPECT_NE("", out->message);
  }
}

// Karpenter's table (v1.14): what a fleet's error of the m5.large override shuts, what becomes of
// the claim, and the reason of condition Launched for the same error of the call itself, which
// shuts nothing.
TEST(AwsFleet, EachErrorShutsWhatItMeansAndHasItsReason) {
  const std::vector<std::string> here = {"m5.large us-east-1a spot"};
  const std::vector<std::string> none;
  const char* other = "LaunchFailed";
  struct Case {
    const char* code;
    const char* message;
    std::vector<std::string> shut;
    RefusalCode becomes;
    const char* reason;
  };
  const std::vector<Case> cases = {
      {"InsufficientInstanceCapacity", "no", here, RefusalCode::kCapacity, other},
      {"MaxSpotInstanceCountExceeded", "no", here, RefusalCode::kCapacity, "SpotQuotaExceeded"},
      {"VcpuLimitExceeded", "no", here, RefusalCode::kCapacity, "VCPULimitExceeded"},
      {"UnfulfillableCapacity", "no", here, RefusalCode::kCapacity, other},
      {"Unsupported", "no", here, RefusalCode::kCapacity, other},
      {"MaxFleetCountExceeded", "no", here, RefusalCode::kCapacity, "FleetQuotaExceeded"},
      {"InsufficientFreeAddressesInSubnet", "no", none, RefusalCode::kCapacity,
       "InsufficientFreeAddressesInSubnet"},
      {"ReservationCapacityExceeded", "no", here, RefusalCode::kCapacity, other},
      {"AuthFailure.ServiceLinkedRoleCreationNotPermitted",
       "no",
       {"  spot"},
       RefusalCode::kCapacity,
       "SpotSLRCreationFailed"},
      {"InvalidLaunchTemplateName.NotFoundException", "no", none, RefusalCode::kRetry, other},
      {"UnauthorizedOperation", "explicit deny", none, RefusalCode::kDenied, "Unauthorized"},
      {"UnauthorizedOperation", "Not authorized for images: [ami-1]", none, RefusalCode::kDenied,
       "AMIAuthorizationFailure"},
      {"AccessDenied", "no", none, RefusalCode::kDenied, "Unauthorized"},
      {"AuthFailure", "no", none, RefusalCode::kDenied, "Unauthorized"},
      {"InvalidParameter", "sg-1 and subnet-1 belong to different networks.", none,
       RefusalCode::kInvalid, "SecurityGroupSubnetVPCMismatch"},
      {"InvalidGroup", "sg-1 and subnet-1 belong to different networks.", none,
       RefusalCode::kInvalid, other},
      {"InvalidParameterValue", "Value (p) for parameter iamInstanceProfile.name is invalid.", none,
       RefusalCode::kInvalid, "InstanceProfileNameInvalid"},
      {"InvalidLaunchTemplateId.NotFound", "no", none, RefusalCode::kRetry,
       "LaunchTemplateNotFound"},
      {"InvalidParameterValue", "User data is limited to 16384 bytes", none, RefusalCode::kInvalid,
       "UserDataSizeLimitExceeded"},
      {"InvalidAMIID.Malformed", "no", none, RefusalCode::kInvalid, "InvalidAMIID"},
      {"InvalidAMIID.NotFound", "no", none, RefusalCode::kInvalid, "AMINotFound"},
      {"RequestLimitExceeded", "no", none, RefusalCode::kThrottled, "RequestLimitExceeded"},
      {"InternalError", "no", none, RefusalCode::kRetry, "InternalError"},
      {"InvalidParameterCombination", "The instance type is not eligible for Free Tier.", none,
       RefusalCode::kInvalid, "FreeTierIneligible"},
      {"PendingVerification", "no", none, RefusalCode::kRetry, "AccountPendingVerification"},
      {"SomethingNew", "no", none, RefusalCode::kInvalid, other},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(c.code) + ": " + c.message);
    const auto out = decode_fleet(answer("", failed(c.code, c.message)), LaunchCase().command());
    ASSERT_TRUE(out);
    std::vector<std::string> shut;
    for (const model::Offer& offer : out->exhausted)
      shut.push_back(offer.instance_type + " " + offer.zone + " " + offer.capacity_type);
    EXPECT_EQ(shut, c.shut);
    EXPECT_EQ(out->code, c.becomes);
    const bool capacity = c.becomes == RefusalCode::kCapacity;
    EXPECT_EQ(out->reason, capacity ? "InsufficientCapacity" : c.reason);
    const FleetAnswer call = decode_fleet_error(c.code, c.message);
    EXPECT_EQ(call.reason, c.reason);
    EXPECT_TRUE(call.exhausted.empty());
    EXPECT_NE(call.code, RefusalCode::kCapacity);
  }
}

// Karpenter looks for its words in all errors of the fleet together.
TEST(AwsFleet, OfSeveralErrorsTheReasonIsTheFirstOfTheTable) {
  const auto out =
      decode_fleet(answer("", failed("MaxSpotInstanceCountExceeded") + failed("SomethingNew", "x") +
                                  failed("SomethingNew", "x")),
                   LaunchCase().command());
  ASSERT_TRUE(out);
  EXPECT_EQ(out->code, RefusalCode::kInvalid) << "not capacity alone";
  EXPECT_EQ(out->reason, "SpotQuotaExceeded");
  EXPECT_EQ(out->message, "SomethingNew: x; MaxSpotInstanceCountExceeded: no") << "each once";
}

// Of an order from a reservation: that one has nothing left, and no other of its place.
TEST(AwsFleet, AnErrorOfAReservedOrderShutsItsReservation) {
  LaunchCase c;
  const Reservation one = LaunchCase::reservation("cr-1", 1);
  const Reservation larger = LaunchCase::reservation("cr-2", 5);
  c.resolved.reservations = {one, larger};
  c.offers = {{"m5.large", "us-east-1a", "reserved", 1, "cr-2"},
              {"m5.large", "us-east-1a", "reserved", 1, "cr-1"},
              {"m5.large", "us-east-1a", "spot", 40'000'000, ""}};
  const model::Launch launch = c.command();
  ASSERT_EQ(c.order().capacity_type, "reserved");
  for (const char* code : {"ReservationCapacityExceeded", "InsufficientInstanceCapacity"}) {
    const auto out = decode_fleet(answer("", failed(code)), launch);
    ASSERT_TRUE(out);
    EXPECT_EQ(out->exhausted, std::vector<model::Offer>{c.offers.front()}) << code;
  }
  const auto out =
      decode_fleet(answer("", failed("AuthFailure.ServiceLinkedRoleCreationNotPermitted")), launch);
  ASSERT_TRUE(out);
  EXPECT_TRUE(out->exhausted.empty()) << "its spot is nobody's business";
}

TEST(AwsFleet, AnErrorOfTheCallSaysNothingOfOffers) {
  struct Case {
    const char* code;
    RefusalCode want;
  };
  for (const Case& c : {Case{"InsufficientInstanceCapacity", RefusalCode::kRetry},
                        Case{"IdempotentParameterMismatch", RefusalCode::kConflict},
                        Case{"UnauthorizedOperation", RefusalCode::kDenied},
                        Case{"Throttling", RefusalCode::kThrottled},
                        Case{"InvalidParameterValue", RefusalCode::kInvalid}}) {
    const FleetAnswer out = decode_fleet_error(c.code, std::string(2'000, 'x'));
    EXPECT_EQ(c.want, out.code) << c.code;
    EXPECT_TRUE(out.exhausted.empty());
    EXPECT_EQ(model::kOutcomeMessageMax, out.message.size());
  }
}

TEST(AwsFleet, AnAnswerThatIsNoneMayHaveLaunched) {
  for (const char* text : {"", "<a/>", "<CreateFleetResponse", "no", "<CreateFleetResponse/>",
                           "<CreateFleetResponse><fleetInstanceSet><item><instanceIds><item/>"
                           "</instanceIds></item></fleetInstanceSet></CreateFleetResponse>"}) {
    const auto out = decode_fleet(text, LaunchCase().command());
    ASSERT_FALSE(out) << text;
    EXPECT_EQ(base::Kind::kUnclear, out.error().kind);
  }
}

std::string tag(const std::string& key, const std::string& value) {
  return "<item><key>" + key + "</key><value>" + value + "</value></item>";
}
std::string instance(const std::string& id, const std::string& tags, const std::string& more = "",
                     const char* state = "running") {
  return "<item><instanceId>" + id + "</instanceId><imageId>ami-1</imageId><instanceState><name>" +
         state +
         "</name></instanceState><instanceType>m5.large</instanceType><launchTime>2026-08-01T00:00:"
         "00.000Z</launchTime><placement><availabilityZone>us-east-1a</availabilityZone>"
         "</placement><subnetId>subnet-a</subnetId><groupSet><item><groupId>sg-2</groupId></item>"
         "<item><groupId>sg-1</groupId></item></groupSet><tagSet>" +
         tags + "</tagSet>" + more + "</item>";
}
std::string page_of(const std::string& instances) {
  return "<DescribeInstancesResponse><reservationSet><item><instancesSet>" + instances +
         "</instancesSet></item></reservationSet></DescribeInstancesResponse>";
}

TEST(AwsFleet, FoundInstancesAreGivenAsTheOrderGaveThem) {
  const std::string order =
      tag("karst.sh/launch-token", "t-1") + tag("karst.sh/command-id", "log-7") +
      tag("karst.sh/claims.0", "uid-0:1 uid-1:3") + tag("karst.sh/claims.1", "uid-2:1");
  const std::vector<std::string> pages = {
      page_of(instance("i-c", order) + instance("i-a", order, "", "terminated")),
      page_of(instance("i-b", order, "<spotInstanceRequestId>sir-1</spotInstanceRequestId>",
                       "pending") +
              instance("i-c", order) +
              instance("i-x", tag("karpenter.sh/nodeclaim", "other"),
                       "<capacityReservationId>cr-1</capacityReservationId>"
                       "<capacityReservationSpecification><capacityReservationPreference>"
                       "capacity-reservations-only</capacityReservationPreference>"
                       "</capacityReservationSpecification>",
                       "shutting-down"))};
  const auto all = decode_instances(pages);
  ASSERT_TRUE(all);
  ASSERT_EQ(4u, all->size()) << "each once, though paging repeats";
  EXPECT_EQ("uid-0", (*all)[0].instance.claim.str());
  EXPECT_EQ(model::InstanceState::kTerminated, (*all)[0].instance.state);
  EXPECT_EQ("uid-1", (*all)[1].instance.claim.str());
  EXPECT_EQ(3u, (*all)[1].instance.attempt);
  EXPECT_EQ("spot", (*all)[1].instance.offer.capacity_type);
  EXPECT_EQ(model::InstanceState::kPending, (*all)[1].instance.state);
  EXPECT_EQ("uid-2", (*all)[2].instance.claim.str());
  EXPECT_EQ("aws:///us-east-1a/i-c", (*all)[2].instance.provider_id.str());
  EXPECT_EQ("log-7", (*all)[2].instance.command_tag);
  EXPECT_EQ("on-demand", (*all)[2].instance.offer.capacity_type);
  EXPECT_EQ((std::vector<std::string>{"sg-1", "sg-2"}), (*all)[2].instance.security_groups);
  EXPECT_EQ("subnet-a", (*all)[2].instance.subnet);
  EXPECT_EQ(1'785'542'400'000, (*all)[2].instance.launch_millis);
  EXPECT_EQ("", (*all)[3].instance.claim.str());
  EXPECT_EQ("other", (*all)[3].node_claim);
  EXPECT_EQ("reserved", (*all)[3].instance.offer.capacity_type);
  EXPECT_EQ("cr-1", (*all)[3].instance.offer.reservation);
  EXPECT_EQ(model::InstanceState::kShuttingDown, (*all)[3].instance.state);
}

TEST(AwsFleet, MoreMachinesThanClaimsAreTheLastOnes) {
  const std::vector<std::string> kAll = {
      "aws:///us-east-1a/i-a uid-0", "aws:///us-east-1a/i-b uid-1", "aws:///us-east-1a/i-c uid-2",
      "aws:///us-east-1a/i-d uid-2"};
  const auto made =
      decode_fleet(answer(launched(id("i-d") + id("i-c") + id("i-b") + id("i-a")), ""),
                   three_claims().command());
  ASSERT_TRUE(made);
  EXPECT_EQ(kAll, given(made->instances));
  const std::string order =
      tag("karst.sh/launch-token", "t-1") + tag("karst.sh/claims.0", "uid-0:1 uid-1:1 uid-2:1");
  const auto found = decode_instances(
      std::vector<std::string>{page_of(instance("i-d", order) + instance("i-c", order) +
                                       instance("i-b", order) + instance("i-a", order))});
  std::vector<model::Instance> all;
  for (const FoundInstance& one : *found) all.push_back(one.instance);
  EXPECT_EQ(kAll, given(all));
}

TEST(AwsFleet, AListWithAHoleProvesNothing) {
  const struct {
    const char* name;
    std::vector<std::string> pages;
  } cases[] = {
      {"an answer of another kind", {"<a/>"}},
      {"one without its list", {"<DescribeInstancesResponse/>"}},
      {"an instance without an id", {page_of(instance("i-a", "")), page_of("<item/>")}},
      {"a page that is cut", {page_of(instance("i-a", "")).substr(0, 300)}},
  };
  for (const auto& one : cases) EXPECT_FALSE(decode_instances(one.pages)) << one.name;
}

TEST(AwsFleet, WhatComesTwiceCountsOnceAndAsItWasShownLast) {
  const std::string order =
      tag("karst.sh/launch-token", "t-1") + tag("karst.sh/claims.0", "uid-0:1 uid-1:1");
  const std::vector<std::string> pages = {
      page_of(instance("i-a", order, "", "pending") + instance("i-b", order)),
      page_of(instance("i-a", order, "", "terminated")), page_of(instance("i-b", order))};
  const auto all = decode_instances(pages);
  ASSERT_TRUE(all);
  ASSERT_EQ(2u, all->size());
  EXPECT_EQ(model::InstanceState::kTerminated, (*all)[0].instance.state);
  EXPECT_EQ("uid-1", (*all)[1].instance.claim.str());
}

TEST(AwsFleet, AMachineThatAnAnswerNamesTwiceHasOneClaim) {
  const std::string twice =
      "<CreateFleetResponse><fleetInstanceSet><item><instanceType>m5.large</instanceType>"
      "<launchTemplateAndOverrides><overrides><availabilityZone>us-east-1a</availabilityZone>"
      "</overrides></launchTemplateAndOverrides><instanceIds><item>i-a</item><item>i-a</item>"
      "</instanceIds></item></fleetInstanceSet></CreateFleetResponse>";
  LaunchCase two;
  two.claims.resize(2, two.claims.front());
  const auto out = decode_fleet(twice, two.command());
  ASSERT_TRUE(out);
  EXPECT_EQ(1u, out->instances.size());
  EXPECT_EQ(RefusalCode::kRetry, out->code) << "the second claim has none";
}

TEST(AwsFleet, CallsAboutInstances) {
  EXPECT_EQ(R"({"InstanceId":["i-1","i-2"]})",
            terminate_instances({"i-1", "i-2"}).parameters.dump());
  EXPECT_EQ("DescribeInstances", describe_instances({"i-1"}).action);
  EXPECT_EQ(
      R"({"MaxResults":"1000","Filter":[{"Name":"tag-key","Value":["karpenter.sh/nodepool"]},)"
      R"({"Name":"tag-key","Value":["karpenter.k8s.aws/ec2nodeclass"]},)"
      R"({"Name":"tag:eks:eks-cluster-name","Value":["demo"]}]})",
      list_instances("demo").parameters.dump());
  EXPECT_EQ("i-1", instance_id(model::ProviderId("aws:///us-east-1a/i-1")));
  EXPECT_EQ("", instance_id(model::ProviderId("kwok://i-1")));
}

}  // namespace
}  // namespace karst::providers::aws
