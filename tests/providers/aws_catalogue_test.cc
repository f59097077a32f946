// The embedded catalogue of EC2 against the table that Karpenter publishes, and against worked
// examples of its rules.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "events/codec.h"
#include "model/quantity.h"
#include "objects/writer.h"
#include "providers/aws/allocatable.h"
#include "providers/aws/catalogue.h"
#include "providers/aws/class_types.h"

namespace karst::providers::aws {
namespace {

using Json = nlohmann::json;

std::string data_path(const std::string& name) {
  return std::string(KARST_SOURCE_DIR) + "/tests/providers/data/" + name;
}

Json read_gzip(const std::string& path) {
  std::FILE* pipe = popen(("gzip -dc '" + path + "'").c_str(), "r");
  EXPECT_NE(pipe, nullptr);
  std::string text;
  char buffer[65536];
  for (std::size_t got; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    text.append(buffer, got);
  EXPECT_EQ(pclose(pipe), 0) << path;
  return Json::parse(text, nullptr, false);
}

const TypeFacts* facts_of(std::string_view name) {
  for (const TypeFacts& facts : type_facts())
    if (facts.name == name) return &facts;
  return nullptr;
}

// Labels and allocatable as the published table has them.
std::map<std::string, std::string> facts_as_published(const model::InstanceType& type) {
  std::map<std::string, std::string> all;
  for (const model::RequirementSpec& spec : type.requirements)
    if (spec.op == model::Operator::kIn && spec.values.size() == 1)
      all[spec.key] = spec.values.front();
  const auto amount = [&](const std::string& name) {
    if (const std::int64_t value = type.allocatable.amount(name); value != 0)
      all["allocatable " + name] = objects::quantity(name, value);
  };
  for (const char* name : {"cpu", "memory", "ephemeral-storage", "pods"}) amount(name);
  for (const auto& [name, value] : type.allocatable.extended) amount(name);
  return all;
}

// Not in the published table: always the same, or younger than it.
bool is_published(const std::string& key) {
  return key != "topology.kubernetes.io/region" && key != "karpenter.k8s.aws/nitro-sandbox";
}

TEST(AwsCatalogue, EqualsThePublishedTableButForTheNamedExceptions) {
  const Json golden = read_gzip(data_path("aws_allocatable.json.gz"));
  ASSERT_TRUE(golden.contains("types"));
  std::set<std::string> differences;
  std::size_t types = 0;
  std::size_t values = 0;
  for (const auto& [name, published] : golden["types"].items()) {
    const TypeFacts* facts = facts_of(name);
    ASSERT_NE(facts, nullptr) << name;
    ++types;
    std::map<std::string, std::string> wanted;
    for (const auto& [key, value] : published["labels"].items()) wanted[key] = value;
    for (const auto& [key, value] : published["allocatable"].items())
      wanted["allocatable " + key] = value;
    const auto ours = facts_as_published(make_type(*facts, {}));
    for (const auto& [key, value] : wanted) {
      ++values;
      const auto at = ours.find(key);
      const std::string said = at == ours.end() ? "nothing" : at->second;
      if (said != value) differences.insert(name + " " + key + ": " + value + ", here " + said);
    }
    for (const auto& [key, value] : ours)
      if (is_published(key) && !wanted.contains(key))
        differences.insert(name + " " + key + ": nothing, here " + value);
  }
  EXPECT_EQ(types, 1363u);
  EXPECT_GT(values, 25'000u);
  std::set<std::string> known;
  std::ifstream file(data_path("aws_exceptions.txt"));
  for (std::string line; std::getline(file, line);) known.insert(line);
  if (std::getenv("UPDATE_GOLDEN") != nullptr) {
    std::ofstream out(data_path("aws_exceptions.txt"));
    for (const std::string& line : differences) out << line << "\n";
  }
  for (const std::string& line : differences) EXPECT_TRUE(known.contains(line)) << line;
  for (const std::string& line : known)
    EXPECT_TRUE(differences.contains(line)) << "no exception any more: " << line;
}

std::string allocatable_text(std::string_view type, const std::string& spec) {
  const auto settings = read_node_class(spec);
  EXPECT_TRUE(settings) << spec << (settings ? "" : settings.error().message);
  const TypeFacts* facts = facts_of(type);
  EXPECT_NE(facts, nullptr) << type;
  if (!settings || facts == nullptr) return "";
  const model::Resources amounts = allocatable_of(*facts, *settings);
  std::string text;
  for (const char* name : {"cpu", "memory", "ephemeral-storage", "pods"})
    text += objects::quantity(name, amounts.amount(name)) + " ";
  for (const auto& [name, value] : amounts.extended)
    text += name + "=" + objects::quantity(name, value) + " ";
  text.pop_back();
  return text;
}

TEST(AwsAllocatable, FollowsFamilyDisksAndKubelet) {
  struct Case {
    const char* type;
    const char* spec;
    const char* want;
  };
  const Case cases[] = {
      {"c6a.large", R"({"amiFamily":"AL2"})", "1930m 3114Mi 17Gi 29 vpc.amazonaws.com/pod-eni=9"},
      {"c6a.large", R"({"amiSelectorTerms":[{"alias":"al2@v20240703"}]})",
       "1930m 3114Mi 17Gi 29 vpc.amazonaws.com/pod-eni=9"},
      {"c6a.xlarge", R"({"amiSelectorTerms":[{"alias":"windows2022@latest"}]})",
       "3920m 6012Mi 44Gi 110 vpc.amazonaws.com/PrivateIPv4Address=14 "
       "vpc.amazonaws.com/pod-eni=18"},
      {"c7i.2xlarge", R"({"amiFamily":"AL2023"})",
       "7910m 14162Mi 17Gi 58 vpc.amazonaws.com/pod-eni=38"},
      // Most families reserve memory by addresses, Bottlerocket by the pods that there can be.
      {"c6a.large", R"({"amiFamily":"AL2023","kubelet":{"maxPods":110}})",
       "1930m 3114Mi 17Gi 110 vpc.amazonaws.com/pod-eni=9"},
      {"c6a.large", R"({"amiFamily":"Bottlerocket","kubelet":{"maxPods":110}})",
       "1930m 2223Mi 17Gi 110 vpc.amazonaws.com/pod-eni=9"},
      {"c6a.large", R"({"amiFamily":"AL2023","kubelet":{"podsPerCore":4}})",
       "1930m 3114Mi 17Gi 8 vpc.amazonaws.com/pod-eni=9"},
      {"c6a.large", R"({"amiFamily":"Bottlerocket","kubelet":{"podsPerCore":4}})",
       "1930m 3114Mi 17Gi 29 vpc.amazonaws.com/pod-eni=9"},
      {"c6a.large",
       R"({"amiFamily":"AL2023","kubelet":{"kubeReserved":{"cpu":"200m","memory":"1Gi"},
           "systemReserved":{"cpu":"100m","memory":"100Mi","pid":"1000"},
           "evictionHard":{"memory.available":"5%","nodefs.available":"100%"}}})",
       // 3788Mi - 1024Mi - 100Mi - 5 % of 3788Mi
       "1700m 2594806169 19Gi 29 vpc.amazonaws.com/pod-eni=9"},
      {"c6a.large",
       R"({"amiFamily":"AL2023","blockDeviceMappings":[
           {"deviceName":"/dev/xvda","ebs":{"volumeSize":"100Gi"}}]})",
       "1930m 3114Mi 89Gi 29 vpc.amazonaws.com/pod-eni=9"},
      {"c6a.large",
       R"({"amiFamily":"Bottlerocket","blockDeviceMappings":[
           {"deviceName":"/dev/xvda","ebs":{"volumeSize":"4Gi"}},
           {"deviceName":"/dev/xvdb","ebs":{"volumeSize":"50Gi"}}]})",
       "1930m 3114Mi 44Gi 29 vpc.amazonaws.com/pod-eni=9"},
      // The root's mapping counts where it says a size.
      {"c6a.large",
       R"({"amiFamily":"AL2023","blockDeviceMappings":[
           {"deviceName":"/dev/xvdb","rootVolume":true,"ebs":{"volumeSize":"100Gi"}},
           {"deviceName":"/dev/xvda","ebs":{"volumeSize":"50Gi"}}]})",
       "1930m 3114Mi 89Gi 29 vpc.amazonaws.com/pod-eni=9"},
      {"c6a.large",
       R"({"amiFamily":"AL2023","blockDeviceMappings":[
           {"deviceName":"/dev/xvdb","rootVolume":true,"ebs":{"snapshotID":"snap-1"}},
           {"deviceName":"/dev/xvda","ebs":{"volumeSize":"50Gi"}}]})",
       "1930m 3114Mi 44Gi 29 vpc.amazonaws.com/pod-eni=9"},
      // Custom has the last one, whatever its device.
      {"c6a.large",
       R"({"amiFamily":"Custom","blockDeviceMappings":[
           {"deviceName":"/dev/xvda","ebs":{"volumeSize":"100Gi"}},
           {"deviceName":"/dev/sdb","ebs":{"volumeSize":"50Gi"}}]})",
       "1930m 3114Mi 44Gi 29 vpc.amazonaws.com/pod-eni=9"},
      {"c6a.large",
       R"({"amiFamily":"Custom","blockDeviceMappings":[
           {"deviceName":"/dev/xvda","ebs":{"volumeSize":"100Gi"}},
           {"deviceName":"/dev/sdb","ebs":{"snapshotID":"snap-1"}}]})",
       "1930m 3114Mi 17Gi 29 vpc.amazonaws.com/pod-eni=9"},
      // What kubelet would not take counts as not given.
      {"c6a.large",
       R"({"amiFamily":"AL2023","kubelet":{"maxPods":-1,"podsPerCore":"2",
           "kubeReserved":{"cpu":"much","memory":1},"systemReserved":{"memory":"-1Gi"},
           "evictionHard":{"memory.available":"101%"}}})",
       "1930m 3114Mi 17Gi 29 vpc.amazonaws.com/pod-eni=9"},
      // 250 GB of instance store: 250e9 - 1Gi - 10 %
      {"g5.xlarge", R"({"amiFamily":"AL2023","instanceStorePolicy":"RAID0"})",
       "3920m 14162Mi 223926258176 58 nvidia.com/gpu=1 vpc.amazonaws.com/pod-eni=4"},
  };
  for (const Case& test : cases)
    EXPECT_EQ(allocatable_text(test.type, test.spec), test.want) << test.type << " " << test.spec;
}

