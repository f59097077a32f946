// The hands that delete what was made for a node class: one step after another, to the end or to
// the first that fails.
#include "providers/aws/release.h"
#include "tests/cloud/aws_cloud_case.h"

namespace karst::cloud::aws {
namespace {

using model::OutcomeKind;
using model::RefusalCode;

constexpr const char* kTwoTemplates =
    "<DescribeLaunchTemplatesResponse><launchTemplates>"
    "<item><launchTemplateId>lt-1</launchTemplateId></item>"
    "<item><launchTemplateId>lt-2</launchTemplateId></item>"
    "</launchTemplates></DescribeLaunchTemplatesResponse>";
constexpr const char* kNoProfiles =
    "<ListInstanceProfilesResponse><ListInstanceProfilesResult><InstanceProfiles/>"
    "</ListInstanceProfilesResult></ListInstanceProfilesResponse>";

struct AwsReleaseHands : AwsCloudTest {
  void ask() {
    model::NodeClass node_class;
    node_class.ref = {"karpenter.k8s.aws", "EC2NodeClass", "default"};
    node_class.uid = "class-uid";
    submit(model::ReleaseNodeClass{node_class.ref, node_class.uid,
                                   providers::aws::encode_release(node_class)});
  }
};

TEST_F(AwsReleaseHands, StepsFollowOneAnother) {
  ask();
  EXPECT_EQ(reply(200, kTwoTemplates), "DescribeLaunchTemplates");
  EXPECT_EQ(transport.open.size(), 1u);
  EXPECT_EQ(reply(200, "<DeleteLaunchTemplateResponse/>"), "DeleteLaunchTemplate");
  EXPECT_EQ(reply(400, error("InvalidLaunchTemplateId.NotFound")), "DeleteLaunchTemplate");
  EXPECT_EQ(reply(200, kNoProfiles), "ListInstanceProfiles");
  EXPECT_EQ(outcome().kind, OutcomeKind::kDone);
}

TEST_F(AwsReleaseHands, AFailureEndsIt) {
  ask();
  reply(200, kTwoTemplates);
  reply(403, error("UnauthorizedOperation"));
  const model::Outcome denied = outcome();
  EXPECT_EQ(denied.kind, OutcomeKind::kRefused);
  EXPECT_EQ(denied.code, RefusalCode::kDenied);
  EXPECT_NE(denied.message.find("DeleteLaunchTemplate"), std::string::npos) << denied.message;
}

TEST_F(AwsReleaseHands, AListThatIsCutIsNotEmpty) {
  ask();
  reply(200, "<DescribeLaunchTemplatesResponse><launchTemplates>");
  EXPECT_EQ(outcome().kind, OutcomeKind::kRefused);
  sink.facts.clear();
  ask();
  reply(200, "<html/>");
  EXPECT_EQ(outcome().kind, OutcomeKind::kRefused);
}

TEST_F(AwsReleaseHands, NothingIsDeletedPastTheLease) {
  bool leads = true;
  may_leave = [&leads] { return leads; };
  ask();
  EXPECT_FALSE(transport.open.front().request.may_leave) << "a question";
  reply(200, kTwoTemplates);
  ASSERT_TRUE(transport.open.front().request.may_leave);
  leads = false;
  EXPECT_FALSE(transport.open.front().request.may_leave());
}

}  // namespace
}  // namespace karst::cloud::aws
