// The bytes of a launch order, read again by who sends them and by who reads the answer.
#include "providers/aws/launch.h"

namespace karst::providers::aws {
namespace {

const Tree& member(const Tree& object, const char* key) {
  static const Tree kNone;
  if (!object.is_object()) return kNone;
  const auto at = object.find(key);
  return at == object.end() ? kNone : *at;
}

std::string text_of(const Tree& object, const char* key) {
  const Tree& value = member(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::int64_t number_of(const Tree& object, const char* key) {
  const Tree& value = member(object, key);
  return value.is_number_integer() ? value.get<std::int64_t>() : 0;
}

model::Resources amounts_of(const Tree& object) {
  model::Resources out;
  out.cpu_millis = number_of(object, "cpu");
  out.memory_bytes = number_of(object, "memory");
  out.ephemeral_bytes = number_of(object, "ephemeral");
  out.pods = number_of(object, "pods");
  const Tree& extended = member(object, "extended");
  if (extended.is_object())
    for (const auto& [name, amount] : extended.items())
      if (amount.is_number_integer()) out.set_amount(name, amount.get<std::int64_t>());
  return out;
}

}  // namespace

std::vector<model::AddressUse> addresses_of(std::string_view bytes) {
  const Tree order = Tree::parse(bytes, nullptr, /*allow_exceptions=*/false);
  std::vector<model::AddressUse> uses;
  for (const Tree& one : member(order, "addresses"))
    uses.push_back({text_of(one, "subnet"), text_of(one, "zone"), number_of(one, "each")});
  return uses;
}

base::Result<LaunchOrder> read_launch(std::string_view bytes) {
  const Tree order = Tree::parse(bytes, nullptr, /*allow_exceptions=*/false);
  LaunchOrder out;
  out.refusal = text_of(order, "refusal");
  out.message = text_of(order, "message");
  if (!out.refusal.empty()) return out;
  const Tree& templates = member(order, "templates");
  const Tree& fleet = member(order, "fleet");
  const Tree& configs = member(fleet, "LaunchTemplateConfigs");
  if (!templates.is_array() || !configs.is_array())
    return base::fail(base::Kind::kInvalid, "a launch order's bytes: expected templates and fleet");
  for (const Tree& parameters : templates)
    out.templates.push_back({"ec2", "CreateLaunchTemplate", parameters});
  out.fleet = {"ec2", "CreateFleet", fleet};
  out.capacity_type = text_of(order, "capacityType");
  out.command_tag = text_of(order, "commandTag");
  for (std::size_t i = 0; i < configs.size() && i < templates.size(); ++i) {
    const Tree& data = member(templates[i], "LaunchTemplateData");
    const std::string reservation = text_of(
        member(member(data, "CapacityReservationSpecification"), "CapacityReservationTarget"),
        "CapacityReservationId");
    const Tree& overrides = member(configs[i], "Overrides");
    if (!overrides.is_array()) continue;
    for (const Tree& one : overrides) {
      const std::string zone = text_of(one, "AvailabilityZone");
      out.zones[text_of(one, "SubnetId")] = zone;
      if (!reservation.empty())
        out.reservations[{text_of(one, "InstanceType"), zone}] = reservation;
    }
  }
  for (const Tree& zone : member(order, "moreSubnetsIn"))
    if (zone.is_string()) out.zones_with_more.insert(zone.get<std::string>());
  if (const Tree& sizes = member(order, "sizes"); sizes.is_object())
    for (const auto& [type, size] : sizes.items())
      out.sizes[type] = {amounts_of(member(size, "capacity")),
                         amounts_of(member(size, "allocatable"))};
  return out;
}

}  // namespace karst::providers::aws
