#include "providers/aws/node_class.h"

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

base::Result<std::int64_t> bytes_of(const std::string& field, const std::string& text) {
  auto bytes = model::parse_quantity_units(text, model::Rounding::kUp);
  if (!bytes) return base::fail(base::Kind::kInvalid, field + ": " + bytes.error().message);
  return *bytes;
}

base::Status read_bytes(const json& map, const std::string& where, const char* key,
                        std::optional<std::int64_t>& out) {
  const std::string text = text_of(map, key);
  if (text.empty()) return {};
  auto bytes = bytes_of(where + "." + key, text);
  if (!bytes) return base::fail(std::move(bytes.error()));
  out = *bytes;
  return {};
}

// "100Mi" or "5%"; 100% means: never.
base::Status read_threshold(const json& map, const char* key, std::optional<Threshold>& out) {
  std::string text = text_of(map, key);
  if (text.empty()) return {};
  const std::string field = std::string("kubelet.evictionHard.") + key;
  Threshold threshold;
  if (text.ends_with('%')) {
    text.pop_back();
    auto percent = model::parse_quantity_millis(text, model::Rounding::kUp);
    if (!percent || *percent > kAllMillis)
      return base::fail(base::Kind::kInvalid, field + ": expected 0% to 100%");
    threshold.percent_millis = *percent == kAllMillis ? 0 : *percent;
  } else {
    auto bytes = bytes_of(field, text);
    if (!bytes) return base::fail(std::move(bytes.error()));
    threshold.bytes = *bytes;
  }
  out = threshold;
  return {};
}

base::Status read_count(const json& kubelet, const char* key, std::optional<std::int64_t>& out) {
  const auto at = kubelet.find(key);
  if (at == kubelet.end() || at->is_null()) return {};
  if (!at->is_number_integer() || at->get<std::int64_t>() < 0)
    return base::fail(base::Kind::kInvalid,
                      std::string("kubelet.") + key + ": expected a whole number from 0");
  out = at->get<std::int64_t>();
  return {};
}

base::Status read_kubelet(const json& kubelet, NodeClassSettings& out) {
  KARST_TRY(read_count(kubelet, "maxPods", out.max_pods));
  KARST_TRY(read_count(kubelet, "podsPerCore", out.pods_per_core));
  const json& reserved = map_at(kubelet, "kubeReserved");
  if (const std::string cpu = text_of(reserved, "cpu"); !cpu.empty()) {
    auto millis = model::parse_quantity_millis(cpu, model::Rounding::kUp);
    if (!millis)
      return base::fail(base::Kind::kInvalid,
                        "kubelet.kubeReserved.cpu: " + millis.error().message);
    out.reserved_cpu_millis = *millis;
  }
  KARST_TRY(read_bytes(reserved, "kubelet.kubeReserved", "memory", out.reserved_memory_bytes));
  KARST_TRY(read_bytes(reserved, "kubelet.kubeReserved", "ephemeral-storage",
                       out.reserved_ephemeral_bytes));
  for (const auto& [key, value] : map_at(kubelet, "systemReserved").items()) {
    if (key == "pid" || !value.is_string()) continue;
    auto status = model::set_from_quantity(out.system_reserved, key, value.get<std::string>(),
                                           model::Rounding::kUp);
    if (!status)
      return base::fail(base::Kind::kInvalid,
                        "kubelet.systemReserved." + key + ": " + status.error().message);
  }
  const json& evict = map_at(kubelet, "evictionHard");
  KARST_TRY(read_threshold(evict, "memory.available", out.evict_memory));
  return read_threshold(evict, "nodefs.available", out.evict_ephemeral);
}

// The device that pods write to, where no mapping is marked as root.
std::string_view pod_device(Family family) {
  if (family == Family::kBottlerocket) return "/dev/xvdb";
  return is_windows(family) ? "/dev/sda1" : "/dev/xvda";
}

base::Status read_disks(const json& spec, NodeClassSettings& out) {
  const auto at = spec.find("blockDeviceMappings");
  if (at == spec.end() || !at->is_array() || at->empty()) return {};
  const json* disk = nullptr;
  for (const json& mapping : *at)
    if (disk == nullptr && text_of(mapping, "deviceName") == pod_device(out.family))
      disk = &mapping;
  if (disk == nullptr && out.family == Family::kCustom) disk = &at->back();
  for (const json& mapping : *at)
    if (mapping.value("rootVolume", json(false)) == json(true)) disk = &mapping;
  if (disk == nullptr) return {};
  return read_bytes(map_at(*disk, "ebs"), "blockDeviceMappings.ebs", "volumeSize", out.disk_bytes);
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
  KARST_TRY(read_kubelet(map_at(spec, "kubelet"), settings));
  KARST_TRY(read_disks(spec, settings));
  return settings;
}

}  // namespace karst::providers::aws
