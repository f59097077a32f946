#include "providers/aws/fleet.h"

#include <algorithm>
#include <set>

#include "providers/aws/launch.h"
#include "providers/aws/launch_errors.h"
#include "providers/aws/xml.h"

namespace karst::providers::aws {
namespace {

constexpr const char* kOverrides = "launchTemplateAndOverrides/overrides";

model::Offer offer_of(const model::Launch& launch, const LaunchOrder& order,
                      const std::string& type, const std::string& zone,
                      const std::string& capacity_type) {
  const auto reserved = order.reservations.find({type, zone});
  const std::string reservation =
      reserved == order.reservations.end() ? std::string() : reserved->second;
  for (const model::Offer& offer : launch.offers)
    if (offer.instance_type == type && offer.zone == zone && offer.capacity_type == capacity_type &&
        (offer.reservation.empty() || offer.reservation == reservation))
      return offer;
  return {type, zone, capacity_type, 0, reservation};
}

// One <item> of fleetInstanceSet: instances of one type in one subnet.
void read_launched(const pugi::xml_node& item, const model::Launch& launch,
                   const LaunchOrder& order, std::vector<model::Instance>& out) {
  const pugi::xml_node overrides = item.first_element_by_path(kOverrides);
  std::string zone = text_at(overrides, "availabilityZone");
  if (const auto at = order.zones.find(text_at(overrides, "subnetId"));
      zone.empty() && at != order.zones.end())
    zone = at->second;
  std::string type = text_at(item, "instanceType");
  if (type.empty()) type = text_at(overrides, "instanceType");
  std::string capacity_type = order.capacity_type;
  if (capacity_type != "reserved" && text_at(item, "lifecycle") == "spot") capacity_type = "spot";
  for (const pugi::xml_node& id : item.child("instanceIds").children("item")) {
    model::Instance one;
    one.provider_id = model::ProviderId("aws:///" + zone + "/" + id.text().get());
    one.offer = offer_of(launch, order, type, zone, capacity_type);
    one.image = text_at(overrides, "imageId");
    one.command_tag = order.command_tag;
    if (const auto size = order.sizes.find(type); size != order.sizes.end()) {
      one.capacity = size->second.capacity;
      one.allocatable = size->second.allocatable;
    }
    out.push_back(std::move(one));
  }
}

// The subnet that an order names in the zone.
std::string subnet_in(const LaunchOrder& order, const std::string& zone) {
  for (const auto& [subnet, of] : order.zones)
    if (of == zone) return subnet;
  return {};
}

// What errors say has nothing left.
struct Lacking {
  std::set<model::Offer> offers;
  std::set<std::string> subnets;
};

// The offers of the error's override, or all when it has none; but of a subnet without addresses
// only itself, while the zone has another. Without its role nothing of spot can be had, whatever
// was asked for.
void read_lacking(const pugi::xml_node& error, const model::Launch& launch,
                  const LaunchOrder& order, Lacking& out) {
  const std::string code = text_at(error, "errorCode");
  if (is_spot_role_error(code) && order.capacity_type != "reserved")
    out.offers.insert({"", "", "spot", 0, ""});
  if (!is_capacity_error(code)) return;
  const pugi::xml_node overrides = error.first_element_by_path(kOverrides);
  const std::string type = text_at(overrides, "instanceType");
  std::string zone = text_at(overrides, "availabilityZone");
  if (is_address_error(code)) {
    std::string subnet = text_at(overrides, "subnetId");
    if (subnet.empty()) subnet = subnet_in(order, zone);
    if (const auto at = order.zones.find(subnet); at != order.zones.end()) {
      zone = at->second;
      out.subnets.insert(subnet);
      if (order.zones_with_more.contains(zone)) return;
    }
  }
  for (const model::Offer& offer : launch.offers) {
    if (offer.capacity_type != order.capacity_type) continue;
    const auto used = order.reservations.find({offer.instance_type, offer.zone});
    const bool another = used != order.reservations.end() && used->second != offer.reservation;
    if (another && !offer.reservation.empty()) continue;
    if ((type.empty() || offer.instance_type == type) && (zone.empty() || offer.zone == zone))
      out.offers.insert(offer);
  }
}

// What becomes of claims without an instance: room elsewhere only if nothing but room was missing.
void explain(FleetAnswer& answer, const std::vector<std::pair<std::string, std::string>>& errors) {
  if (errors.empty()) {
    answer.code = model::RefusalCode::kRetry;
    answer.reason = "LaunchFailed";
    answer.message = "too few instances returned";
    return;
  }
  const auto* telling = &errors.front();
  for (const auto& error : errors)
    if (refusal_code(error.first) != model::RefusalCode::kCapacity) {
      telling = &error;
      break;
    }
  answer.code = refusal_code(telling->first);
  std::vector<std::string> texts = {telling->first + ": " + telling->second};
  for (const auto& error : errors)
    if (std::string text = error.first + ": " + error.second;
        std::find(texts.begin(), texts.end(), text) == texts.end())
      texts.push_back(std::move(text));
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : "; ") + text;
  answer.reason =
      answer.code == model::RefusalCode::kCapacity ? "InsufficientCapacity" : launch_reason(all);
  answer.message = model::outcome_message(all);
}

}  // namespace

