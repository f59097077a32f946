// The kwok cloud: its catalogue, its prices, and the bytes of a launch order.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "providers/kwok/catalogue.h"
#include "providers/kwok/launch.h"
#include "providers/provider.h"

namespace karst::providers {
namespace {

constexpr std::int64_t kGi = std::int64_t{1} << 30;

const model::InstanceType* type_named(const std::string& name) {
  for (const auto& type : find_provider("kwok")->embedded_catalogue().types)
    if (type.name == name) return &type;
  return nullptr;
}

TEST(Provider, IsFoundByName) {
  ASSERT_NE(nullptr, find_provider("kwok"));
  EXPECT_EQ("kwok", find_provider("kwok")->name());
  ASSERT_NE(nullptr, find_provider("aws"));
  EXPECT_EQ("aws", find_provider("aws")->name());
  EXPECT_EQ(nullptr, find_provider("huawei"));
  EXPECT_EQ(nullptr, find_provider(""));
}

TEST(Provider, UnderstandsItsNodeClassOnly) {
  const Provider& kwok = *find_provider("kwok");
  EXPECT_TRUE(kwok.understands({"karpenter.kwok.sh", "KWOKNodeClass", "default"}));
  EXPECT_TRUE(kwok.understands({"karpenter.kwok.sh", "KWOKNodeClass", "any"}));
  EXPECT_FALSE(kwok.understands({"karpenter.k8s.aws", "EC2NodeClass", "default"}));
  EXPECT_FALSE(kwok.understands({"karpenter.k8s.aws", "KWOKNodeClass", "default"}));
}

TEST(Catalogue, IsSortedCompleteAndConsistent) {
  const model::Catalogue& catalogue = find_provider("kwok")->embedded_catalogue();
  EXPECT_EQ("kwok", catalogue.provider);
  ASSERT_EQ(144u, catalogue.types.size()) << "3 families, 12 sizes, 2 architectures, 2 systems";
  std::set<std::string> names;
  std::string last;
  for (const model::InstanceType& type : catalogue.types) {
    SCOPED_TRACE(type.name);
    EXPECT_LT(last, type.name);
    last = type.name;
    EXPECT_TRUE(names.insert(type.name).second);
    EXPECT_TRUE(model::fits(type.allocatable, type.capacity));
    EXPECT_GT(type.allocatable.cpu_millis, 0);
    EXPECT_EQ(type.capacity.cpu_millis - 100, type.allocatable.cpu_millis);
    EXPECT_EQ(type.capacity.memory_bytes - 10 * (1 << 20), type.allocatable.memory_bytes);
    EXPECT_EQ(std::min<std::int64_t>(16 * type.capacity.cpu_millis / 1000, 1024),
              type.capacity.pods);
    ASSERT_EQ(8u, type.offerings.size());
    std::set<std::pair<std::string, std::string>> offered;
    for (const model::Offering& offering : type.offerings) {
      EXPECT_TRUE(offering.available);
      EXPECT_GT(offering.price_nanos_per_hour, 0);
      EXPECT_TRUE(offered.insert({offering.zone, offering.capacity_type}).second);
    }
    const model::Requirements labels(type.requirements);
    EXPECT_TRUE(labels.find(model::kInstanceTypeLabel)->contains(type.name));
    EXPECT_TRUE(labels.find(model::kOsLabel)
                    ->contains(type.name.ends_with("-windows") ? "windows" : "linux"));
    EXPECT_NE(nullptr, labels.find(model::kArchLabel));
    for (const std::string_view key : find_provider("kwok")->label_keys())
      EXPECT_NE(nullptr, labels.find(key)) << key;
    EXPECT_TRUE(std::is_sorted(type.requirements.begin(), type.requirements.end()));
  }
}

TEST(Provider, EveryLabelOfItsMachinesThatIsInItsDomainIsItsOwn) {
  for (const char* name : {"aws", "kwok"}) {
    const Provider& provider = *find_provider(name);
    const auto own = provider.own_labels();
    ASSERT_TRUE(std::is_sorted(own.begin(), own.end())) << name;
    const auto check = [&](std::string_view key) {
      if (!key.substr(0, key.find('/')).ends_with(provider.label_domain())) return;
      EXPECT_TRUE(std::binary_search(own.begin(), own.end(), key)) << key;
    };
    ASSERT_FALSE(provider.label_domain().empty()) << name;
    for (const std::string_view key : provider.label_keys()) check(key);
    for (const model::InstanceType& type : provider.embedded_catalogue().types) {
      for (const model::RequirementSpec& spec : type.requirements) check(spec.key);
      for (const model::Offering& offering : type.offerings)
        for (const auto& [key, value] : offering.labels) check(key);
    }
  }
  const auto aws = find_provider("aws")->own_labels();
  for (const char* key : {"capacity-reservation-id", "ec2nodeclass", "placement-group-partition"})
    EXPECT_TRUE(
        std::binary_search(aws.begin(), aws.end(), "karpenter.k8s.aws/" + std::string(key)));
}

// Karpenter's formula by hand: 0.025 a CPU + 0.001 for 10^9 bytes; spot 0.7 of it.
TEST(Catalogue, Prices) {
  struct Case {
    const char* type;
    std::int64_t on_demand, spot;
  };
  const Case cases[] = {
      {"c-1x-amd64-linux", 27'147'484, 19'003'239},          // 0.025 + 0.002147483648
      {"s-4x-arm64-linux", 117'179'869, 82'025'908},         // 0.1 + 0.017179869184
      {"c-1x-amd64-windows", 27'147'484, 19'003'239},        // as Linux
      {"m-256x-arm64-linux", 8'599'023'256, 6'019'316'279},  // 6.4 + 2.199023255552
      {"m-64x-amd64-linux", 2'149'755'814, 1'504'829'070},   // 1.6 + 0.549755813888
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.type);
    const model::InstanceType* type = type_named(test.type);
    ASSERT_NE(nullptr, type);
    for (const model::Offering& offering : type->offerings)
      EXPECT_EQ(offering.capacity_type == "spot" ? test.spot : test.on_demand,
                offering.price_nanos_per_hour);
  }
}

TEST(Launch, PriceText) {
  EXPECT_EQ("0.027147484", kwok::price_text(27'147'484));
  EXPECT_EQ("2.1", kwok::price_text(2'100'000'000));
  EXPECT_EQ("3", kwok::price_text(3'000'000'000));
  EXPECT_EQ("0", kwok::price_text(0));
  EXPECT_EQ("0.000000001", kwok::price_text(1));
}

model::NodeClaim claim(const std::string& name) {
  model::NodeClaim claim;
  claim.name = model::ClaimName(name);
  claim.uid = model::ClaimUid("0c5a-uid");
  claim.labels = {{"karpenter.kwok.sh/kwoknodeclass", "default"},
                  {"karpenter.sh/nodepool", "default"},
                  {"team", "blue"}};
  claim.requirements = {{"node.kubernetes.io/instance-type",
                         model::Operator::kIn,
                         {"c-1x-amd64-linux", "c-2x-amd64-linux"},
                         0},
                        {"stage", model::Operator::kIn, {"test"}, 0},
                        {"no", model::Operator::kDoesNotExist, {}, 0},
                        {"never", model::Operator::kNotIn, {"x"}, 0}};
  claim.taints = {{"dedicated", "db", model::TaintEffect::kNoSchedule}};
  claim.startup_taints = {{"cilium", "", model::TaintEffect::kNoExecute},
                          {"dedicated", "other", model::TaintEffect::kNoSchedule}};
  return claim;
}

std::string encode(const std::vector<LaunchSubject>& subjects, const std::string& type) {
  const std::vector<model::Offer> offers = {
      {type, "test-zone-b", "spot", 19'003'239},
      {"c-2x-amd64-linux", "test-zone-a", "spot", 38'000'000}};
  return find_provider("kwok")->encode_launch(find_provider("kwok")->embedded_catalogue(), subjects,
                                              model::LaunchToken("token"), offers, "log-7");
}

TEST(Launch, OneNodeByteForByte) {
  const model::NodeClaim subject = claim("default-abcde");
  const std::string want =
      R"([{"apiVersion":"v1","kind":"Node","metadata":{"name":"kwok-default-abcde-2","labels":{)"
      R"("eks-node-viewer/instance-price":"0.019003239",)"
      R"("karpenter.kwok.sh/instance-cpu":"1",)"
      R"("karpenter.kwok.sh/instance-family":"c",)"
      R"("karpenter.kwok.sh/instance-memory":"2Gi",)"
      R"("karpenter.kwok.sh/instance-size":"1",)"
      R"("karpenter.kwok.sh/kwoknodeclass":"default",)"
      R"("karpenter.sh/capacity-type":"spot",)"
      R"("karpenter.sh/nodepool":"default",)"
      R"("kubernetes.io/arch":"amd64",)"
      R"("kubernetes.io/hostname":"default-abcde",)"
      R"("kubernetes.io/os":"linux",)"
      R"("kwok-partition":"a",)"
      R"("kwok.x-k8s.io/node":"fake",)"
      R"("node.kubernetes.io/instance-type":"c-1x-amd64-linux",)"
      R"("stage":"test",)"
      R"("team":"blue",)"
      R"("topology.kubernetes.io/zone":"test-zone-b"},)"
      R"("annotations":{"karst.sh/attempt":"2","karst.sh/claim-uid":"0c5a-uid",)"
      R"("karst.sh/command-id":"log-7","karst.sh/launch-token":"token",)"
      R"("kwok.x-k8s.io/node":"fake"}},)"
      R"("spec":{"providerID":"kwok://kwok-default-abcde-2","taints":[)"
      R"({"key":"dedicated","value":"db","effect":"NoSchedule"},)"
      R"({"key":"cilium","effect":"NoExecute"},)"
      R"({"key":"karpenter.sh/unregistered","effect":"NoExecute"}]},)"
      R"("status":{"capacity":{"cpu":"1","ephemeral-storage":"20Gi","memory":"2Gi","pods":"16"},)"
      R"("allocatable":{"cpu":"900m","ephemeral-storage":"20Gi","memory":"2038Mi","pods":"16"}}}])";
  EXPECT_EQ(want, encode({{&subject, 2, "{}"}}, "c-1x-amd64-linux"));
}

TEST(Launch, ANodeCarriesTheDelayOfItsNodeClass) {
  const model::NodeClaim subject = claim("default-abcde");
  const auto with = [&](std::string_view spec) {
    return encode({{&subject, 1, spec}}, "c-1x-amd64-linux")
        .find(R"("karst.sh/registration-delay":"5s")");
  };
  EXPECT_NE(with(R"({"nodeRegistrationDelay":"5s"})"), std::string::npos);
  for (const char* spec : {"", "{}", "[]", R"({"nodeRegistrationDelay":5})", "{"})
    EXPECT_EQ(with(spec), std::string::npos) << spec;
}

TEST(Launch, OneNodePerSubjectInOrder) {
  const model::NodeClaim a = claim("b-claim");
  const model::NodeClaim b = claim("a-claim");
  const std::string bytes = encode({{&a, 1, ""}, {&b, 3, ""}}, "c-1x-amd64-linux");
  const auto first = bytes.find("kwok://kwok-b-claim-1");
  const auto second = bytes.find("kwok://kwok-a-claim-3");
  ASSERT_NE(std::string::npos, first);
  ASSERT_NE(std::string::npos, second);
  EXPECT_LT(first, second);
  EXPECT_EQ(bytes, encode({{&a, 1, ""}, {&b, 3, ""}}, "c-1x-amd64-linux"));
  EXPECT_EQ("[]", encode({}, "c-1x-amd64-linux"));
}

TEST(Launch, UnknownTypeIsAsLargeAsTheClaimAsks) {
  model::NodeClaim subject = claim("default-abcde");
  subject.requests = {1500, kGi, 0, 3, {{"nvidia.com/gpu", 1}}};
  EXPECT_NE(
      std::string::npos,
      encode({{&subject, 1, ""}}, "z-1x")
          .find(R"("allocatable":{"cpu":"1500m","memory":"1Gi","nvidia.com/gpu":"1","pods":"3"})"));
}

TEST(Launch, HostnameLabelStaysWithinALabelsLength) {
  const std::string name(63, 'a');
  const model::NodeClaim subject = claim(name);
  const std::string bytes = encode({{&subject, 1, ""}}, "c-1x-amd64-linux");
  EXPECT_NE(std::string::npos, bytes.find(R"("kubernetes.io/hostname":")" + name + "\""));
  EXPECT_NE(std::string::npos, bytes.find(R"("providerID":"kwok://kwok-)" + name + "-1\""));
}

}  // namespace
}  // namespace karst::providers