TEST(AwsNodeClass, SaysWhichFieldIsWrong) {
  struct Case {
    const char* spec;
    const char* said;
  };
  const Case cases[] = {
      {"[]", "spec: expected an object"},
      {"{}", "amiFamily: no known family, and no alias that names one"},
      {R"({"amiFamily":"AL2023","blockDeviceMappings":[
           {"deviceName":"/dev/xvda","ebs":{"volumeSize":"big"}}]})",
       "blockDeviceMappings.ebs.volumeSize: expected an amount such as 50Gi"},
  };
  for (const Case& test : cases) {
    const auto settings = read_node_class(test.spec);
    ASSERT_FALSE(settings) << test.spec;
    EXPECT_EQ(settings.error().message, test.said);
  }
}

const model::InstanceType* find(const model::Catalogue& catalogue, std::string_view name) {
  for (const model::InstanceType& type : catalogue.types)
    if (type.name == name) return &type;
  return nullptr;
}

TEST(AwsCatalogue, OffersWhatIsSoldInEachZone) {
  const model::Catalogue catalogue = make_catalogue({});
  EXPECT_EQ(catalogue.types.size(), 1334u);
  EXPECT_TRUE(std::is_sorted(catalogue.types.begin(), catalogue.types.end(),
                             [](const auto& a, const auto& b) { return a.name < b.name; }));
  const model::InstanceType* type = find(catalogue, "m5.large");
  ASSERT_NE(type, nullptr);
  ASSERT_EQ(type->offerings.size(), 10u);  // five zones, on demand and spot
  EXPECT_EQ(type->offerings[0], (model::Offering{"us-east-1a", "on-demand", 96'000'000, true}));
  EXPECT_EQ(type->offerings[1], (model::Offering{"us-east-1a", "spot", 96'000'000, true}));
  EXPECT_EQ(type->offerings[9].zone, "us-east-1f");
  EXPECT_EQ(find(catalogue, "g4ad.xlarge"), nullptr);  // its zones are not known
  EXPECT_EQ(find(catalogue, "a1.large"), nullptr);     // AL2023 does not run on it
  NodeClassSettings windows;
  windows.family = Family::kWindows2022;
  EXPECT_EQ(find(make_catalogue(windows), "m7g.large"), nullptr);
  EXPECT_EQ(zone_id_of("us-east-1a"), "use1-az6");
  EXPECT_EQ(zone_id_of("us-west-2a"), "");
  EXPECT_EQ(attachable_volumes("m5.large"), 26);
  EXPECT_EQ(attachable_volumes("none.large"), 0);
}

