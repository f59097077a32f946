// A fleet's answer that a subnet has no address left.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "providers/aws/fleet.h"
#include "tests/providers/aws_launch_case.h"

namespace karst::providers::aws {
namespace {

// A zone with two subnets, and one with one.
TEST(AwsFullSubnets, ShutTheirOffersOnlyWhereNoOtherIsLeft) {
  const auto full = [](const std::string& zone, const std::string& subnet) {
    return "<item><launchTemplateAndOverrides><overrides><instanceType>m5.large</instanceType>" +
           (subnet.empty() ? "" : "<subnetId>" + subnet + "</subnetId>") +
           (zone.empty() ? "" : "<availabilityZone>" + zone + "</availabilityZone>") +
           "</overrides></launchTemplateAndOverrides><errorCode>InsufficientFreeAddressesInSubnet"
           "</errorCode><errorMessage>no</errorMessage></item>";
  };
  using Texts = std::vector<std::string>;
  const auto told = [](const LaunchCase& c, const std::string& errors) {
    const auto out = decode_fleet(
        "<CreateFleetResponse><errorSet>" + errors + "</errorSet></CreateFleetResponse>",
        c.command());
    EXPECT_TRUE(out);
    if (!out) return Texts();
    EXPECT_EQ(out->code, model::RefusalCode::kCapacity);
    Texts all = out->full_subnets;
    for (const model::Offer& offer : out->exhausted)
      all.push_back(offer.instance_type + " " + offer.zone);
    return all;
  };
  LaunchCase c;
  EXPECT_EQ(told(c, full("us-east-1a", "subnet-a")), Texts{"subnet-a"});
  EXPECT_EQ(told(c, full("us-east-1a", "")), Texts{"subnet-a"});
  EXPECT_EQ(told(c, full("", "subnet-a") + full("us-east-1b", "subnet-b")),
            (Texts{"subnet-a", "subnet-b", "m5.large us-east-1b"}));
  c.promised = {{"subnet-a", "us-east-1a", 1'000'000}};
  EXPECT_EQ(told(c, full("us-east-1a", "subnet-c")), (Texts{"subnet-c", "m5.large us-east-1a"}))
      << "the next order names the other, and then there is none";
}

}  // namespace
}  // namespace karst::providers::aws
