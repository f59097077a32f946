// How many tags a machine has room for.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "providers/aws/aws.h"
#include "tests/providers/aws_launch_case.h"

namespace karst::providers::aws {
namespace {

// EC2 refuses a machine with more than fifty.
TEST(AwsLaunchTags, AnOrderCarriesNoMoreClaimsThanItsTagsHaveRoomFor) {
  for (const auto& [own, most] :
       std::vector<std::pair<int, std::size_t>>{{0, 100}, {27, 100}, {28, 96}, {40, 24}, {43, 6}}) {
    LaunchCase c;
    c.spec["tags"] = nlohmann::json::object();
    for (int i = 0; i < own; ++i) c.spec["tags"]["tag-" + std::to_string(i)] = "a";
    model::NodeClass node_class;
    node_class.spec_json = c.spec.dump();
    EXPECT_EQ(most, provider().claims_per_order(node_class)) << own;
    for (const std::size_t claims : {std::size_t{1}, most}) {
      c.claims.resize(claims, c.claims.front());
      const LaunchOrder order = c.order();
      EXPECT_GE(50u, order.fleet.parameters["TagSpecification"][0]["Tag"].size()) << own;
    }
  }
}

TEST(AwsLaunchTags, AClassWithMoreTagsThanAMachineHasRoomForIsRefused) {
  LaunchCase c;
  for (std::size_t i = 0; i <= kClassTagsMax; ++i) c.spec["tags"]["tag-" + std::to_string(i)] = "a";
  const LaunchOrder order = c.order();
  EXPECT_EQ(kNodeClassNotReady, order.refusal);
  model::NodeClass node_class;
  node_class.spec_json = c.spec.dump();
  EXPECT_TRUE(provider()
                  .types_for(provider().embedded_catalogue(), node_class, to_json(c.resolved), {})
                  .empty())
      << "nobody asks for what is refused, again and again";
}

}  // namespace
}  // namespace karst::providers::aws
