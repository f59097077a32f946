// EC2's answers as facts, held against the embedded table; the catalogue that is logged; and what a
// node class has of it.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "providers/aws/catalogue.h"
#include "providers/aws/class_types.h"
#include "providers/aws/instance_types.h"
#include "tests/providers/aws_answers.h"
#include "tests/providers/aws_launch_case.h"

namespace karst::providers::aws {
namespace {

// 37 types in EC2's own shape: general, burstable, metal, GPU, Neuron, EFA, many cards, old ones.
const std::string& recorded() {
  static const std::string kText = [] {
    const std::string path =
        std::string(KARST_SOURCE_DIR) + "/tests/providers/data/aws_instance_types.xml.gz";
    std::FILE* pipe = popen(("gzip -dc '" + path + "'").c_str(), "r");
    std::string text;
    char buffer[65536];
    for (std::size_t got; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
      text.append(buffer, got);
    EXPECT_EQ(0, pclose(pipe));
    return text;
  }();
  return kText;
}

const TypeFacts* table(std::string_view name) {
  for (const TypeFacts& facts : type_facts())
    if (facts.name == name) return &facts;
  return nullptr;
}

std::string text_of(const TypeFacts& f) {
  std::string out = std::string(f.name) + " cpus " + std::to_string(f.cpus) + " memory " +
                    std::to_string(f.memory_mib) + (f.arm ? " arm " : " x86 ") +
                    std::string(f.cpu_maker) + " clock " +
                    std::to_string(f.clock_mhz.value_or(-1)) + " hypervisor " +
                    std::string(f.hypervisor);
  for (const bool flag : {f.encrypts_in_transit, f.enclaves, f.spot, f.on_demand, f.nvme})
    out += flag ? " yes" : " no";
  for (const std::int64_t number :
       {f.interfaces, f.addresses_per_interface, f.branch_interfaces, f.efa,
        f.ebs_mbps.value_or(-1), f.network_mbps.value_or(-1), f.storage_gb, f.attachments})
    out += " " + std::to_string(number);
  for (const Accelerator& one : f.accelerators)
    out += std::string(" ") + one.kind + ":" + std::string(one.name) + ":" +
           std::string(one.manufacturer) + ":" + std::to_string(one.count) + ":" +
           std::to_string(one.detail);
  return out;
}

TEST(AwsInstanceTypes, AnswersAreTheTablesFacts) {
  DiscoveredTypes found;
  ASSERT_TRUE(found.add_types(recorded()));
  ASSERT_TRUE(found.add_types(recorded())) << "a page that comes twice";
  const std::map<std::string_view, const char*> exceptions = {
      {"g4ad.xlarge", "the table has it from a page that says nothing of enclaves and attachments"},
      {"i7ie.48xlarge", "recorded before EC2 split its network card in two"},
  };
  std::size_t compared = 0;
  for (const auto& [name, facts] : found.facts()) {
    const TypeFacts* known = table(name);
    if (known == nullptr) continue;
    ++compared;
    if (const auto at = exceptions.find(name); at != exceptions.end())
      EXPECT_NE(text_of(*known), text_of(facts)) << "no exception any more: " << at->second;
    else
      EXPECT_EQ(text_of(*known), text_of(facts));
  }
  EXPECT_GE(compared, 34u);
  EXPECT_FALSE(found.facts().contains("mac2.metal")) << "no node can run there";
}

std::string offering(const std::string& type, const std::string& zone) {
  return "<item><instanceType>" + type +
         "</instanceType><locationType>availability-zone</locationType><location>" + zone +
         "</location></item>";
}
std::string spot(const std::string& type, const std::string& zone, const std::string& price,
                 const std::string& day) {
  return "<item><instanceType>" + type + "</instanceType><availabilityZone>" + zone +
         "</availabilityZone><spotPrice>" + price + "</spotPrice><timestamp>2026-08-" + day +
         "T00:00:00.000Z</timestamp></item>";
}
std::string offers_of(const model::Catalogue& catalogue, const std::string& name) {
  std::string out;
  for (const model::InstanceType& type : catalogue.types)
    if (type.name == name)
      for (const model::Offering& one : type.offerings)
        out += one.zone + " " + one.capacity_type + " " + std::to_string(one.price_nanos_per_hour) +
               "; ";
  return out;
}

TEST(AwsInstanceTypes, PricesAreEachZonesAndTheLatest) {
  DiscoveredTypes found;
  ASSERT_TRUE(found.add_types(recorded()));
  EXPECT_TRUE(found.catalogue("us-east-1").types.empty()) << "offered nowhere yet";
  ASSERT_TRUE(found.add_offerings(
      set_of("instanceTypeOfferingSet", offering("m5.large", "us-east-1a") +
                                            offering("m5.large", "us-east-1b") +
                                            offering("x9.huge", "us-east-1a"))));
  EXPECT_EQ(
      "us-east-1a on-demand 96000000; us-east-1a spot 96000000; "
      "us-east-1b on-demand 96000000; us-east-1b spot 96000000; ",
      offers_of(found.catalogue("us-east-1"), "m5.large"))
      << "the table's price, and spot as on demand until it is known";
  ASSERT_TRUE(found.add_spot_prices(
      set_of("spotPriceHistorySet", spot("m5.large", "us-east-1a", "0.0400", "02") +
                                        spot("m5.large", "us-east-1a", "0.0500", "01"))));
  ASSERT_TRUE(found.add_on_demand_prices(
      R"x({"PriceList": ["{\"product\":{\"attributes\":{\"instanceType\":\"m5.large\"}},)x"
      R"x(\"terms\":{\"OnDemand\":{\"a\":{\"priceDimensions\":{\"b\":{\"pricePerUnit\":)x"
      R"x({\"USD\":\"0.1000000000\"}}}}}}}"]})x"));
  EXPECT_EQ(
      "us-east-1a on-demand 100000000; us-east-1a spot 40000000; "
      "us-east-1b on-demand 100000000; ",
      offers_of(found.catalogue("us-east-1"), "m5.large"));
  EXPECT_EQ(1u, found.catalogue("us-east-1").types.size());
  EXPECT_FALSE(found.add_types("no"));
  EXPECT_FALSE(found.add_offerings("<a"));
  EXPECT_FALSE(found.add_spot_prices(""));
  EXPECT_FALSE(found.add_on_demand_prices("{}"));
}

TEST(AwsInstanceTypes, PricesThatWereReadBeforeFillWhatIsMissing) {
  const auto whole = [](DiscoveredTypes& types, const std::string& price, const std::string& zone) {
    ASSERT_TRUE(types.add_types(recorded()));
    ASSERT_TRUE(types.add_offerings(
        set_of("instanceTypeOfferingSet",
               offering("m5.large", "us-east-1a") + offering("m5.large", "us-east-1b"))));
    ASSERT_TRUE(
        types.add_spot_prices(set_of("spotPriceHistorySet", spot("m5.large", zone, price, "02"))));
  };
  DiscoveredTypes before, after;
  whole(before, "0.04", "us-east-1a");
  whole(after, "0.05", "us-east-1b");
  ASSERT_TRUE(before.add_on_demand_prices(
      R"x({"PriceList": [{"product": {"attributes": {"instanceType": "m5.large"}}, "terms":)x"
      R"x({"OnDemand": {"a": {"priceDimensions": {"b": {"pricePerUnit": {"USD": "0.1"}}}}}}}]})x"));
  EXPECT_EQ("the embedded table of July 2026", after.on_demand_source());
  EXPECT_EQ("the spot price history", after.spot_source());
  after.fill_spot_prices(before);
  after.fill_on_demand_prices(before);
  const char* filled =
      "us-east-1a on-demand 100000000; us-east-1a spot 40000000; "
      "us-east-1b on-demand 100000000; us-east-1b spot 50000000; ";
  EXPECT_EQ(filled, offers_of(after.catalogue("us-east-1"), "m5.large"));
  DiscoveredTypes later;
  whole(later, "0.06", "us-east-1a");
  later.fill_spot_prices(after);
  EXPECT_NE(std::string::npos,
            offers_of(later.catalogue("us-east-1"), "m5.large").find("us-east-1a spot 60000000"))
      << "what was read counts before what was kept";
  EXPECT_EQ("the price list", after.on_demand_source());
  later.forget_spot_prices();
  EXPECT_EQ("as on-demand", later.spot_source());
  EXPECT_NE(std::string::npos,
            offers_of(later.catalogue("us-east-1"), "m5.large").find("us-east-1b spot 96000000"));
}

TEST(AwsInstanceTypes, DollarsAreNanos) {
  EXPECT_EQ(96'000'000, nanos_of("0.0960000000"));
  EXPECT_EQ(3'000'000'000, nanos_of("3"));
  EXPECT_EQ(1, nanos_of("0.0000000019"));
  for (const char* text : {"", ".", "1.2.3", "-1", "1e3", "99999999999999999999"})
    EXPECT_FALSE(nanos_of(text)) << text;
}

TEST(AwsInstanceTypes, TheCallsAreKarpenters) {
  EXPECT_EQ(R"({"MaxResults":"100","Filter":[{"Name":"supported-virtualization-type",)"
            R"("Value":["hvm"]},{"Name":"processor-info.supported-architecture",)"
            R"("Value":["x86_64","arm64"]}]})",
            ask_types().parameters.dump());
  EXPECT_EQ("availability-zone", ask_offerings().parameters["LocationType"]);
  EXPECT_EQ("2026-08-01T00:00:00.000Z", ask_spot_prices(1'785'542'400'000).parameters["StartTime"]);
  EXPECT_EQ(8u, ask_on_demand_prices("eu-west-1").front().parameters["Filters"].size());
  EXPECT_EQ("eu-central-1", price_list_region("eu-west-1"));
  EXPECT_EQ("us-east-1", price_list_region("sa-east-1"));
}

// The embedded table read directly, and through the logged catalogue.
TEST(AwsInstanceTypes, AClassHasWhatTheTableGivesIt) {
  for (const char* settings :
       {R"({"amiFamily": "AL2023"})", R"({"amiFamily": "Bottlerocket"})",
        R"({"amiFamily": "Windows2022"})",
        R"({"amiFamily": "AL2", "kubelet": {"maxPods": 30, "kubeReserved": {"cpu": "1"}}})",
        R"({"amiFamily": "AL2023", "networkInterfaces": [
            {"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "interface"},
            {"networkCardIndex": 0, "deviceIndex": 1, "interfaceType": "efa-only"}]})",
        R"({"amiFamily": "AL2023", "instanceStorePolicy": "RAID0",
           "kubelet": {"podsPerCore": 2}})"}) {
    const auto read = read_node_class(settings);
    ASSERT_TRUE(read);
    for (const TypeFacts& facts : type_facts()) {
      if (!fits(facts, *read)) continue;
      model::InstanceType direct = make_type(facts, *read);
      direct.offerings.clear();
      const model::InstanceType through = adapted(base_type(facts, "us-east-1"), *read);
      ASSERT_EQ(direct.requirements, through.requirements) << facts.name << settings;
      ASSERT_EQ(direct.capacity, through.capacity) << facts.name << settings;
      ASSERT_EQ(direct.allocatable, through.allocatable) << facts.name << settings;
    }
  }
}

TEST(AwsInstanceTypes, MachinesInMachinesNeedATypeThatHasThem) {
  const auto type = [](const std::string& name, const std::string& features) {
    return "<item><instanceType>" + name +
           "</instanceType><processorInfo><supportedArchitectures><item>x86_64</item>"
           "</supportedArchitectures>" +
           features +
           "</processorInfo><supportedVirtualizationTypes><item>hvm</item>"
           "</supportedVirtualizationTypes><supportedUsageClasses><item>on-demand</item>"
           "</supportedUsageClasses><vCpuInfo><defaultVCpus>2</defaultVCpus></vCpuInfo>"
           "<memoryInfo><sizeInMiB>8192</sizeInMiB></memoryInfo></item>";
  };
  DiscoveredTypes found;
  ASSERT_TRUE(found.add_types(
      set_of("instanceTypeSet",
             type("m5.large", "<supportedFeatures><item>amd-sev-snp</item></supportedFeatures>") +
                 type("m6i.large",
                      "<supportedFeatures><item>nested-virtualization</item></supportedFeatures>") +
                 type("m7i.large", ""))));
  ASSERT_TRUE(found.add_offerings(
      set_of("instanceTypeOfferingSet", offering("m5.large", "us-east-1a") +
                                            offering("m6i.large", "us-east-1a") +
                                            offering("m7i.large", "us-east-1a"))));
  LaunchCase c;
  const auto names = [&] {
    std::string all;
    const auto spec = read_node_class_spec(c.spec.dump());
    if (!spec) return spec.error().message;
    for (const model::InstanceType& one :
         types_for(found.catalogue("us-east-1"), *spec, c.resolved))
      all += one.name + " ";
    return all;
  };
  EXPECT_EQ("m5.large m6i.large m7i.large ", names());
  c.spec["cpuOptions"]["nestedVirtualization"] = "disabled";
  EXPECT_EQ("m5.large m6i.large m7i.large ", names());
  c.spec["cpuOptions"]["nestedVirtualization"] = "enabled";
  EXPECT_EQ("m6i.large ", names());
}

// What the class is offered of these types.
std::vector<model::InstanceType> offered_of(const LaunchCase& c,
                                            const std::set<std::string>& names) {
  const auto spec = read_node_class_spec(c.spec.dump());
  EXPECT_TRUE(spec) << spec.error().message;
  if (!spec) return {};
  auto types = types_for(LaunchCase::catalogue(), *spec, c.resolved);
  std::erase_if(types, [&](const model::InstanceType& one) { return !names.contains(one.name); });
  return types;
}

TEST(AwsInstanceTypes, TrackingOfConnectionsNeedsNitro) {
  LaunchCase c;
  const auto offered = [&] {
    std::string all;
    for (const auto& one : offered_of(c, {"m4.large", "m5.large", "m5.metal"}))
      all += one.name + " ";
    return all;
  };
  EXPECT_EQ("m4.large m5.large m5.metal ", offered());
  c.spec["connectionTracking"]["udpTimeout"] = 30;
  EXPECT_EQ("m5.large m5.metal ", offered());
}

// p4d.24xlarge has four cards, c5n.18xlarge one with EFA, m5.large one without.
TEST(AwsInstanceTypes, NetworkInterfacesNeedCardsAndTakePodsAddresses) {
  LaunchCase c;
  c.resolved.images.push_back(LaunchCase::image("ami-gpu", "amd64", true));
  const auto offered = [&] {
    std::string all;
    for (const auto& one : offered_of(c, {"c5n.18xlarge", "m5.large", "p4d.24xlarge"}))
      all += one.name + " pods " + std::to_string(one.capacity.pods) + " efa " +
             std::to_string(one.capacity.amount("vpc.amazonaws.com/efa")) + "; ";
    return all;
  };
  const auto add = [&](int card, int device, const char* kind) {
    c.spec["networkInterfaces"].push_back(
        {{"networkCardIndex", card}, {"deviceIndex", device}, {"interfaceType", kind}});
  };
  EXPECT_EQ("c5n.18xlarge pods 737 efa 1; m5.large pods 29 efa 0; p4d.24xlarge pods 737 efa 4; ",
            offered());
  add(0, 0, "interface");
  EXPECT_EQ("c5n.18xlarge pods 737 efa 0; m5.large pods 29 efa 0; p4d.24xlarge pods 737 efa 0; ",
            offered());
  add(0, 1, "efa-only");
  EXPECT_EQ("c5n.18xlarge pods 688 efa 1; p4d.24xlarge pods 688 efa 1; ", offered());
  add(3, 1, "efa-only");
  EXPECT_EQ("p4d.24xlarge pods 688 efa 2; ", offered());
  add(4, 1, "interface");
  EXPECT_EQ("", offered());
}

TEST(AwsInstanceTypes, AClassIsOfferedWhatItsSelectorsFound) {
  LaunchCase c;
  const auto spec = read_node_class_spec(c.spec.dump());
  ASSERT_TRUE(spec);
  c.resolved.reservations = {
      {"cr-1", "us-east-1a", "m5.large", "1", "open", "default", "active", "", 2, false}};
  const auto types = types_for(LaunchCase::catalogue(), *spec, c.resolved);
  std::string zones;
  bool gpu = false;
  for (const model::InstanceType& type : types) {
    if (type.name == "m5.large")
      for (const model::Offering& one : type.offerings)
        zones += one.zone + " " + one.capacity_type + "; ";
    gpu = gpu || type.capacity.amount("nvidia.com/gpu") > 0;
    for (const auto& [name, amount] : type.capacity.extended)
      EXPECT_FALSE(name.starts_with("karst.sh/")) << name;
  }
  EXPECT_EQ(
      "us-east-1a on-demand; us-east-1a reserved; us-east-1a spot; us-east-1b on-demand; "
      "us-east-1b spot; ",
      zones);
  EXPECT_FALSE(gpu) << "there is no image for them";
  const auto m5_large = [&] {
    for (model::InstanceType& type : types_for(LaunchCase::catalogue(), *spec, c.resolved))
      if (type.name == "m5.large") return std::move(type);
    return model::InstanceType();
  };
  // 3 interfaces with 9 addresses for pods each, 8,192 MiB; 11 MiB a pod, 255 and 100 are reserved.
  constexpr std::int64_t kMi = 1 << 20;
  EXPECT_EQ(29, m5_large().capacity.pods);
  EXPECT_EQ((8192 - 615) * kMi, m5_large().capacity.memory_bytes);
  // Machines of another image or type have shown something else.
  const std::vector<SeenMemory> seen = {{"c5.large", "ami-1", 3'600 * kMi},
                                        {"m5.large", "ami-1", 7'800 * kMi},
                                        {"m5.large", "ami-2", 7'900 * kMi}};
  for (const model::InstanceType& type :
       types_for(LaunchCase::catalogue(), *spec, c.resolved, seen))
    if (type.name == "m5.large") {
      EXPECT_EQ(7'800 * kMi, type.capacity.memory_bytes);
      EXPECT_EQ((7'800 - (11 * 29 + 255) - 100) * kMi, type.allocatable.memory_bytes);
      EXPECT_EQ(m5_large().allocatable.cpu_millis, type.allocatable.cpu_millis);
    }
  c.resolved.cluster.reserved_interfaces = 1;
  c.resolved.cluster.memory_overhead_ppm = 50'000;
  EXPECT_EQ(c.resolved.cluster, read_resolved(to_json(c.resolved))->cluster);
  EXPECT_EQ(20, m5_large().capacity.pods);
  EXPECT_EQ((8192 - 410) * kMi, m5_large().capacity.memory_bytes);
  EXPECT_EQ((8192 - 410 - (11 * 29 + 255) - 100) * kMi, m5_large().allocatable.memory_bytes)
      << "kubelet reserves for pods as if no interface were kept back";
  c.resolved.cluster.reserved_interfaces = 4;
  EXPECT_EQ(0, m5_large().capacity.pods);
  c.resolved.subnets.clear();
  EXPECT_TRUE(types_for(LaunchCase::catalogue(), *spec, c.resolved).empty());
  c.resolved.subnets = {{"subnet-1", "eu-west-1a", "", 1}};
  const auto europe = types_for(LaunchCase::catalogue(), *spec, c.resolved);
  ASSERT_FALSE(europe.empty()) << "a region that the catalogue does not have";
  EXPECT_EQ("eu-west-1a", europe.front().offerings.front().zone);
}

// A machine without such a label is none for who asks for it.
TEST(AwsInstanceTypes, WhatIsBoughtOtherwiseLacksTheLabelsOfReservationsAndGroups) {
  LaunchCase c;
  const auto spec = read_node_class_spec(c.spec.dump());
  ASSERT_TRUE(spec);
  c.resolved.reservations = {
      {"cr-1", "us-east-1a", "m5.large", "1", "open", "default", "active", "", 2, false}};
  const auto of = [&](const std::string& name) {
    for (model::InstanceType& type : types_for(LaunchCase::catalogue(), *spec, c.resolved))
      if (type.name == name) return std::move(type);
    return model::InstanceType();
  };
  const auto says = [](const model::InstanceType& type, const char* label) {
    const model::Requirements all(type.requirements);
    const model::ValueSet* set = all.find("karpenter.k8s.aws/" + std::string(label));
    return set == nullptr ? "nothing" : model::describe("", *set);
  };
  for (const char* label : {"capacity-reservation-id", "capacity-reservation-type",
                            "capacity-reservation-interruptible"}) {
    EXPECT_EQ(" DoesNotExist", says(of("c5.large"), label));
    EXPECT_EQ("nothing", says(of("m5.large"), label)) << "that is its offerings' to say";
    for (const model::Offering& one : of("m5.large").offerings) {
      const auto key = "karpenter.k8s.aws/" + std::string(label);
      EXPECT_TRUE(model::has_label(one.labels, key));
      EXPECT_EQ(one.reservation.empty(), model::label_value(one.labels, key).empty());
    }
  }
  EXPECT_EQ(" DoesNotExist", says(of("m5.large"), "placement-group-id"));
  c.resolved.placement_group.id = "pg-1";
  EXPECT_EQ(" In [pg-1]", says(of("m5.large"), "placement-group-id"));
  EXPECT_EQ(" DoesNotExist", says(of("m5.large"), "placement-group-partition"));
}

}  // namespace
}  // namespace karst::providers::aws
