// Looks at many machines at once.
#include "cloud/aws/instance_reads.h"
#include "tests/cloud/aws_cloud_case.h"

namespace karst::cloud::aws {
namespace {

using model::OutcomeKind;
using AwsInstanceReads = AwsCloudTest;

// The first ones go by themselves; what is asked for meanwhile goes together.
TEST_F(AwsInstanceReads, ManyLooksAtMachinesShareCalls) {
  const std::size_t alone = kReadsAtOnceMax;
  for (std::size_t i = 0; i < alone + 3; ++i)
    submit(model::FindInstances{model::ClaimUid("uid-0"),
                                model::ProviderId("aws:///us-east-1a/i-" + std::to_string(i))});
  const auto machine = [](std::size_t i, const char* state) {
    return instance("i-" + std::to_string(i), "uid-0:1", state);
  };
  EXPECT_EQ(transport.open.size(), alone);
  for (std::size_t i = 0; i < alone; ++i) {
    EXPECT_EQ(reply(200, described(machine(i, "running"))), "DescribeInstances");
    EXPECT_NE(last.body.find("InstanceId.1=i-" + std::to_string(i)), std::string::npos);
  }
  ASSERT_EQ(transport.open.size(), 1u);
  EXPECT_EQ(reply(200, described(machine(alone, "running") + machine(alone + 1, "terminated"))),
            "DescribeInstances");
  EXPECT_NE(last.body.find("Filter.1.Name=instance-id&Filter.1.Value.1=i-4&Filter.1.Value.2=i-5&"
                           "Filter.1.Value.3=i-6"),
            std::string::npos)
      << last.body;
  EXPECT_EQ(sink.all<model::Outcome>().size(), alone + 2) << "the third is not proven absent";
  EXPECT_EQ(reply(400, error("InvalidInstanceID.NotFound")), "DescribeInstances");
  EXPECT_NE(last.body.find("InstanceId.1=i-6"), std::string::npos);
  const auto all = sink.all<model::Outcome>();
  ASSERT_EQ(all.size(), alone + 3);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].kind, OutcomeKind::kDone);
    EXPECT_EQ(all[i].instances.size(), i <= alone ? 1u : 0u) << i;
  }
}

TEST_F(AwsInstanceReads, ALookAtManyThatFailsProvesNothing) {
  const std::size_t asked = kReadsAtOnceMax + 2;
  for (std::size_t i = 0; i < asked; ++i)
    submit(model::FindInstances{model::ClaimUid("uid-0"),
                                model::ProviderId("aws:///us-east-1a/i-" + std::to_string(i))});
  while (!transport.open.empty()) reply(503, error("RequestLimitExceeded"));
  const auto all = sink.all<model::Outcome>();
  ASSERT_EQ(all.size(), asked);
  for (const model::Outcome& one : all) EXPECT_EQ(one.kind, OutcomeKind::kRefused);
}

}  // namespace
}  // namespace karst::cloud::aws
