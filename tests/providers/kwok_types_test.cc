// The kwok cloud's types from a file.
#include <gtest/gtest.h>

#include "providers/kwok/instance_types.h"
#include "providers/kwok/kwok.h"

namespace karst::providers::kwok {
namespace {

const std::string kOne = R"([{
  "name": "t3-8x-large", "architecture": "arm64", "operatingSystems": ["linux"],
  "resources": {"cpu": "8", "memory": "16Gi", "ephemeral-storage": "20Gi", "nvidia.com/gpu": "1"},
  "offerings": [
    {"Price": 0.275, "Available": false, "Requirements": [
      {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]},
      {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["b", "a"]}]},
    {"Price": 1, "Available": true, "Requirements": [
      {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
      {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a"]}]}]
}])";

TEST(InstanceTypes, OneIsReadWhole) {
  const auto catalogue = read_instance_types(kOne);
  ASSERT_TRUE(catalogue.has_value()) << catalogue.error().message;
  ASSERT_EQ(catalogue->types.size(), 1u);
  EXPECT_EQ(catalogue->provider, "kwok");
  const model::InstanceType& type = catalogue->types[0];
  EXPECT_EQ(type.capacity.cpu_millis, 8'000);
  EXPECT_EQ(type.capacity.pods, 110) << "nothing was said of pods";
  EXPECT_EQ(type.capacity.amount("nvidia.com/gpu"), 1);
  EXPECT_EQ(type.allocatable.cpu_millis, 7'900);
  EXPECT_EQ(type.allocatable.memory_bytes, (std::int64_t{16} << 30) - (10 << 20));
  const model::Requirements labels(type.requirements);
  EXPECT_TRUE(labels.find("karpenter.kwok.sh/instance-family")->contains("t3"));
  EXPECT_TRUE(labels.find("karpenter.kwok.sh/instance-size")->contains("8"));
  EXPECT_TRUE(labels.find("karpenter.kwok.sh/instance-memory")->contains("16Gi"));
  EXPECT_TRUE(labels.find("kubernetes.io/arch")->contains("arm64"));
  ASSERT_EQ(type.offerings.size(), 3u);
  EXPECT_EQ(type.offerings[0].zone + type.offerings[0].capacity_type, "aon-demand");
  EXPECT_EQ(type.offerings[0].price_nanos_per_hour, 1'000'000'000);
  EXPECT_EQ(type.offerings[2].zone + type.offerings[2].capacity_type, "bspot");
  EXPECT_EQ(type.offerings[2].price_nanos_per_hour, 275'000'000);
  EXPECT_TRUE(type.offerings[2].available) << "always, as with Karpenter";
  const auto provider = provider_with(*catalogue);
  EXPECT_EQ(provider->name(), "kwok");
  EXPECT_EQ(provider->embedded_catalogue().types.size(), 1u);
}

TEST(InstanceTypes, WhatCannotBeIsRefusedWithItsLine) {
  const auto changed = [](const std::string& from, const std::string& to) {
    std::string text = kOne;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  struct Case {
    std::string text, said;
  };
  const std::vector<Case> cases = {
      {"{}", "expected one JSON array"},
      {"[", "line 1"},
      {changed("\"t3-8x-large\"", "\"\""), "line 1: an instance type without a name"},
      {changed("\"16Gi\"", "\"much\""), "line 3: memory"},
      {changed("\"8\"", "\"100m\""), "line 3: expected more than 100m cpu"},
      {changed("0.275", "\"free\""), "line 5: expected Price"},
      {changed("0.275", "-1"), "line 5: expected Price"},
      {changed("[\"spot\"]", "[\"reserved\"]"), "the capacity type \"reserved\""},
      {changed("\"karpenter.sh/capacity-type\"", "\"team\""), "line 6: the key \"team\""},
      {changed("\"operator\": \"In\"", "\"operator\": \"NotIn\""), "expected the operator In"},
      {changed("[\"linux\"]", "[]"), "expected operatingSystems"},
      {changed("\"arm64\"", "\"\""), "expected architecture"},
      {"[" + kOne.substr(1, kOne.size() - 2) + "," + kOne.substr(1), "stands there twice"},
  };
  for (const Case& c : cases) {
    const auto read = read_instance_types(c.text);
    ASSERT_FALSE(read.has_value()) << c.said;
    EXPECT_NE(read.error().message.find(c.said), std::string::npos) << read.error().message;
  }
}

}  // namespace
}  // namespace karst::providers::kwok
