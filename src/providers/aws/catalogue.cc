#include "providers/aws/catalogue.h"

#include <algorithm>
#include <string>

#include "base/utf8.h"
#include "model/labels.h"
#include "providers/aws/allocatable.h"

namespace karst::providers::aws {
namespace {

constexpr std::string_view kPrefix = "karpenter.k8s.aws/";

// Sorted: what label_keys() gives.
constexpr std::string_view kLabelKeys[] = {
    "karpenter.k8s.aws/ec2nodeclass",
    "karpenter.k8s.aws/instance-accelerator-count",
    "karpenter.k8s.aws/instance-accelerator-manufacturer",
    "karpenter.k8s.aws/instance-accelerator-name",
    "karpenter.k8s.aws/instance-capability-flex",
    "karpenter.k8s.aws/instance-category",
    "karpenter.k8s.aws/instance-cpu",
    "karpenter.k8s.aws/instance-cpu-manufacturer",
    "karpenter.k8s.aws/instance-cpu-sustained-clock-speed-mhz",
    "karpenter.k8s.aws/instance-ebs-bandwidth",
    "karpenter.k8s.aws/instance-encryption-in-transit-supported",
    "karpenter.k8s.aws/instance-family",
    "karpenter.k8s.aws/instance-generation",
    "karpenter.k8s.aws/instance-gpu-count",
    "karpenter.k8s.aws/instance-gpu-manufacturer",
    "karpenter.k8s.aws/instance-gpu-memory",
    "karpenter.k8s.aws/instance-gpu-name",
    "karpenter.k8s.aws/instance-hypervisor",
    "karpenter.k8s.aws/instance-local-nvme",
    "karpenter.k8s.aws/instance-memory",
    "karpenter.k8s.aws/instance-network-bandwidth",
    "karpenter.k8s.aws/instance-size",
    "karpenter.k8s.aws/instance-tenancy",
    "karpenter.k8s.aws/nitro-sandbox",
    "topology.k8s.aws/zone-id",
};

// Labels of machines that depend on how they are bought, and so are not in the catalogue.
constexpr std::string_view kLaunchLabels[] = {
    "karpenter.k8s.aws/capacity-reservation-id",
    "karpenter.k8s.aws/capacity-reservation-interruptible",
    "karpenter.k8s.aws/capacity-reservation-type",
    "karpenter.k8s.aws/placement-group-id",
    "karpenter.k8s.aws/placement-group-partition",
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// A list of requirements that grows by labels.
class LabelList {
 public:
  void add(std::string_view key, std::string value) {
    specs.push_back({std::string(key), model::Operator::kIn, {std::move(value)}, 0});
  }
  void add_own(std::string_view name, std::string value) {
    add(std::string(kPrefix) + std::string(name), std::move(value));
  }
  void add_own(std::string_view name, std::int64_t value) { add_own(name, std::to_string(value)); }
  void add_own(std::string_view name, const std::optional<std::int64_t>& value) {
    if (value) add_own(name, *value);
  }
  void add_own(std::string_view name, bool value) { add_own(name, value ? "true" : "false"); }
  void add_own(std::string_view name, const char* value) { add_own(name, std::string(value)); }

  std::vector<model::RequirementSpec> specs;
};

// Letters, perhaps -Ntb, then a number, then anything: "m5dn", "u-6tb1". Neither label otherwise.
void add_family(LabelList& labels, std::string_view family) {
  std::size_t at = 0;
  while (at < family.size() && family[at] >= 'a' && family[at] <= 'z') ++at;
  const std::string category(family.substr(0, at));
  if (at < family.size() && family[at] == '-') {
    std::size_t unit = at + 1;
    while (unit < family.size() && is_digit(family[unit])) ++unit;
    if (unit > at + 1 && family.substr(unit, 2) == "tb") at = unit + 2;
  }
  std::size_t end = at;
  while (end < family.size() && is_digit(family[end])) ++end;
  if (category.empty() || end == at) return;
  labels.add_own("instance-category", category);
  labels.add_own("instance-generation", std::string(family.substr(at, end - at)));
}

void add_accelerators(LabelList& labels, const TypeFacts& facts) {
  std::vector<const Accelerator*> gpus;
  const Accelerator* other = nullptr;
  for (const Accelerator& one : facts.accelerators) {
    if (one.kind == 'g')
      gpus.push_back(&one);
    else if (other == nullptr)
      other = &one;
  }
  if (gpus.size() == 1) {
    labels.add_own("instance-gpu-name", std::string(gpus[0]->name));
    labels.add_own("instance-gpu-manufacturer", std::string(gpus[0]->manufacturer));
    labels.add_own("instance-gpu-count", gpus[0]->count);
    labels.add_own("instance-gpu-memory", gpus[0]->detail);
  }
  if (other == nullptr) return;
  labels.add_own("instance-accelerator-name", std::string(other->name));
  labels.add_own("instance-accelerator-manufacturer", std::string(other->manufacturer));
  labels.add_own("instance-accelerator-count", other->count);
}

// A label that such machines do not carry is said not to exist: otherwise every demand for it could
// be met by them.
void deny_the_rest(std::vector<model::RequirementSpec>& specs) {
  const auto deny = [&](std::string_view key) {
    const bool known =
        std::any_of(specs.begin(), specs.end(), [&](const auto& spec) { return spec.key == key; });
    if (!known) specs.push_back({std::string(key), model::Operator::kDoesNotExist, {}, 0});
  };
  for (const std::string_view key : kLabelKeys)
    if (key != kNodeClassLabel && key != kZoneIdLabel) deny(key);
  deny(kWindowsBuildLabel);
}

std::vector<model::RequirementSpec> labels_of(const TypeFacts& facts, Family family,
                                              const std::string& region) {
  LabelList labels;
  const std::size_t dot = facts.name.find('.');
  const std::string_view type_family = facts.name.substr(0, dot);
  add_family(labels, type_family);
  labels.add_own("instance-family", std::string(type_family));
  labels.add_own("instance-size", std::string(facts.name.substr(dot + 1)));
  labels.add_own("instance-capability-flex", type_family.find("-flex") != std::string_view::npos);
  labels.add_own("instance-cpu", facts.cpus);
  labels.add_own("instance-memory", facts.memory_mib);
  labels.add_own("instance-cpu-manufacturer", std::string(facts.cpu_maker));
  labels.add_own("instance-cpu-sustained-clock-speed-mhz", facts.clock_mhz.value_or(0));
  labels.add_own("instance-hypervisor", std::string(facts.hypervisor));
  labels.add_own("instance-encryption-in-transit-supported", facts.encrypts_in_transit);
  if (facts.enclaves) labels.add_own("nitro-sandbox", true);
  labels.add_own("instance-ebs-bandwidth", facts.ebs_mbps);
  labels.add_own("instance-network-bandwidth", facts.network_mbps);
  if (facts.nvme) labels.add_own("instance-local-nvme", facts.storage_gb);
  add_accelerators(labels, facts);
  labels.add(model::kInstanceTypeLabel, std::string(facts.name));
  labels.add(model::kArchLabel, facts.arm ? "arm64" : "amd64");
  labels.add(model::kOsLabel, is_windows(family) ? "windows" : "linux");
  labels.add(model::kRegionLabel, region);
  if (is_windows(family)) labels.add(kWindowsBuildLabel, std::string(windows_build(family)));
  labels.specs.push_back({std::string(kPrefix) + "instance-tenancy",
                          model::Operator::kIn,
                          {"dedicated", "default"},
                          0});
  deny_the_rest(labels.specs);
  std::sort(labels.specs.begin(), labels.specs.end());
  return std::move(labels.specs);
}

std::vector<std::string> zones_of(const TypeFacts& facts, const Place& place) {
  std::vector<std::string> zones;
  if (place.region != kRegion) {
    const auto at = std::find(regions().begin(), regions().end(), place.region);
    const auto bit = static_cast<std::size_t>(at - regions().begin());
    if (at != regions().end() && (facts.regions >> bit & 1) != 0) zones = place.zones;
    return zones;
  }
  for (const char letter : facts.zones)
    if (const std::string zone = std::string(kRegion) + letter;
        place.zones.empty() || std::binary_search(place.zones.begin(), place.zones.end(), zone))
      zones.push_back(zone);
  return zones;
}

const TypeFacts* find_type(std::string_view name) {
  const auto& all = type_facts();
  const auto at = std::lower_bound(
      all.begin(), all.end(), name,
      [](const TypeFacts& type, std::string_view wanted) { return type.name < wanted; });
  return at != all.end() && at->name == name ? &*at : nullptr;
}

}  // namespace

base::Result<Place> place_of(std::vector<std::string> zones) {
  std::sort(zones.begin(), zones.end());
  zones.erase(std::unique(zones.begin(), zones.end()), zones.end());
  Place place;
  for (const std::string& zone : zones) {
    const std::string_view region = region_of(zone);
    if (std::find(regions().begin(), regions().end(), region) == regions().end())
      return base::fail(base::Kind::kInvalid, "zone \"" + std::string(base::cut_utf8(zone, 80)) +
                                                  "\": expected one such as us-east-1a, of a "
                                                  "region that the catalogue knows");
    if (zone != zones.front() && region != place.region)
      return base::fail(base::Kind::kInvalid,
                        "zones of more than one region: " + zones.front() + " and " + zone);
    place.region = region;
  }
  place.zones = std::move(zones);
  return place;
}

std::string_view region_of(std::string_view zone) {
  if (zone.size() < 3 || zone.back() < 'a' || zone.back() > 'z' || !is_digit(zone[zone.size() - 2]))
    return {};
  return zone.substr(0, zone.size() - 1);
}

model::InstanceType make_type(const TypeFacts& facts, const NodeClassSettings& settings,
                              const Place& place) {
  model::InstanceType type;
  type.name = facts.name;
  type.requirements = labels_of(facts, settings.family, place.region);
  type.capacity = capacity_of(facts, settings);
  type.allocatable = allocatable_of(facts, settings);
  if (!facts.price_micros) return type;
  const std::int64_t price = *facts.price_micros * kNanosPerMicro;
  for (const std::string& zone : zones_of(facts, place)) {
    if (facts.on_demand) type.offerings.push_back({zone, "on-demand", price, true});
    if (facts.spot) type.offerings.push_back({zone, "spot", price, true});
  }
  return type;
}

namespace {

// EC2 tells of a type's EFA interfaces, one for each card of those that have several.
bool has_interfaces(const TypeFacts& facts, const InterfaceCounts& wanted) {
  return wanted.efa_only <= facts.efa && wanted.cards <= std::max<std::int64_t>(1, facts.efa);
}

}  // namespace

bool fits(const TypeFacts& facts, const NodeClassSettings& settings) {
  if (settings.nested_virtualization && !facts.nested_virtualization) return false;
  if (settings.connection_tracking && facts.hypervisor == "xen") return false;  // Nitro does it
  if (settings.interfaces && !has_interfaces(facts, *settings.interfaces)) return false;
  if (is_windows(settings.family)) return !facts.arm;
  const bool first_arm = facts.name.starts_with("a1.");
  return !(first_arm && settings.family == Family::kAl2023);
}

model::Catalogue make_catalogue(const NodeClassSettings& settings, const Place& place) {
  model::Catalogue catalogue;
  catalogue.provider = "aws";
  for (const TypeFacts& facts : type_facts()) {
    if (!fits(facts, settings)) continue;
    model::InstanceType type = make_type(facts, settings, place);
    if (!type.offerings.empty()) catalogue.types.push_back(std::move(type));
  }
  return catalogue;
}

std::span<const std::string_view> label_keys() {
  return kLabelKeys;
}

std::span<const std::string_view> own_labels() {
  static const std::vector<std::string_view> kAll = [] {
    std::vector<std::string_view> all(std::begin(kLaunchLabels), std::end(kLaunchLabels));
    all.insert(all.end(), std::begin(kLabelKeys), std::end(kLabelKeys));
    std::sort(all.begin(), all.end());
    return all;
  }();
  return kAll;
}

std::string_view zone_id_of(std::string_view zone) {
  if (zone.size() != kRegion.size() + 1 || !zone.starts_with(kRegion)) return {};
  return zone_id(zone.back());
}

std::int64_t attachable_volumes(std::string_view type_name) {
  const TypeFacts* facts = find_type(type_name);
  return facts == nullptr || facts->attachments == 0 ? 0 : facts->attachments - 1;
}

}  // namespace karst::providers::aws
