// What EKS says of a cluster, and what settings say before it.
#include <gtest/gtest.h>

#include "cloud/aws/eks.h"

namespace karst::cloud::aws {
namespace {

// An answer of eks:DescribeCluster (vendor's API reference), shortened.
constexpr const char* kAnswer =
    R"({"cluster":{"name":"demo","arn":"arn:aws:eks:us-east-1:1:cluster/demo",)"
    R"("endpoint":"https://A.gr7.us-east-1.eks.amazonaws.com",)"
    R"("certificateAuthority":{"data":"Y2E="},"kubernetesNetworkConfig":)"
    R"({"serviceIpv4Cidr":"10.100.0.0/16","ipFamily":"ipv4"}}})";

providers::aws::Cluster read(const std::string& answer, providers::aws::Cluster given = {}) {
  auto made = with_eks(std::move(given), answer);
  EXPECT_TRUE(made) << answer;
  return made ? *made : providers::aws::Cluster();
}

TEST(AwsEks, FillsWhatIsEmpty) {
  const auto cluster = read(kAnswer);
  EXPECT_EQ(cluster.endpoint, "https://A.gr7.us-east-1.eks.amazonaws.com");
  EXPECT_EQ(cluster.ca, "Y2E=");
  EXPECT_EQ(cluster.arn, "arn:aws:eks:us-east-1:1:cluster/demo");
  EXPECT_EQ(cluster.service_cidr, "10.100.0.0/16");
  EXPECT_FALSE(cluster.ipv6);
}

TEST(AwsEks, WhatASettingSaysStays) {
  providers::aws::Cluster given;
  given.endpoint = "https://mine";
  given.ca = "bWluZQ==";
  const auto cluster = read(kAnswer, given);
  EXPECT_EQ(cluster.endpoint, "https://mine");
  EXPECT_EQ(cluster.ca, "bWluZQ==");
  EXPECT_EQ(cluster.service_cidr, "10.100.0.0/16");
}

TEST(AwsEks, TheVersionIsTheApiServersUnlessEksIsToSayIt) {
  const std::string answer = R"({"cluster":{"version":"1.35"}})";
  providers::aws::Cluster given;
  given.version = "1.34";
  EXPECT_EQ(read(answer, given).version, "1.34");
  given.version_of_eks = true;
  EXPECT_EQ(read(answer, given).version, "1.35");
  EXPECT_EQ(read(kAnswer, given).version, "1.34");
}

TEST(AwsEks, AClusterOfIpv6HasItsCidr) {
  const auto cluster =
      read(R"({"cluster":{"kubernetesNetworkConfig":{"serviceIpv6Cidr":"fd30:1c53:5f8a::/108",)"
           R"("ipFamily":"ipv6"}}})");
  EXPECT_TRUE(cluster.ipv6);
  EXPECT_EQ(cluster.service_cidr, "fd30:1c53:5f8a::/108");
  EXPECT_EQ(cluster.endpoint, "");
}

TEST(AwsEks, AnythingElseIsNoAnswer) {
  for (const char* text : {"", "<html>", "[]", R"({"message":"no"})"})
    EXPECT_FALSE(with_eks({}, text)) << text;
}

}  // namespace
}  // namespace karst::cloud::aws
