// What EKS says of a cluster, and what settings say before it.
#include <gtest/gtest.h>

#include "cloud/aws/account.h"
#include "cloud/aws/eks.h"
#include "tests/cloud/aws_account.h"

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
  EXPECT_EQ(cluster.dns_ip, "10.100.0.10");
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
  EXPECT_EQ(cluster.dns_ip, "fd30:1c53:5f8a::a");
  EXPECT_EQ(cluster.endpoint, "");
}

// Says the same to everybody at once, and runs no timer.
class BusyTransport final : public http::Transport {
 public:
  http::RequestId send(http::Request, Done done) override {
    ++asked;
    http::Response response;
    response.status = 503;
    done(std::move(response));
    return 1;
  }
  void cancel(http::RequestId) override {}
  void after(std::int64_t, std::function<void()> action) override {
    if (asked == 0) action();  // the client's own step to this thread
  }
  int asked = 0;
};

TEST(AwsEks, WhoWaitsMayGiveUp) {
  providers::aws::Cluster given;
  given.name = "demo";
  const auto at_once = [] { return true; };
  AwsAccount silent;
  const auto unanswered = ask_eks(*silent.client, given, at_once);
  ASSERT_FALSE(unanswered);
  EXPECT_EQ(unanswered.error().kind, base::Kind::kRetry);
  EXPECT_EQ(unanswered.error().message, "eks:DescribeCluster of demo: given up");

  testing_kube::FakeClock clock;
  ServerTime time{clock};
  BusyTransport busy;
  CredentialKeeper keeper{busy, clock, time, keys_that_never_change, 0, {}};
  const auto client = client_on_loopback(busy, keeper, time, clock);
  const auto paused = ask_eks(*client, given, at_once);
  ASSERT_FALSE(paused);
  EXPECT_EQ(paused.error().message, "eks:DescribeCluster of demo: given up");
  EXPECT_EQ(busy.asked, 1) << "during the pause";
}

TEST(AwsAccountOpens, UntilItIsToGiveUpAskingForItsRegion) {
  testing_kube::FakeTransport transport;
  testing_kube::FakeClock clock;
  Settings settings;
  settings.environment["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = "http://127.0.0.1:1";
  Account::Options options;
  int looked = 0;
  options.give_up = [&] { return ++looked == 2; };
  const auto account = Account::open(transport, clock, settings, std::move(options));
  ASSERT_FALSE(account);
  EXPECT_EQ(account.error().kind, base::Kind::kRetry);
  EXPECT_EQ(account.error().message, "http://127.0.0.1:1, asked for the region: given up");
  EXPECT_EQ(looked, 2);
  EXPECT_EQ(transport.open.size(), 1u);
}

TEST(AwsEks, WithoutARangeOfServicesNothingIsKnownOfItsDns) {
  EXPECT_EQ(read(R"({"cluster":{}})").dns_ip, "");
  for (const char* cidr : {"", "no", "fd30::1/108"})
    for (const char* family : {"ipv4", "ipv6"})
      EXPECT_EQ(
          read(std::string(R"({"cluster":{"kubernetesNetworkConfig":{"serviceIpv6Cidr":")") + cidr +
               R"(","serviceIpv4Cidr":")" + cidr + R"(","ipFamily":")" + family + R"("}}})")
              .dns_ip,
          "")
          << cidr << " " << family;
}

TEST(AwsEks, AnythingElseIsNoAnswer) {
  for (const char* text : {"", "<html>", "[]", R"({"message":"no"})"})
    EXPECT_FALSE(with_eks({}, text)) << text;
}

}  // namespace
}  // namespace karst::cloud::aws
