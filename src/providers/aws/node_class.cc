#include "providers/aws/node_class.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "model/quantity.h"
#include "providers/aws/json_fields.h"

namespace karst::providers::aws {
namespace {

using nlohmann::json;

constexpr std::int64_t kAllMillis = 100'000;

struct FamilyName {
  std::string_view name;  // amiFamily; in lower case the alias
  std::string_view alias;
  Family family;
};
constexpr FamilyName kFamilies[] = {
    {"AL2", "al2", Family::kAl2},
    {"AL2023", "al2023", Family::kAl2023},
    {"Bottlerocket", "bottlerocket", Family::kBottlerocket},
    {"Custom", "custom", Family::kCustom},
    {"Windows2019", "windows2019", Family::kWindows2019},
    {"Windows2022", "windows2022", Family::kWindows2022},
    {"Windows2025", "windows2025", Family::kWindows2025},
};

const json& map_at(const json& object, const char* key) {
  static const json kNone = json::object();
  const auto at = object.find(key);
  return at != object.end() && at->is_object() ? *at : kNone;
}

// An amiFamily counts before an alias: Custom may stand beside one.
std::optional<Family> family_of(const json& spec) {
  std::string name = text_of(spec, "amiFamily");
  if (name.empty() && spec.contains("amiSelectorTerms"))
    for (const json& term : spec["amiSelectorTerms"]) {
      const std::string alias = text_of(term, "alias");
      if (!alias.empty()) name = alias.substr(0, alias.find('@'));
    }
  for (const FamilyName& family : kFamilies)
    if (name == family.name || name == family.alias) return family.family;
  return std::nullopt;
}

std::optional<std::int64_t> bytes_at(const json& map, const char* key) {
  const auto bytes = model::parse_quantity_units(text_of(map, key), model::Rounding::kUp);
  return bytes ? std::optional(*bytes) : std::nullopt;
}

// "100Mi" or "5%"; 100% means: never.
std::optional<Threshold> threshold_at(const json& map, const char* key) {
  std::string text = text_of(map, key);
  Threshold threshold;
  if (!text.ends_with('%')) {
    const auto bytes = bytes_at(map, key);
    threshold.bytes = bytes.value_or(0);
    return bytes ? std::optional(threshold) : std::nullopt;
  }
  text.pop_back();
  const auto percent = model::parse_quantity_millis(text, model::Rounding::kUp);
  if (!percent || *percent > kAllMillis) return std::nullopt;
  threshold.percent_millis = *percent == kAllMillis ? 0 : *percent;
  return threshold;
}

std::optional<std::int64_t> count_at(const json& kubelet, const char* key) {
  const auto at = kubelet.find(key);
  if (at == kubelet.end() || !at->is_number_integer()) return std::nullopt;
  const auto count = at->get<std::int64_t>();
  return count < 0 ? std::nullopt : std::optional(count);
}

constexpr std::int64_t kNetworkCardsMax = 1'000;  // more than any machine has

// What is wrong counts as not given: check_kubelet() tells, and no machine is launched.
void read_kubelet(const json& kubelet, NodeClassSettings& out) {
  out.max_pods = count_at(kubelet, "maxPods");
  out.pods_per_core = count_at(kubelet, "podsPerCore");
  const json& reserved = map_at(kubelet, "kubeReserved");
  if (const auto millis =
          model::parse_quantity_millis(text_of(reserved, "cpu"), model::Rounding::kUp))
    out.reserved_cpu_millis = *millis;
  out.reserved_memory_bytes = bytes_at(reserved, "memory");
  out.reserved_ephemeral_bytes = bytes_at(reserved, "ephemeral-storage");
  for (const auto& [key, value] : map_at(kubelet, "systemReserved").items())
    if (key != "pid" && value.is_string())
      (void)model::set_from_quantity(out.system_reserved, key, value.get<std::string>(),
                                     model::Rounding::kUp);
  const json& evict = map_at(kubelet, "evictionHard");
  out.evict_memory = threshold_at(evict, "memory.available");
  out.evict_ephemeral = threshold_at(evict, "nodefs.available");
}

void read_interfaces(const json& spec, NodeClassSettings& out) {
  const auto at = spec.find("networkInterfaces");
  if (at == spec.end() || !at->is_array() || at->empty()) return;
  InterfaceCounts counts;
  for (const json& one : *at) {
    const std::int64_t card = count_at(one, "networkCardIndex").value_or(0);
    counts.cards = std::max(counts.cards, std::min(card, kNetworkCardsMax) + 1);
    if (text_of(one, "interfaceType") != "efa-only") continue;
    ++counts.efa_only;
    if (card == 0) ++counts.efa_only_of_pods;
  }
  out.interfaces = counts;
}

// The device that pods write to, where no mapping is marked as root.
std::string_view pod_device(Family family) {
  if (family == Family::kBottlerocket) return "/dev/xvdb";
  return is_windows(family) ? "/dev/sda1" : "/dev/xvda";
}

// The mapping whose size is the pods' disk: the root's if it says one; of Custom, whose devices
// nobody knows, the last; else that of the family's device.
const json* pod_disk(const json& mappings, Family family) {
  const auto size = [](const json& mapping) {
    return text_of(map_at(mapping, "ebs"), "volumeSize");
  };
  for (const json& mapping : mappings)
    if (mapping.is_object() && mapping.contains("rootVolume") &&
        mapping["rootVolume"] == json(true) && !size(mapping).empty())
      return &mapping;
  if (family == Family::kCustom) return &mappings.back();
  for (const json& mapping : mappings)
    if (text_of(mapping, "deviceName") == pod_device(family)) return &mapping;
  return nullptr;
}

base::Status read_disks(const json& spec, NodeClassSettings& out) {
  const auto at = spec.find("blockDeviceMappings");
  if (at == spec.end() || !at->is_array() || at->empty()) return {};
  const json* disk = pod_disk(*at, out.family);
  if (disk == nullptr) return {};
  const json& ebs = map_at(*disk, "ebs");
  if (text_of(ebs, "volumeSize").empty()) return {};
  out.disk_bytes = bytes_at(ebs, "volumeSize");
  if (!out.disk_bytes)
    return base::fail(base::Kind::kInvalid,
                      "blockDeviceMappings.ebs.volumeSize: expected an amount such as 50Gi");
  return {};
}

}  // namespace

bool is_windows(Family family) {
  return !windows_build(family).empty();
}

std::string_view windows_build(Family family) {
  switch (family) {
    case Family::kWindows2019:
      return "10.0.17763";
    case Family::kWindows2022:
      return "10.0.20348";
    case Family::kWindows2025:
      return "10.0.26100";
    default:
      return "";
  }
}

base::Result<NodeClassSettings> read_node_class(std::string_view spec_json) {
  const json spec = json::parse(spec_json, nullptr, /*allow_exceptions=*/false);
  if (!spec.is_object()) return base::fail(base::Kind::kInvalid, "spec: expected an object");
  NodeClassSettings settings;
  const auto family = family_of(spec);
  if (!family)
    return base::fail(base::Kind::kInvalid,
                      "amiFamily: no known family, and no alias that names one");
  settings.family = *family;
  settings.raid = text_of(spec, "instanceStorePolicy") == "RAID0";
  settings.nested_virtualization =
      text_of(map_at(spec, "cpuOptions"), "nestedVirtualization") == "enabled";
  settings.connection_tracking = !map_at(spec, "connectionTracking").empty();
  read_kubelet(map_at(spec, "kubelet"), settings);
  read_interfaces(spec, settings);
  KARST_TRY(read_disks(spec, settings));
  return settings;
}

}  // namespace karst::providers::aws
