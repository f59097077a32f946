#include "providers/aws/launch.h"

#include <algorithm>

#include "base/check.h"
#include "model/labels.h"
#include "providers/aws/allocatable.h"
#include "providers/aws/class_types.h"
#include "providers/aws/images.h"
#include "providers/aws/launch_choice.h"
#include "providers/aws/launch_template.h"

namespace karst::providers::aws {
namespace {

constexpr std::string_view kSandbox = "eks.amazonaws.com/nitro-sandbox";
constexpr std::string_view kTenancyLabel = "karpenter.k8s.aws/instance-tenancy";

// Templates by what their types share, in the order of their keys.
using Groups = std::map<TemplateKey, std::vector<const ChosenOffer*>>;

std::string refusal(std::string_view reason, const std::string& message) {
  return Tree{{"refusal", reason}, {"message", message}}.dump(-1, ' ', false,
                                                              Tree::error_handler_t::replace);
}

// Dollars per hour, at most nine decimals.
std::string dollars(std::int64_t nanos) {
  constexpr std::int64_t kNanos = 1'000'000'000;
  std::string fraction = std::to_string(nanos % kNanos);
  fraction.insert(0, 9 - fraction.size(), '0');
  while (!fraction.empty() && fraction.back() == '0') fraction.pop_back();
  return std::to_string(nanos / kNanos) + (fraction.empty() ? "" : "." + fraction);
}

Tree to_tree(const model::Resources& amounts) {
  Tree extended = Tree::object();
  for (const auto& [name, amount] : amounts.extended) extended[name] = amount;
  return {{"cpu", amounts.cpu_millis},
          {"memory", amounts.memory_bytes},
          {"ephemeral", amounts.ephemeral_bytes},
          {"pods", amounts.pods},
          {"extended", std::move(extended)}};
}

// Addresses without what orders since the count may take.
std::int64_t free_in(const Subnet& subnet, std::span<const model::AddressUse> promised) {
  std::int64_t free = subnet.free_addresses;
  for (const model::AddressUse& use : promised)
    if (use.subnet == subnet.id) free -= use.each;
  return free;
}

// By zone the subnet with most free addresses; of equals the first.
std::map<std::string, std::string> subnet_by_zone(const Resolved& resolved,
                                                  std::span<const model::AddressUse> promised) {
  std::map<std::string, std::string> subnets;
  std::map<std::string, std::int64_t> most;
  for (const Subnet& subnet : resolved.subnets) {
    const std::int64_t free = free_in(subnet, promised);
    const auto [best, first] = most.try_emplace(subnet.zone, free);
    if (!first && free <= best->second) continue;
    best->second = free;
    subnets[subnet.zone] = subnet.id;
  }
  return subnets;
}

// Zones where a subnet that is not chosen has addresses left.
Tree zones_with_more(const Resolved& resolved, std::span<const model::AddressUse> promised,
                     const std::map<std::string, std::string>& chosen) {
  std::set<std::string> zones;
  for (const Subnet& subnet : resolved.subnets)
    if (chosen.at(subnet.zone) != subnet.id && free_in(subnet, promised) > 0)
      zones.insert(subnet.zone);
  return zones;
}

// By zone, for addresses_of().
Tree addresses_in(const Groups& groups, const std::map<std::string, std::string>& subnets) {
  std::map<std::string, std::int64_t> least;
  for (const auto& [key, offers] : groups)
    for (const ChosenOffer* one : offers) {
      const auto [at, first] = least.try_emplace(one->offer.zone, one->type->capacity.pods);
      if (!first) at->second = std::min(at->second, one->type->capacity.pods);
    }
  Tree list = Tree::array();
  for (const auto& [zone, each] : least)
    list.push_back(Tree{{"subnet", subnets.at(zone)}, {"zone", zone}, {"each", each}});
  return list;
}

// Shared machines, unless the claim takes dedicated ones alone.
std::string tenancy_of(const model::NodeClaim& claim) {
  for (const model::RequirementSpec& spec : claim.requirements)
    if (spec.key == kTenancyLabel && !model::to_value_set(spec).contains("default"))
      return "dedicated";
  return "default";
}

model::Labels order_tags(const LaunchInput& input, const TemplateInput& common) {
  model::Labels tags = launch_tags(common);
  model::set_label(tags, kCommandTag, input.command_tag);
  model::set_label(tags, kTokenTag, input.token);
  std::string claims;
  for (std::size_t i = 0; i < input.subjects.size(); ++i) {
    const LaunchSubject& subject = input.subjects[i];
    claims += (claims.empty() ? "" : " ") + subject.claim->uid.str() + ":" +
              std::to_string(subject.attempt);
    if ((i + 1) % kClaimsPerTag != 0 && i + 1 < input.subjects.size()) continue;
    model::set_label(tags, std::string(kClaimsTag) + std::to_string(i / kClaimsPerTag), claims);
    claims.clear();
  }
  if (input.subjects.size() == 1 && tags.size() < kTagsMax)
    model::set_label(tags, kNodeClaimTag, input.subjects.front().claim->name.str());
  return tags;
}

void set_strategy(Tree& fleet, const Choice& choice, std::size_t count) {
  std::string target = choice.capacity_type == "spot" ? "spot" : "on-demand";
  if (choice.reservation_type == "capacity-block") target = "capacity-block";
  if (choice.reservation_type == "interruptible") target = "reserved-capacity";
  fleet["TargetCapacitySpecification"] = {{"TotalTargetCapacity", std::to_string(count)},
                                          {"DefaultTargetCapacityType", target}};
  if (target == "spot") fleet["SpotOptions"] = {{"AllocationStrategy", "price-capacity-optimized"}};
  if (target == "on-demand") fleet["OnDemandOptions"] = {{"AllocationStrategy", "lowest-price"}};
  if (target == "reserved-capacity")
    fleet["ReservedCapacityOptions"]["ReservationType"] = {"interruptible-capacity-reservation"};
}

Groups group_offers(const Choice& choice, const model::NodeClaim& claim,
                    const std::map<std::string, std::string>& subnets) {
  Groups groups;
  for (const ChosenOffer& one : choice.offers) {
    if (!subnets.contains(one.offer.zone)) continue;
    TemplateKey key;
    key.image = one.image->id;
    key.max_pods = one.type->capacity.pods;
    key.efa = claim.requests.amount(kEfaResource) > 0 ? one.type->capacity.amount(kEfaResource) : 0;
    key.enclaves = claim.requests.amount(kSandbox) > 0;
    key.reservation = one.reservation;
    groups[key].push_back(&one);
  }
  while (groups.size() > kTemplatesPerFleetMax) groups.erase(std::prev(groups.end()));
  return groups;
}

Tree config_of(const std::string& name, const std::vector<const ChosenOffer*>& offers,
               const std::map<std::string, std::string>& subnets) {
  Tree config;
  config["LaunchTemplateSpecification"] = {{"LaunchTemplateName", name}, {"Version", "$Latest"}};
  for (const ChosenOffer* one : offers)
    config["Overrides"].push_back(Tree{{"InstanceType", one->offer.instance_type},
                                       {"SubnetId", subnets.at(one->offer.zone)},
                                       {"AvailabilityZone", one->offer.zone},
                                       {"ImageId", one->image->id},
                                       {"Priority", dollars(one->offer.price_nanos_per_hour)}});
  return config;
}

std::string encode(const LaunchInput& input, const NodeClassSpec& spec, const Resolved& resolved) {
  const model::NodeClaim& claim = *input.subjects.front().claim;
  const NodeClassSettings settings = settings_of(spec, resolved);
  const std::span<const SeenMemory> seen = input.subjects.front().seen_memory;
  std::vector<model::InstanceType> types;
  for (const model::InstanceType& base : input.catalogue->types)
    if (std::any_of(input.offers.begin(), input.offers.end(),
                    [&](const model::Offer& offer) { return offer.instance_type == base.name; })) {
      model::InstanceType& type = types.emplace_back(adapted(base, settings));
      const model::Requirements labels(type.requirements);
      use_seen_memory(type, settings, image_for(resolved.images, labels), seen);
    }
  const Choice choice = choose_offers(input.offers, types, resolved, claim);
  const auto subnets = subnet_by_zone(resolved, input.subjects.front().promised);
  const Groups groups = group_offers(choice, claim, subnets);
  if (groups.empty())
    return refusal(kNoCapacity, "all requested instance types were unavailable during launch");
  const TemplateInput common{&spec, &resolved, &claim, choice.capacity_type, tenancy_of(claim)};
  Tree order = Tree::object();
  Tree fleet = {{"ClientToken", input.token}, {"Type", "instant"}};
  if (!spec.context.empty()) fleet["Context"] = spec.context;
  Tree sizes = Tree::object();
  for (const auto& [key, offers] : groups) {
    auto made = launch_template(key, common);
    if (!made) return refusal("LaunchFailed", made.error().message);
    const auto name = made->parameters["LaunchTemplateName"].get<std::string>();
    order["templates"].push_back(std::move(made->parameters));
    fleet["LaunchTemplateConfigs"].push_back(config_of(name, offers, subnets));
    for (const ChosenOffer* one : offers)
      sizes[one->offer.instance_type] = {{"capacity", to_tree(one->type->capacity)},
                                         {"allocatable", to_tree(one->type->allocatable)}};
  }
  set_strategy(fleet, choice, input.subjects.size());
  const Tree tags = tag_list(order_tags(input, common));
  for (const char* what : {"instance", "volume", "fleet"})
    fleet["TagSpecification"].push_back(Tree{{"ResourceType", what}, {"Tag", tags}});
  order["fleet"] = std::move(fleet);
  order["capacityType"] = choice.capacity_type;
  order["commandTag"] = input.command_tag;
  order["sizes"] = std::move(sizes);
  order["addresses"] = addresses_in(groups, subnets);
  order["moreSubnetsIn"] = zones_with_more(resolved, input.subjects.front().promised, subnets);
  return order.dump(-1, ' ', false, Tree::error_handler_t::replace);
}

}  // namespace

std::size_t claims_per_order(const NodeClassSpec& spec) {
  const std::size_t used = std::min(spec.tags.size() + kTagsWeAdd, kTagsMax);
  return std::clamp((kTagsMax - used) * kClaimsPerTag, std::size_t{1}, model::kLaunchItemsMax);
}

std::string encode_launch(const LaunchInput& input) {
  KARST_CHECK(!input.subjects.empty(), "a launch order has at least one claim");
  const LaunchSubject& subject = input.subjects.front();
  if (subject.node_class.empty()) return refusal(kNoCapacity, "the node class is gone");
  const auto spec = read_node_class_spec(subject.node_class);
  if (!spec) return refusal(kNodeClassNotReady, spec.error().message);
  // Its status may not say so yet, and what follows takes the kubelet map as checked.
  if (const auto found = check_node_class(*spec))
    return refusal(kNodeClassNotReady, found->message);
  const auto resolved = read_resolved(subject.resolved);
  if (!resolved) return refusal(kNodeClassNotReady, resolved.error().message);
  return encode(input, *spec, *resolved);
}

}  // namespace karst::providers::aws
