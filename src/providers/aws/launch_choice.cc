#include "providers/aws/launch_choice.h"

#include <algorithm>
#include <map>
#include <set>

#include "model/find_type.h"
#include "providers/aws/images.h"
#include "providers/aws/launch.h"

namespace karst::providers::aws {
namespace {

constexpr std::string_view kSpecial[] = {"nvidia.com/gpu", "amd.com/gpu", "aws.amazon.com/neuron",
                                         "habana.ai/gaudi"};

// Bare metal and machines with devices.
bool is_special(const model::InstanceType& type) {
  const std::size_t dot = type.name.find('.');
  if (dot != std::string::npos && type.name.find("metal", dot) != std::string::npos) return true;
  return std::any_of(std::begin(kSpecial), std::end(kSpecial),
                     [&](std::string_view name) { return type.capacity.amount(name) > 0; });
}

std::string kind_of(const Reservation& one) {
  return one.interruptible ? "interruptible" : one.type;
}

// The offer's own, or of its type in its zone the one with most left; of that kind when one is
// given.
const Reservation* best_reservation(const Resolved& resolved, const model::Offer& offer,
                                    const std::string& kind) {
  const Reservation* best = nullptr;
  for (const Reservation& one : resolved.reservations) {
    if (one.instance_type != offer.instance_type || one.zone != offer.zone || one.available <= 0 ||
        (!kind.empty() && kind_of(one) != kind) ||
        (!offer.reservation.empty() && one.id != offer.reservation))
      continue;
    if (best == nullptr || one.available > best->available) best = &one;
  }
  return best;
}

bool has(const std::vector<ChosenOffer>& offers, std::string_view capacity_type) {
  return std::any_of(offers.begin(), offers.end(), [&](const ChosenOffer& one) {
    return one.offer.capacity_type == capacity_type;
  });
}

void keep_capacity_type(Choice& choice) {
  choice.capacity_type = has(choice.offers, "reserved") ? "reserved"
                         : has(choice.offers, "spot")   ? "spot"
                                                        : "on-demand";
  std::erase_if(choice.offers, [&](const ChosenOffer& one) {
    return one.offer.capacity_type != choice.capacity_type;
  });
}

// CreateFleet takes one reservation of a type in a zone: of those on offer the one with most left.
void keep_one_each(std::vector<ChosenOffer>& offers, const Resolved& resolved) {
  std::map<std::string_view, std::int64_t> left;
  for (const Reservation& one : resolved.reservations) left[one.id] = one.available;
  std::map<std::pair<std::string, std::string>, std::string> best;
  for (const ChosenOffer& one : offers) {
    std::string& id = best[{one.offer.instance_type, one.offer.zone}];
    if (id.empty() || left[one.reservation] > left[id]) id = one.reservation;
  }
  std::erase_if(offers, [&](const ChosenOffer& one) {
    return one.reservation != best[{one.offer.instance_type, one.offer.zone}];
  });
}

// One kind of reservation an order: that of the cheapest offer, default before blocks before
// interruptible ones. Of blocks the cheapest type alone.
void choose_reservations(Choice& choice, const Resolved& resolved) {
  if (!has(choice.offers, "reserved")) return;
  std::erase_if(choice.offers,
                [](const ChosenOffer& one) { return one.offer.capacity_type != "reserved"; });
  const std::int64_t cheapest = choice.offers.front().offer.price_nanos_per_hour;
  for (const char* kind : {"interruptible", "capacity-block", "default"})
    for (const ChosenOffer& one : choice.offers)
      if (one.offer.price_nanos_per_hour == cheapest &&
          best_reservation(resolved, one.offer, kind) != nullptr)
        choice.reservation_type = kind;
  std::erase_if(choice.offers, [&](ChosenOffer& one) {
    const Reservation* best = best_reservation(resolved, one.offer, choice.reservation_type);
    if (best != nullptr) one.reservation = best->id;
    return best == nullptr;
  });
  keep_one_each(choice.offers, resolved);
  if (choice.reservation_type != "capacity-block") return;
  const std::string type = choice.offers.front().offer.instance_type;
  std::erase_if(choice.offers,
                [&](const ChosenOffer& one) { return one.offer.instance_type != type; });
}

void drop_special(std::vector<ChosenOffer>& offers) {
  const auto special = [](const ChosenOffer& one) { return is_special(*one.type); };
  if (!std::all_of(offers.begin(), offers.end(), special)) std::erase_if(offers, special);
}

void drop_dear_spot(std::vector<ChosenOffer>& offers) {
  std::int64_t on_demand = -1;
  for (const ChosenOffer& one : offers)
    if (one.offer.capacity_type == "on-demand" &&
        (on_demand < 0 || one.offer.price_nanos_per_hour < on_demand))
      on_demand = one.offer.price_nanos_per_hour;
  if (on_demand < 0) return;
  std::erase_if(offers, [&](const ChosenOffer& one) {
    return one.offer.capacity_type == "spot" && one.offer.price_nanos_per_hour > on_demand;
  });
}

void keep_types(std::vector<ChosenOffer>& offers) {
  std::set<std::string_view> names;
  std::erase_if(offers, [&](const ChosenOffer& one) {
    if (names.contains(one.type->name)) return false;
    if (names.size() == kLaunchTypesMax) return true;
    names.insert(one.type->name);
    return false;
  });
}

}  // namespace

Choice choose_offers(std::span<const model::Offer> offers,
                     const std::vector<model::InstanceType>& types, const Resolved& resolved,
                     const model::NodeClaim& claim) {
  Choice choice;
  for (const model::Offer& offer : offers) {
    const model::InstanceType* type = model::find_type(types, offer.instance_type);
    if (type == nullptr) continue;
    const Image* image = image_for(resolved.images, model::Requirements(type->requirements));
    if (image == nullptr) continue;
    if (offer.capacity_type == "reserved" && best_reservation(resolved, offer, "") == nullptr)
      continue;
    choice.offers.push_back({offer, type, image, ""});
  }
  std::stable_sort(choice.offers.begin(), choice.offers.end(),
                   [](const ChosenOffer& a, const ChosenOffer& b) {
                     return a.offer.price_nanos_per_hour < b.offer.price_nanos_per_hour;
                   });
  choose_reservations(choice, resolved);
  const bool diverse =
      std::any_of(claim.requirements.begin(), claim.requirements.end(),
                  [](const model::RequirementSpec& spec) { return spec.min_values > 0; });
  if (!diverse) {
    drop_special(choice.offers);
    drop_dear_spot(choice.offers);
  }
  keep_capacity_type(choice);
  keep_types(choice.offers);
  return choice;
}

}  // namespace karst::providers::aws
