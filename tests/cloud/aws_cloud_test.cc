// The hands of EC2 by script over a fake transport: terminations and looks. Which calls leave, and
// what each answer comes to.
#include "tests/cloud/aws_cloud_case.h"

namespace karst::cloud::aws {
namespace {

using model::OutcomeKind;
using model::RefusalCode;

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
      EXPECT_EQ(out.code, one.status == 400 ? RefusalCode::kGone : RefusalCode::kNone);
    }
  }
}

using Tags = std::map<std::string, std::string>;

std::string tagged(const Tags& tags) {
  std::string text =
      "<item><instanceId>i-a</instanceId><instanceType>m5.large</instanceType><placement>"
      "<availabilityZone>us-east-1a</availabilityZone></placement><instanceState><name>running"
      "</name></instanceState><tagSet>";
  for (const auto& [key, value] : tags)
    if (!value.empty()) text += "<item><key>" + key + "</key><value>" + value + "</value></item>";
  return text + "</tagSet></item>";
}

// Karpenter puts no claim's uid on its machines.
TEST_F(AwsCloudTest, AMachineOfKarpentersIsEndedByItsTagsAlone) {
  const model::Terminate asked{model::ProviderId("aws:///us-east-1a/i-a"), model::ClaimUid("uid-0"),
                               model::ClaimName("pool-abcde"), model::PoolName("pool")};
  model::Terminate nameless = asked;
  nameless.claim_name = {};
  const struct {
    const char* name;
    Tags changed;
    bool ends;
    const model::Terminate& spec;
  } cases[] = {
      {"Karpenter's own, by its tag", {}, true, asked},
      {"of a Karpenter that knows no EKS tag", {{"eks:eks-cluster-name", ""}}, true, asked},
      {"of another cluster",
       {{"kubernetes.io/cluster/demo", ""},
        {"kubernetes.io/cluster/other", "owned"},
        {"eks:eks-cluster-name", "other"}},
       false,
       asked},
      {"of two clusters", {{"kubernetes.io/cluster/other", "owned"}}, false, asked},
      {"of a cluster that shares it", {{"kubernetes.io/cluster/demo", "shared"}}, false, asked},
      {"of no cluster",
       {{"kubernetes.io/cluster/demo", ""}, {"eks:eks-cluster-name", ""}},
       false,
       asked},
      {"its tags disagree", {{"eks:eks-cluster-name", "other"}}, false, asked},
      {"another claim's", {{"karpenter.sh/nodeclaim", "pool-fghij"}}, false, asked},
      {"another pool's", {{"karpenter.sh/nodepool", "other"}}, false, asked},
      {"without its claim's name yet", {{"karpenter.sh/nodeclaim", ""}}, false, asked},
      {"karst's own, for another claim",
       {{"karst.sh/launch-token", "token-1"}, {"karst.sh/claims.0", "uid-9:1"}},
       false,
       asked},
      {"asked for without a name, as an orphan is", {}, false, nameless},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.name);
    Tags tags = {{"kubernetes.io/cluster/demo", "owned"},
                 {"eks:eks-cluster-name", "demo"},
                 {"karpenter.sh/nodepool", "pool"},
                 {"karpenter.sh/nodeclaim", "pool-abcde"}};
    for (const auto& [key, value] : one.changed) tags[key] = value;
    sink.facts.clear();
    submit(one.spec);
    EXPECT_EQ(reply(200, described(tagged(tags))), "DescribeInstances");
    if (one.ends) {
      EXPECT_EQ(reply(200, "<TerminateInstancesResponse/>"), "TerminateInstances");
    }
    const model::Outcome out = outcome();
    EXPECT_EQ(out.kind, one.ends ? OutcomeKind::kDone : OutcomeKind::kRefused) << out.message;
    EXPECT_EQ(out.code, one.ends ? RefusalCode::kNone : RefusalCode::kConflict);
    if (!one.ends) continue;
    ASSERT_EQ(out.instances.size(), 1u);
    EXPECT_EQ(out.instances[0].state, model::InstanceState::kShuttingDown);
    EXPECT_EQ(out.instances[0].claim_name.str(), "pool-abcde");
    EXPECT_EQ(out.instances[0].claim.str(), "");
  }
}

TEST_F(AwsCloudTest, ALookUpTellsTheClaimThatKarpentersTagsName) {
  for (const char* cluster : {"demo", "other"}) {
    SCOPED_TRACE(cluster);
    sink.facts.clear();
    submit(
        model::FindInstances{model::ClaimUid("uid-0"), model::ProviderId("aws:///us-east-1a/i-a")});
    EXPECT_EQ(
        reply(200, described(tagged({{std::string("kubernetes.io/cluster/") + cluster, "owned"},
                                     {"karpenter.sh/nodeclaim", "pool-abcde"}}))),
        "DescribeInstances");
    const model::Outcome out = outcome();
    ASSERT_EQ(out.instances.size(), 1u);
    EXPECT_EQ(out.instances[0].claim.str(), "");
    EXPECT_EQ(out.instances[0].claim_name.str(),
              std::string(cluster) == "demo" ? "pool-abcde" : "");
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
    if (one.kind == OutcomeKind::kDone) {
      EXPECT_EQ(out.code, one.status == 400 ? RefusalCode::kGone : RefusalCode::kNone)
          << "of a young one the service's word is no proof yet";
    }
  }
}

TEST_F(AwsCloudTest, WritesLeaveOnlyWhileTheTermLasts) {
  bool leads = true;
  may_leave = [&leads] { return leads; };
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

}  // namespace
}  // namespace karst::cloud::aws