TEST(AwsCatalogue, OtherPlacesHaveTheTypesOfTheirRegion) {
  const auto narrow = place_of({"us-east-1b", "us-east-1a", "us-east-1b"});
  ASSERT_TRUE(narrow);
  const model::InstanceType two = make_type(*facts_of("m5.large"), {}, *narrow);
  ASSERT_EQ(two.offerings.size(), 4u);
  EXPECT_EQ(two.offerings[2].zone, "us-east-1b");

  const auto zurich = place_of({"eu-central-2a"});
  ASSERT_TRUE(zurich);
  EXPECT_EQ(zurich->region, "eu-central-2");
  const model::InstanceType there = make_type(*facts_of("m5.large"), {}, *zurich);
  ASSERT_EQ(there.offerings.size(), 2u);
  EXPECT_EQ(there.offerings[0], (model::Offering{"eu-central-2a", "on-demand", 96'000'000, true}));
  const model::Requirements have(there.requirements);
  EXPECT_TRUE(have.find("topology.kubernetes.io/region")->contains("eu-central-2"));
  EXPECT_TRUE(make_type(*facts_of("a1.large"), {}, *zurich).offerings.empty());  // not sold there
  EXPECT_LT(make_catalogue({}, *zurich).types.size(), make_catalogue({}).types.size());

  struct Case {
    std::vector<std::string> zones;
    const char* said;
  };
  const Case wrong[] = {
      {{"eu-west-1a", "us-east-1a"}, "zones of more than one region: eu-west-1a and us-east-1a"},
      {{"us-west-2-lax-1a"}, "zone \"us-west-2-lax-1a\": expected one such as us-east-1a"},
      {{"a"}, "zone \"a\": expected one such as us-east-1a"},
      {{"eu-west-1"}, "zone \"eu-west-1\": expected one such as us-east-1a"},
  };
  for (const Case& test : wrong) {
    const auto place = place_of(test.zones);
    ASSERT_FALSE(place) << test.zones.front();
    EXPECT_TRUE(place.error().message.starts_with(test.said)) << place.error().message;
  }
  EXPECT_EQ(regions().size(), 30u);
}

