// User data that the log does not have: the order's bytes lack the text, and with the text the
// template is the one that it would have been.
#include <gtest/gtest.h>

#include "base/base64.h"
#include "base/sha256.h"
#include "providers/aws/late_user_data.h"
#include "tests/providers/aws_launch_case.h"

namespace karst::providers::aws {
namespace {

nlohmann::json stand_in(const std::string& text) {
  return {{"sha256", base::hex_lower(base::sha256(text))}, {"bytes", text.size()}};
}

struct FamilyCase {
  const char* family;  // of amiFamily
  const char* text;
};
const FamilyCase kFamilies[] = {
    {"AL2", "#!/bin/bash\necho canary"},
    {"AL2023", "#!/bin/bash\necho canary"},
    {"AL2023", "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nmetadata: {name: canary}\n"},
    {"Bottlerocket", "[settings.host-containers.admin]\nuser-data = \"canary\"\n"},
    {"Windows2022", "Write-Host canary"},
    {"Custom", "canary"},
};

LaunchCase case_of(const FamilyCase& one) {
  LaunchCase c;
  c.spec["amiFamily"] = one.family;
  c.spec["amiSelectorTerms"] = {{{"id", "ami-1"}}};
  c.spec["kubelet"] = {{"maxPods", 20}, {"clusterDNS", {"10.0.0.1"}}};
  c.spec["instanceStorePolicy"] = "RAID0";
  c.claims.front().taints = {{"team", "a", model::TaintEffect::kNoSchedule}};
  c.claims.front().startup_taints = {{"boot", "", model::TaintEffect::kNoExecute}};
  if (std::string(one.family).starts_with("Windows")) {
    c.offers = {{"m5.large", "us-east-1a", "spot", 40'000'000, ""}};
    for (Image& image : c.resolved.images)
      image.requirements.push_back(
          {"node.kubernetes.io/windows-build", model::Operator::kIn, {"10.0.20348"}, 0});
  }
  return c;
}

TEST(AwsLateUserData, WithItsTextTheTemplateIsWhatItWouldHaveBeen) {
  for (const FamilyCase& one : kFamilies) {
    SCOPED_TRACE(std::string(one.family) + ": " + one.text);
    LaunchCase plain = case_of(one);
    plain.spec["userData"] = one.text;
    LaunchCase late = case_of(one);
    late.spec["userData"] = stand_in(one.text);
    EXPECT_EQ(late.encode().find("canary"), std::string::npos);
    const LaunchOrder want = plain.order();
    const LaunchOrder got = late.order();
    ASSERT_EQ(got.refusal, "") << got.message;
    ASSERT_EQ(got.templates.size(), want.templates.size());
    ASSERT_FALSE(got.templates.empty());
    for (std::size_t i = 0; i < got.templates.size(); ++i) {
      EXPECT_EQ(lacking_text(want.templates[i]), "");
      EXPECT_EQ(lacking_text(got.templates[i]), base::hex_lower(base::sha256(one.text)));
      Request made = got.templates[i];
      const auto done = complete(made, one.text);
      ASSERT_TRUE(done) << done.error().message;
      EXPECT_EQ(made.parameters["LaunchTemplateData"].dump(),
                want.templates[i].parameters["LaunchTemplateData"].dump());
      EXPECT_FALSE(complete(made, one.text)) << "nothing is lacking any more";
    }
  }
}

TEST(AwsLateUserData, TheTemplatesNameChangesWithTheTextAndWithWhatKarstAdds) {
  const auto name = [](const LaunchCase& c) {
    return c.order().templates.front().parameters["LaunchTemplateName"].get<std::string>();
  };
  LaunchCase c;
  c.spec["userData"] = stand_in("a");
  const std::string first = name(c);
  EXPECT_EQ(first, name(c));
  c.spec["userData"] = stand_in("b");
  EXPECT_NE(first, name(c));
  c.spec["userData"] = stand_in("a");
  c.resolved.cluster.endpoint = "https://another.example";
  EXPECT_NE(first, name(c));
}

TEST(AwsLateUserData, ABrokenTextIsRefusedWithoutBeingSaid) {
  LaunchCase c;
  c.spec["amiFamily"] = "Bottlerocket";
  c.spec["amiSelectorTerms"] = {{{"id", "ami-1"}}};
  const std::string broken = "[settings\ncanary";
  c.spec["userData"] = stand_in(broken);
  Request request = c.order().templates.front();
  const Request before = request;
  const auto done = complete(request, broken);
  ASSERT_FALSE(done);
  EXPECT_TRUE(done.error().message.starts_with("userData: line 1: ")) << done.error().message;
  EXPECT_EQ(done.error().message.find("canary"), std::string::npos);
  EXPECT_EQ(request, before);
  const auto long_one =
      complete(request, "[settings.a]\nb = \"" + std::string(20'000, 'c') + "\"\n");
  ASSERT_FALSE(long_one);
  EXPECT_NE(long_one.error().message.find(kUserDataTooLong), std::string::npos);
}

TEST(AwsLateUserData, WhatIsNotAnOrdersIsRefused) {
  LaunchCase c;
  c.spec["userData"] = stand_in("a");
  const Request good = c.order().templates.front();
  const Tree& late = good.parameters["LaunchTemplateData"]["UserData"];
  ASSERT_GT(late.size(), 10u);
  for (const auto& [key, value] : late.items()) {
    if (key == "without") continue;
    for (const Tree& other : {Tree(), Tree({{"x", 1}}), Tree("x")}) {
      if (value.type() == other.type()) continue;
      Request bad = good;
      bad.parameters["LaunchTemplateData"]["UserData"][key] = other;
      if (key == "custom")
        EXPECT_EQ(lacking_text(bad), "");
      else
        EXPECT_FALSE(complete(bad, "a")) << key << " " << other.dump();
    }
  }
  EXPECT_EQ(lacking_text({"ec2", "CreateLaunchTemplate", Tree()}), "");
}

}  // namespace
}  // namespace karst::providers::aws
