#include "providers/aws/class_types.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "model/labels.h"
#include "providers/aws/allocatable.h"
#include "providers/aws/catalogue.h"
#include "providers/aws/images.h"

namespace karst::providers::aws {
namespace {

constexpr std::string_view kMemoryLabel = "karpenter.k8s.aws/instance-memory";
constexpr std::string_view kHypervisorLabel = "karpenter.k8s.aws/instance-hypervisor";
constexpr std::string_view kNvmeLabel = "karpenter.k8s.aws/instance-local-nvme";
constexpr std::string_view kReservationTypeLabel = "karpenter.k8s.aws/capacity-reservation-type";
constexpr std::string_view kInterruptibleLabel =
    "karpenter.k8s.aws/capacity-reservation-interruptible";
constexpr std::string_view kReservationLabels[] = {kReservationIdLabel, kReservationTypeLabel,
                                                   kInterruptibleLabel};

// The only value of a label; empty: it has none.
std::string_view value_of(const model::InstanceType& type, std::string_view key) {
  for (const model::RequirementSpec& spec : type.requirements)
    if (spec.key == key && spec.op == model::Operator::kIn && spec.values.size() == 1)
      return spec.values.front();
  return {};
}

std::int64_t number_of(std::string_view text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// What of the facts sizes depend on; views live as long as `type`.
TypeFacts facts_of(const model::InstanceType& type) {
  TypeFacts facts;
  facts.name = type.name;
  facts.cpus = type.capacity.cpu_millis / 1000;
  facts.memory_mib = number_of(value_of(type, kMemoryLabel));
  facts.arm = value_of(type, model::kArchLabel) == "arm64";
  facts.nvme = !value_of(type, kNvmeLabel).empty();
  facts.hypervisor = value_of(type, kHypervisorLabel);
  facts.efa = type.capacity.amount(kEfaResource);
  // "4 15 0 v": interfaces, addresses of each, gigabytes of instance store; v: machines in
  // machines.
  std::string_view rest = type.facts;
  for (std::int64_t* column :
       {&facts.interfaces, &facts.addresses_per_interface, &facts.storage_gb}) {
    *column = number_of(rest);
    rest.remove_prefix(std::min(rest.find(' '), rest.size()));
    if (!rest.empty()) rest.remove_prefix(1);
  }
  facts.nested_virtualization = rest == "v";
  return facts;
}

void set_system(model::InstanceType& type, Family family) {
  for (model::RequirementSpec& spec : type.requirements) {
    if (spec.key == model::kOsLabel) spec.values = {is_windows(family) ? "windows" : "linux"};
    if (spec.key == kWindowsBuildLabel && is_windows(family)) {
      spec.op = model::Operator::kIn;
      spec.values = {std::string(windows_build(family))};
    }
  }
}

// Resources that are the machine's whatever the class: what capacity_of does not know here.
void keep_devices(model::Resources& out, const model::Resources& base) {
  for (const auto& [name, amount] : base.extended)
    if (name != kEfaResource) out.set_amount(name, amount);
}

// Zones that have a subnet, with their ids.
std::map<std::string, std::string> zones_of(const Resolved& resolved) {
  std::map<std::string, std::string> zones;
  for (const Subnet& subnet : resolved.subnets) zones.emplace(subnet.zone, subnet.zone_id);
  return zones;
}

std::int64_t on_demand_price(const model::InstanceType& type) {
  std::int64_t price = 0;
  for (const model::Offering& one : type.offerings)
    if (one.capacity_type == "on-demand" && (price == 0 || one.price_nanos_per_hour < price))
      price = one.price_nanos_per_hour;
  return price;
}

void sort_offerings(model::InstanceType& type) {
  std::sort(type.offerings.begin(), type.offerings.end(), [](const auto& a, const auto& b) {
    return std::tie(a.zone, a.capacity_type, a.reservation) <
           std::tie(b.zone, b.capacity_type, b.reservation);
  });
}

void deny(model::InstanceType& type, std::string_view label) {
  type.requirements.push_back({std::string(label), model::Operator::kDoesNotExist, {}, 0});
}

// What is not reserved does not carry the labels of what is. Types without any reserved offering,
// which are most of them, say so once.
void deny_reservations(model::InstanceType& type) {
  const auto is_ordinary = [](const model::Offering& one) { return one.reservation.empty(); };
  if (std::all_of(type.offerings.begin(), type.offerings.end(), is_ordinary)) {
    for (const std::string_view label : kReservationLabels) deny(type, label);
    return;
  }
  for (model::Offering& one : type.offerings)
    for (const std::string_view label : kReservationLabels)
      if (is_ordinary(one)) model::set_label(one.labels, label, "");
}

// Which machine is in which part of a group is the cloud's choice: no machine is known to carry
// that label.
void set_placement_group(model::InstanceType& type, const std::string& group) {
  if (group.empty())
    deny(type, kPlacementGroupIdLabel);
  else
    type.requirements.push_back(
        {std::string(kPlacementGroupIdLabel), model::Operator::kIn, {group}, 0});
  deny(type, kPlacementGroupPartitionLabel);
}

void add_zone_ids(model::InstanceType& type, const std::map<std::string, std::string>& zones) {
  for (model::Offering& one : type.offerings)
    if (const auto zone = zones.find(one.zone); zone != zones.end() && !zone->second.empty())
      model::set_label(one.labels, kZoneIdLabel, zone->second);
}

bool knows_region(const model::Catalogue& catalogue,
                  const std::map<std::string, std::string>& zones) {
  for (const model::InstanceType& type : catalogue.types)
    for (const model::Offering& one : type.offerings)
      if (zones.contains(one.zone)) return true;
  return false;
}

// 0: no such machine has been seen.
std::int64_t memory_seen(std::span<const SeenMemory> seen, std::string_view type,
                         std::string_view image) {
  const auto key = std::tie(type, image);
  const auto at =
      std::lower_bound(seen.begin(), seen.end(), key, [](const auto& one, const auto& wanted) {
        return std::tie(one.instance_type, one.image) < wanted;
      });
  return at != seen.end() && std::tie(at->instance_type, at->image) == key ? at->bytes : 0;
}

model::Catalogue base_catalogue(const Place& place) {
  model::Catalogue catalogue;
  catalogue.provider = "aws";
  for (const TypeFacts& facts : type_facts()) {
    model::InstanceType type = base_type(facts, place.region);
    type.offerings = make_type(facts, {}, place).offerings;
    if (!type.offerings.empty()) catalogue.types.push_back(std::move(type));
  }
  return catalogue;
}

}  // namespace

model::InstanceType base_type(const TypeFacts& facts, const std::string& region) {
  Place place;
  place.region = region;
  model::InstanceType type = make_type(facts, {}, place);
  type.offerings.clear();
  type.facts = std::to_string(facts.interfaces) + " " +
               std::to_string(facts.addresses_per_interface) + " " +
               std::to_string(facts.storage_gb) + (facts.nested_virtualization ? " v" : "");
  // One attachment is the root volume's.
  if (facts.attachments > 0)
    model::set_label(type.attach_limits, kVolumeDriver, std::to_string(facts.attachments - 1));
  return type;
}

model::Catalogue embedded_base_catalogue() {
  return base_catalogue({});
}

NodeClassSettings settings_of(const NodeClassSpec& spec, const Resolved& resolved) {
  NodeClassSettings settings = spec.settings;
  settings.memory_overhead_ppm = resolved.cluster.memory_overhead_ppm;
  settings.reserved_interfaces = resolved.cluster.reserved_interfaces;
  return settings;
}

model::InstanceType adapted(const model::InstanceType& base, const NodeClassSettings& settings) {
  const TypeFacts facts = facts_of(base);
  model::InstanceType type = base;
  set_system(type, settings.family);
  type.capacity = capacity_of(facts, settings);
  type.allocatable = allocatable_of(facts, settings);
  keep_devices(type.capacity, base.capacity);
  keep_devices(type.allocatable, base.capacity);
  return type;
}

void use_seen_memory(model::InstanceType& type, const NodeClassSettings& settings,
                     const Image* image, std::span<const SeenMemory> seen) {
  const std::int64_t bytes = image == nullptr ? 0 : memory_seen(seen, type.name, image->id);
  if (bytes == 0) return;
  type.capacity.memory_bytes = bytes;
  type.allocatable.memory_bytes = allocatable_of(facts_of(type), settings, bytes).memory_bytes;
}

void add_reserved(const std::vector<Reservation>& reservations, model::InstanceType& type) {
  const std::int64_t price = on_demand_price(type);
  for (const Reservation& one : reservations) {
    if (one.instance_type != type.name || one.available <= 0 || price <= 0 ||
        one.state == kExpiring)
      continue;
    model::Offering offering{one.zone, "reserved",
                             std::max<std::int64_t>(1, price / kReservedDivisor), true};
    offering.reservation = one.id;
    offering.reservation_count = one.available;
    model::set_label(offering.labels, kReservationIdLabel, one.id);
    model::set_label(offering.labels, kReservationTypeLabel, one.type);
    model::set_label(offering.labels, kInterruptibleLabel, one.interruptible ? "true" : "false");
    type.offerings.push_back(std::move(offering));
  }
  deny_reservations(type);
  sort_offerings(type);
}

std::vector<model::InstanceType> types_for(const model::Catalogue& catalogue,
                                           const NodeClassSpec& spec, const Resolved& resolved,
                                           std::span<const SeenMemory> seen) {
  const std::map<std::string, std::string> zones = zones_of(resolved);
  model::Catalogue elsewhere;
  const model::Catalogue* source = &catalogue;
  if (!zones.empty() && !knows_region(catalogue, zones)) {
    Place place;
    place.region = region_of(zones.begin()->first);
    for (const auto& [zone, id] : zones) place.zones.push_back(zone);
    elsewhere = base_catalogue(place);
    source = &elsewhere;
  }
  const NodeClassSettings settings = settings_of(spec, resolved);
  std::vector<model::InstanceType> types;
  for (const model::InstanceType& base : source->types) {
    if (!fits(facts_of(base), settings)) continue;
    model::InstanceType type = adapted(base, settings);
    const Image* image = image_for(resolved.images, model::Requirements(type.requirements));
    if (image == nullptr) continue;
    use_seen_memory(type, settings, image, seen);
    set_placement_group(type, resolved.placement_group.id);
    std::erase_if(type.offerings,
                  [](const model::Offering& one) { return one.capacity_type == "reserved"; });
    add_reserved(resolved.reservations, type);
    std::erase_if(type.offerings,
                  [&](const model::Offering& one) { return !zones.contains(one.zone); });
    for (model::Offering& one : type.offerings)
      one.available &= !std::binary_search(resolved.shifted_zones.begin(),
                                           resolved.shifted_zones.end(), one.zone);
    add_zone_ids(type, zones);
    sort_offerings(type);
    if (!type.offerings.empty()) types.push_back(std::move(type));
  }
  return types;
}

}  // namespace karst::providers::aws
