#include "providers/aws/instance_types.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/time.h"
#include "providers/aws/catalogue.h"
#include "providers/aws/class_types.h"
#include "providers/aws/xml.h"

namespace karst::providers::aws {
namespace {

using nlohmann::json;

constexpr std::int64_t kNanosPerMilli = 1'000'000;

// A label's value, as Karpenter writes EC2's names.
std::string label(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
    if (c == ' ') c = '-';
  }
  return text;
}

bool lists(const pugi::xml_node& node, const char* path, std::string_view word) {
  bool found = false;
  each_item(node, path,
            [&](const pugi::xml_node& item) { found = found || item.text().get() == word; });
  return found;
}

// x86_64 or arm64, the first that is named; nothing for machines that we cannot use.
std::string architecture(const pugi::xml_node& item) {
  std::string found;
  each_item(item, "processorInfo/supportedArchitectures", [&](const pugi::xml_node& one) {
    const std::string name = one.text().get();
    if (found.empty() && (name == "x86_64" || name == "arm64")) found = name;
  });
  return found;
}

// Of the card that pods use.
std::int64_t interfaces(const pugi::xml_node& network) {
  const std::int64_t card = number_at(network, "defaultNetworkCardIndex").value_or(0);
  std::int64_t count = number_at(network, "maximumNetworkInterfaces").value_or(0);
  each_item(network, "networkCards", [&](const pugi::xml_node& one) {
    if (number_at(one, "networkCardIndex").value_or(0) == card)
      count = number_at(one, "maximumNetworkInterfaces").value_or(count);
  });
  return count;
}

void read_sizes(const pugi::xml_node& item, TypeFacts& facts) {
  facts.cpus = number_at(item, "vCpuInfo/defaultVCpus").value_or(0);
  facts.memory_mib = number_at(item, "memoryInfo/sizeInMiB").value_or(0);
  if (const auto ghz = nanos_of(text_at(item, "processorInfo/sustainedClockSpeedInGhz")))
    facts.clock_mhz = (*ghz + kNanosPerMilli / 2) / kNanosPerMilli;
  facts.encrypts_in_transit = true_at(item, "networkInfo/encryptionInTransitSupported");
  facts.enclaves = text_at(item, "nitroEnclavesSupport") == "supported";
  facts.spot = lists(item, "supportedUsageClasses", "spot");
  facts.on_demand = lists(item, "supportedUsageClasses", "on-demand");
  const pugi::xml_node network = item.child("networkInfo");
  facts.interfaces = interfaces(network);
  facts.addresses_per_interface = number_at(network, "ipv4AddressesPerInterface").value_or(0);
  facts.efa = number_at(network, "efaInfo/maximumEfaInterfaces").value_or(0);
  if (text_at(item, "ebsInfo/ebsOptimizedSupport") == "default")
    facts.ebs_mbps = number_at(item, "ebsInfo/ebsOptimizedInfo/maximumBandwidthInMbps");
  facts.attachments = number_at(item, "ebsInfo/maximumEbsAttachments").value_or(0);
  facts.storage_gb = number_at(item, "instanceStorageInfo/totalSizeInGB").value_or(0);
  const std::string nvme = text_at(item, "instanceStorageInfo/nvmeSupport");
  facts.nvme = facts.storage_gb > 0 && !nvme.empty() && nvme != "unsupported";
}

void add_table_facts(TypeFacts& facts) {
  const auto& all = type_facts();
  const auto at = std::lower_bound(
      all.begin(), all.end(), facts.name,
      [](const TypeFacts& type, std::string_view name) { return type.name < name; });
  if (at == all.end() || at->name != facts.name) return;
  facts.branch_interfaces = at->branch_interfaces;
  facts.network_mbps = at->network_mbps;
  facts.price_micros = at->price_micros;
}

Request describe(const char* action, const char* page) {
  Request request{"ec2", action, Tree::object()};
  request.parameters["MaxResults"] = page;
  return request;
}

Request products(const std::string& region, const char* tenancy, const char* family) {
  Request request{"pricing", "GetProducts", Tree::object()};
  request.parameters["ServiceCode"] = "AmazonEC2";
  for (const auto& [field, value] :
       std::vector<std::pair<const char*, std::string>>{{"regionCode", region},
                                                        {"serviceCode", "AmazonEC2"},
                                                        {"preInstalledSw", "NA"},
                                                        {"operatingSystem", "Linux"},
                                                        {"capacitystatus", "Used"},
                                                        {"marketoption", "OnDemand"},
                                                        {"tenancy", tenancy},
                                                        {"productFamily", family}})
    request.parameters["Filters"].push_back(
        Tree{{"Type", "TERM_MATCH"}, {"Field", field}, {"Value", value}});
  return request;
}

// The price of an hour in an entry of the price list: the first above 0, in dollars, or in yuan
// where there are none.
std::optional<std::int64_t> hourly_price(const json& product) {
  const json terms = product.value(json::json_pointer("/terms/OnDemand"), json::object());
  if (!terms.is_object()) return std::nullopt;
  for (const auto& [term_key, term] : terms.items()) {
    if (!term.is_object() || !term.contains("priceDimensions")) continue;
    for (const auto& [key, dimension] : term["priceDimensions"].items()) {
      if (!dimension.is_object() || !dimension.contains("pricePerUnit")) continue;
      for (const auto& [currency, amount] : dimension["pricePerUnit"].items()) {
        const auto nanos = amount.is_string() ? nanos_of(amount.get<std::string>()) : std::nullopt;
        if (nanos && *nanos > 0) return nanos;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

Request ask_types() {
  Request request = describe("DescribeInstanceTypes", "100");
  add_filter(request, "supported-virtualization-type", {"hvm"});
  add_filter(request, "processor-info.supported-architecture", {"x86_64", "arm64"});
  return request;
}

Request ask_offerings() {
  Request request = describe("DescribeInstanceTypeOfferings", "1000");
  request.parameters["LocationType"] = "availability-zone";
  return request;
}

Request ask_spot_prices(std::int64_t now_millis) {
  Request request = describe("DescribeSpotPriceHistory", "1000");
  request.parameters["ProductDescription"] = {"Linux/UNIX", "Linux/UNIX (Amazon VPC)"};
  request.parameters["StartTime"] = base::format_rfc3339(now_millis);
  return request;
}

std::vector<Request> ask_on_demand_prices(const std::string& region) {
  return {products(region, "Shared", "Compute Instance"),
          products(region, "Dedicated", "Compute Instance (bare metal)")};
}

std::string price_list_region(std::string_view region) {
  if (region.starts_with("ap-")) return "ap-south-1";
  if (region.starts_with("cn-")) return "cn-northwest-1";
  return region.starts_with("eu-") ? "eu-central-1" : "us-east-1";
}

std::optional<std::int64_t> nanos_of(std::string_view dollars) {
  constexpr int kDecimals = 9;
  constexpr std::int64_t kMost = 1'000'000'000'000'000;
  std::int64_t value = 0;
  int decimals = -1;
  bool any = false;
  for (const char c : dollars) {
    if (c == '.' && decimals < 0) {
      decimals = 0;
      continue;
    }
    if (c < '0' || c > '9' || value > kMost) return std::nullopt;
    any = true;
    if (decimals == kDecimals) continue;
    value = value * 10 + (c - '0');
    if (decimals >= 0) ++decimals;
  }
  if (!any) return std::nullopt;
  for (int i = std::max(decimals, 0); i < kDecimals; ++i) {
    if (value > kMost) return std::nullopt;
    value *= 10;
  }
  return value;
}

std::string_view DiscoveredTypes::keep(std::string text) {
  return texts_.emplace_back(std::move(text));
}

base::Status DiscoveredTypes::add_types(std::string_view xml) {
  const auto document = read_xml(xml);
  if (!document) return base::fail(document.error());
  each_item(document->document_element(), "instanceTypeSet", [&](const pugi::xml_node& item) {
    const std::string name = text_at(item, "instanceType");
    const std::string arch = architecture(item);
    if (name.empty() || arch.empty() || facts_.size() == kTypesMax || facts_.contains(name) ||
        !lists(item, "supportedVirtualizationTypes", "hvm"))
      return;
    TypeFacts facts;
    facts.name = keep(name);
    facts.arm = arch == "arm64";
    facts.cpu_maker = keep(label(text_at(item, "processorInfo/manufacturer")));
    facts.hypervisor = keep(text_at(item, "hypervisor"));
    facts.nested_virtualization =
        lists(item, "processorInfo/supportedFeatures", "nested-virtualization");
    read_sizes(item, facts);
    const auto add = [&](char kind, const pugi::xml_node& one, std::string maker,
                         std::int64_t detail) {
      facts.accelerators.push_back({kind, keep(label(text_at(one, "name"))), keep(label(maker)),
                                    number_at(one, "count").value_or(0), detail});
    };
    each_item(item, "gpuInfo/gpus", [&](const pugi::xml_node& one) {
      add('g', one, text_at(one, "manufacturer"),
          number_at(one, "memoryInfo/sizeInMiB").value_or(0));
    });
    each_item(item, "neuronInfo/neuronDevices", [&](const pugi::xml_node& one) {
      add('n', one, "aws", number_at(one, "coreInfo/count").value_or(0));
    });
    if (!item.child("neuronInfo"))
      each_item(item, "inferenceAcceleratorInfo/accelerators",
                [&](const pugi::xml_node& one) { add('i', one, text_at(one, "manufacturer"), 0); });
    add_table_facts(facts);
    facts_.emplace(facts.name, std::move(facts));
  });
  return {};
}

base::Status DiscoveredTypes::add_offerings(std::string_view xml) {
  const auto document = read_xml(xml);
  if (!document) return base::fail(document.error());
  each_item(document->document_element(), "instanceTypeOfferingSet",
            [&](const pugi::xml_node& item) {
              if (text_at(item, "locationType") == "availability-zone" &&
                  offered_.size() < kTypeOfferingsMax)
                offered_[{text_at(item, "instanceType"), text_at(item, "location")}] = true;
            });
  return {};
}

base::Status DiscoveredTypes::add_spot_prices(std::string_view xml) {
  const auto document = read_xml(xml);
  if (!document) return base::fail(document.error());
  each_item(document->document_element(), "spotPriceHistorySet", [&](const pugi::xml_node& item) {
    const auto nanos = nanos_of(text_at(item, "spotPrice"));
    if (!nanos || spot_.size() == kTypeOfferingsMax) return;
    const std::int64_t at = base::parse_rfc3339(text_at(item, "timestamp")).value_or(0);
    SpotPrice& price = spot_[{text_at(item, "instanceType"), text_at(item, "availabilityZone")}];
    if (at >= price.at_millis) price = {*nanos, at};
  });
  return {};
}

base::Status DiscoveredTypes::add_on_demand_prices(std::string_view text) {
  const json page = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!page.is_object() || !page.contains("PriceList") || !page["PriceList"].is_array())
    return base::fail(base::Kind::kInvalid, "GetProducts: an answer without PriceList");
  for (const json& entry : page["PriceList"]) {
    const json product =
        entry.is_string() ? json::parse(entry.get<std::string>(), nullptr, false) : entry;
    if (!product.is_object()) continue;
    const json type = product.value(json::json_pointer("/product/attributes/instanceType"), json());
    const auto price = hourly_price(product);
    if (type.is_string() && price && on_demand_.size() < kTypesMax)
      on_demand_[type.get<std::string>()] = *price;
  }
  return {};
}

void DiscoveredTypes::know_prices(const model::Catalogue& told, bool on_demand, bool spot) {
  for (const model::InstanceType& type : told.types)
    for (const model::Offering& offering : type.offerings) {
      const std::int64_t nanos = offering.price_nanos_per_hour;
      if (spot && offering.capacity_type == "spot") spot_[{type.name, offering.zone}] = {nanos, 0};
      if (on_demand && offering.capacity_type == "on-demand") on_demand_[type.name] = nanos;
    }
}

void DiscoveredTypes::fill_spot_prices(const DiscoveredTypes& before) {
  spot_.insert(before.spot_.begin(), before.spot_.end());
}

void DiscoveredTypes::fill_on_demand_prices(const DiscoveredTypes& before) {
  on_demand_.insert(before.on_demand_.begin(), before.on_demand_.end());
}

std::optional<std::int64_t> DiscoveredTypes::on_demand_price(const TypeFacts& facts) const {
  const auto at = on_demand_.find(std::string(facts.name));
  if (at != on_demand_.end()) return at->second;
  if (!facts.price_micros) return std::nullopt;
  return *facts.price_micros * kNanosPerMicro;
}

std::string DiscoveredTypes::on_demand_source() const {
  return has_on_demand_prices() ? "the price list" : "the embedded table of July 2026";
}

std::string DiscoveredTypes::spot_source() const {
  return has_spot_prices() ? "the spot price history" : "as on-demand";
}

model::Catalogue DiscoveredTypes::catalogue(const std::string& region) const {
  model::Catalogue out;
  out.provider = "aws";
  for (const auto& [name, facts] : facts_) {
    model::InstanceType type = base_type(facts, region);
    const auto price = on_demand_price(facts);
    for (auto at = offered_.lower_bound({type.name, ""});
         at != offered_.end() && at->first.first == type.name; ++at) {
      const std::string& zone = at->first.second;
      if (facts.on_demand && price) type.offerings.push_back({zone, "on-demand", *price, true});
      const auto spot = spot_.find(at->first);
      if (facts.spot && spot != spot_.end())
        type.offerings.push_back({zone, "spot", spot->second.nanos, true});
      else if (facts.spot && spot_.empty() && price)
        type.offerings.push_back({zone, "spot", *price, true});
    }
    if (!type.offerings.empty()) out.types.push_back(std::move(type));
  }
  return out;
}

}  // namespace karst::providers::aws