base::Result<FleetAnswer> decode_fleet(std::string_view xml, const model::Launch& launch) {
  const auto order = read_launch(launch.request);
  if (!order) return base::fail(order.error());
  const auto document = read_xml(xml);
  const pugi::xml_node root = document ? document->child("CreateFleetResponse") : pugi::xml_node();
  if (!root.child("fleetInstanceSet") && !root.child("errorSet"))
    return base::fail(base::Kind::kUnclear, "CreateFleet: an answer that is none of its");
  FleetAnswer answer;
  each_item(root, "fleetInstanceSet", [&](const pugi::xml_node& item) {
    read_launched(item, launch, *order, answer.instances);
  });
  const auto id_of = [](const model::Instance& one) { return instance_id(one.provider_id); };
  std::stable_sort(answer.instances.begin(), answer.instances.end(),
                   [&](const auto& a, const auto& b) { return id_of(a) < id_of(b); });
  if (!answer.instances.empty() && id_of(answer.instances.front()).empty())
    return base::fail(base::Kind::kUnclear, "CreateFleet: an instance without an id");
  answer.instances.erase(
      std::unique(answer.instances.begin(), answer.instances.end(),
                  [&](const auto& a, const auto& b) { return id_of(a) == id_of(b); }),
      answer.instances.end());
  for (std::size_t i = 0; i < answer.instances.size() && !launch.items.empty(); ++i) {
    const model::LaunchItem& item = launch.items[std::min(i, launch.items.size() - 1)];
    answer.instances[i].claim = item.claim;
    answer.instances[i].attempt = item.attempt;
  }
  Lacking lacking;
  std::vector<std::pair<std::string, std::string>> errors;
  each_item(root, "errorSet", [&](const pugi::xml_node& item) {
    errors.emplace_back(text_at(item, "errorCode"), text_at(item, "errorMessage"));
    read_lacking(item, launch, *order, lacking);
  });
  answer.exhausted.assign(lacking.offers.begin(), lacking.offers.end());
  answer.full_subnets.assign(lacking.subnets.begin(), lacking.subnets.end());
  if (answer.instances.size() < launch.items.size()) explain(answer, errors);
  return answer;
}

FleetAnswer decode_fleet_error(std::string_view code, std::string_view message) {
  FleetAnswer answer;
  // Whatever its code, it says nothing of any offer: a claim stays, and is tried again.
  answer.code = refusal_code(code);
  if (answer.code == model::RefusalCode::kCapacity) answer.code = model::RefusalCode::kRetry;
  const std::string text = std::string(code) + ": " + std::string(message);
  answer.reason = launch_reason(text);
  answer.message = model::outcome_message(text);
  return answer;
}

}  // namespace karst::providers::aws