// All of it is one event, which the log must take, and a year's new types and zones.
TEST(AwsCatalogue, OfARegionWithTwentyZonesIsOneEvent) {
  events::CatalogueObserved sold{embedded_base_catalogue(), "the price list",
                                 "the spot price history"};
  for (model::InstanceType& type : sold.catalogue.types) {
    type.offerings.clear();
    for (char zone = 'a'; zone < 'a' + 20; ++zone)
      for (const char* capacity_type : {"on-demand", "spot"})
        type.offerings.push_back(
            {std::string("us-east-1") + zone, capacity_type, 1'000'000'000 + zone, true});
  }
  const events::Record record = events::make_record(sold);
  EXPECT_LT(record.payload.size(), events::kPayloadMax / 8 * 7);
  const auto read = events::decode_payload(record.type, record.payload);
  EXPECT_EQ(std::get<events::CatalogueObserved>(read).catalogue, sold.catalogue);
}

TEST(AwsCatalogue, LabelsThatATypeDoesNotHaveAreSaidNotToExist) {
  const TypeFacts* facts = facts_of("m5.large");
  ASSERT_NE(facts, nullptr);
  const model::InstanceType plain = make_type(*facts, {});
  const model::Requirements have(plain.requirements);
  const model::Requirements gpu(
      {{"karpenter.k8s.aws/instance-gpu-count", model::Operator::kGt, {"0"}}});
  EXPECT_FALSE(have.intersects(gpu));
  const model::InstanceType with = make_type(*facts_of("g5.xlarge"), {});
  EXPECT_TRUE(model::Requirements(with.requirements).intersects(gpu));
  EXPECT_TRUE(std::is_sorted(label_keys().begin(), label_keys().end()));
}

}  // namespace
}  // namespace karst::providers::aws
