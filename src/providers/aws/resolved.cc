#include "providers/aws/resolved.h"

#include <nlohmann/json.hpp>

#include "providers/aws/json_fields.h"

namespace karst::providers::aws {
namespace {

using nlohmann::json;

constexpr const char* kShiftedZones = "shiftedZones";

template <class Fields>
void fields_of(Fields field, Cluster& c) {
  field("name", c.name);
  field("uid", c.uid);
  field("endpoint", c.endpoint);
  field("ca", c.ca);
  field("dnsIP", c.dns_ip);
  field("serviceCIDR", c.service_cidr);
  field("version", c.version);
  field("region", c.region);
  field("ipv6", c.ipv6);
  field.unless(kMemoryOverheadPpm, "memoryOverheadPPM", c.memory_overhead_ppm);
  field.unless(std::int64_t{0}, "reservedENIs", c.reserved_interfaces);
  field.unless(true, "usesReservations", c.uses_reservations);
}
template <class Fields>
void fields_of(Fields field, Subnet& s) {
  field("id", s.id);
  field("zone", s.zone);
  field("zoneID", s.zone_id);
  field("free", s.free_addresses);
}
template <class Fields>
void fields_of(Fields field, SecurityGroup& g) {
  field("id", g.id);
  field("name", g.name);
}
template <class Fields>
void fields_of(Fields field, Image& i) {
  field("id", i.id);
  field("name", i.name);
  field("created", i.created);
  field("deprecated", i.deprecated);
}
template <class Fields>
void fields_of(Fields field, Reservation& r) {
  field("id", r.id);
  field("availabilityZone", r.zone);
  field("instanceType", r.instance_type);
  field("ownerID", r.owner);
  field("instanceMatchCriteria", r.match_criteria);
  field("reservationType", r.type);
  field("state", r.state);
  field("endTime", r.end);
  field("available", r.available);
  field("interruptible", r.interruptible);
}
template <class Fields>
void fields_of(Fields field, PlacementGroup& g) {
  field("id", g.id);
  field("name", g.name);
  field("strategy", g.strategy);
  field("partitions", g.partitions);
}

template <class T>
json to_object(T value) {
  json object = json::object();
  fields_of(WritingFields(object), value);
  return object;
}

template <class T>
json to_list(const std::vector<T>& values) {
  json list = json::array();
  for (const T& value : values) list.push_back(to_object(value));
  return list;
}

template <class T>
void from_object(const json& object, T& value, bool& ok) {
  ok = ok && object.is_object();
  if (ok) fields_of(ReadingFields(object, ok), value);
}

void texts_from(const json& list, std::vector<std::string>& texts, bool& ok) {
  ok = ok && list.is_array();
  if (!ok) return;
  for (const json& one : list) {
    ok = ok && one.is_string();
    if (ok) texts.push_back(one.get<std::string>());
  }
}

const json& member(const json& object, const char* key) {
  static const json kNone;
  const auto at = object.find(key);
  return at == object.end() ? kNone : *at;
}

template <class T>
void from_list(const json& list, std::vector<T>& values, bool& ok) {
  ok = ok && list.is_array();
  if (!ok) return;
  for (const json& object : list) from_object(object, values.emplace_back(), ok);
}

json requirements_to_json(const std::vector<model::RequirementSpec>& specs) {
  json list = json::array();
  for (const model::RequirementSpec& spec : specs)
    list.push_back(
        {{"key", spec.key}, {"operator", model::operator_name(spec.op)}, {"values", spec.values}});
  return list;
}

void requirements_from_json(const json& list, std::vector<model::RequirementSpec>& specs,
                            bool& ok) {
  ok = ok && list.is_array();
  if (!ok) return;
  for (const json& one : list) {
    const json& key = member(one, "key");
    const json& op = member(one, "operator");
    const json& values = member(one, "values");
    ok = ok && key.is_string() && op.is_string() && values.is_array();
    if (!ok) return;
    const auto known = model::parse_operator(op.get<std::string>());
    ok = known.has_value();
    if (!ok) return;
    model::RequirementSpec spec{key.get<std::string>(), *known, {}, 0};
    for (const json& value : values) {
      ok = ok && value.is_string();
      if (ok) spec.values.push_back(value.get<std::string>());
    }
    specs.push_back(std::move(spec));
  }
}

}  // namespace

std::string to_json(const Resolved& resolved) {
  json images = to_list(resolved.images);
  for (std::size_t i = 0; i < images.size(); ++i)
    images[i]["requirements"] = requirements_to_json(resolved.images[i].requirements);
  json all = {{"cluster", to_object(resolved.cluster)},
              {"subnets", to_list(resolved.subnets)},
              {"securityGroups", to_list(resolved.security_groups)},
              {"images", std::move(images)},
              {"capacityReservations", to_list(resolved.reservations)},
              {"placementGroup", to_object(resolved.placement_group)},
              {"instanceProfile", resolved.instance_profile}};
  // Not written by versions that did not know it.
  if (!resolved.shifted_zones.empty()) all[kShiftedZones] = resolved.shifted_zones;
  return all.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::vector<std::string> shifted_zones(std::string_view text) {
  // Asked each round, and hardly ever there.
  if (text.find(kShiftedZones) == std::string_view::npos) return {};
  const auto resolved = read_resolved(text);
  return resolved ? resolved->shifted_zones : std::vector<std::string>();
}

std::vector<std::string> ending_reservations(std::string_view text) {
  std::vector<std::string> ids;
  if (text.find(kExpiring) == std::string_view::npos) return ids;
  const auto resolved = read_resolved(text);
  if (resolved)
    for (const Reservation& one : resolved->reservations)  // by id
      if (one.state == kExpiring) ids.push_back(one.id);
  return ids;
}

base::Result<Resolved> read_resolved(std::string_view text) {
  const json all = json::parse(text, nullptr, /*allow_exceptions=*/false);
  bool ok = all.is_object();
  Resolved resolved;
  if (ok) {
    from_object(member(all, "cluster"), resolved.cluster, ok);
    from_list(member(all, "subnets"), resolved.subnets, ok);
    from_list(member(all, "securityGroups"), resolved.security_groups, ok);
    from_list(member(all, "images"), resolved.images, ok);
    for (std::size_t i = 0; ok && i < resolved.images.size(); ++i)
      requirements_from_json(member(member(all, "images")[i], "requirements"),
                             resolved.images[i].requirements, ok);
    from_list(member(all, "capacityReservations"), resolved.reservations, ok);
    from_object(member(all, "placementGroup"), resolved.placement_group, ok);
    const json& profile = member(all, "instanceProfile");
    ok = ok && profile.is_string();
    if (ok) resolved.instance_profile = profile.get<std::string>();
    if (all.contains(kShiftedZones)) texts_from(all[kShiftedZones], resolved.shifted_zones, ok);
  }
  if (!ok)
    return base::fail(base::Kind::kInvalid, "what the node class found: not in its JSON form");
  return resolved;
}

}  // namespace karst::providers::aws
