#include "disruption/replacement.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace karst::disruption {
namespace {

constexpr std::string_view kReserved = "reserved";
constexpr std::string_view kSpot = "spot";
constexpr std::string_view kOnDemand = "on-demand";
constexpr std::string_view kByWorst[] = {kReserved, kSpot, kOnDemand};

bool allows(const model::Requirements& wanted, std::string_view capacity_type) {
  const model::ValueSet* set = wanted.find(model::kCapacityTypeLabel);
  return set == nullptr || set->contains(capacity_type);
}

void demand_spot(Replacement& replacement) {
  model::Requirements wanted(replacement.requirements);
  wanted.add(model::kCapacityTypeLabel, model::ValueSet::of(kSpot));
  replacement.requirements = wanted.specs();
}

void sort_by_price(Replacement& replacement) {
  const model::Requirements wanted(replacement.requirements);
  const Pool& pool = *replacement.pool;
  std::vector<std::tuple<std::int64_t, std::string_view, std::size_t>> priced;
  for (const std::size_t type : replacement.types)
    priced.emplace_back(best_price(pool, type, wanted), pool.pool.types[type].name, type);
  std::sort(priced.begin(), priced.end());
  replacement.types.clear();
  for (const auto& [price, name, type] : priced) replacement.types.push_back(type);
}

Refusal spot_by_spot(const World& world, std::int64_t price, bool single,
                     Replacement& replacement) {
  if (!world.spot_to_spot)
    return {"spot_to_spot_off",
            "SpotToSpotConsolidation is disabled, can't replace a spot node with a spot node"};
  demand_spot(replacement);
  sort_by_price(replacement);
  if (Refusal refusal = keep_cheaper(price, replacement); !refusal.none()) return refusal;
  if (!single) return {};
  const std::size_t cheaper = replacement.types.size();
  if (cheaper < kSpotTypesMin)
    return {"spot_flexibility",
            "SpotToSpotConsolidation requires " + std::to_string(kSpotTypesMin) +
                " cheaper instance type options than the current candidate to consolidate, got " +
                std::to_string(cheaper)};
  replacement.types.resize(
      std::min(cheaper, std::max(kSpotTypesMin, min_types(replacement).count)));
  return {};
}

// Of each type among the candidates, the least that one of them is bought at.
std::map<std::string_view, std::int64_t> prices_by_type(const World& world,
                                                        const std::vector<Candidate>& candidates) {
  std::map<std::string_view, std::int64_t> prices;
  for (const Candidate& candidate : candidates) {
    const Node& node = world.nodes[candidate.node];
    const scheduling::InstanceType* type = type_of(*candidate.pool, node);
    if (type == nullptr) continue;
    const auto at = prices.try_emplace(type->name, kNoPrice).first;
    for (const scheduling::Offering& offering : type->offerings)
      if (sold_as(offering, node.labels))
        at->second = std::min(at->second, offering.price_nanos_per_hour);
  }
  return prices;
}

}  // namespace

std::int64_t worst_price(const Pool& pool, std::size_t type, const model::Requirements& wanted) {
  const scheduling::TypeList& types = pool.pool.types;
  for (const std::string_view capacity_type : kByWorst) {
    std::int64_t worst = -1;
    for (std::size_t i = 0; i < types[type].offerings.size(); ++i) {
      const scheduling::Offering& offering = types[type].offerings[i];
      if (offering.available &&
          scheduling::value_of(offering, model::kCapacityTypeLabel) == capacity_type &&
          wanted.intersects(types.requirements(type, i)))
        worst = std::max(worst, offering.price_nanos_per_hour);
    }
    if (worst >= 0) return worst;
  }
  return kNoPrice;
}

std::int64_t best_price(const Pool& pool, std::size_t type, const model::Requirements& wanted) {
  const scheduling::TypeList& types = pool.pool.types;
  std::int64_t best = kNoPrice;
  for (std::size_t i = 0; i < types[type].offerings.size(); ++i)
    if (types[type].offerings[i].available && wanted.intersects(types.requirements(type, i)))
      best = std::min(best, types[type].offerings[i].price_nanos_per_hour);
  return best;
}

MinTypes min_types(const Replacement& replacement) {
  const Pool& pool = *replacement.pool;
  MinTypes result;
  for (const model::RequirementSpec& spec : pool.pool.pool.requirements) {
    if (spec.min_values <= 0) continue;
    std::set<std::string> values;
    std::size_t count = 0;
    for (; count < replacement.types.size() && std::cmp_less(values.size(), spec.min_values);
         ++count) {
      const model::ValueSet* set =
          pool.pool.types.requirements(replacement.types[count]).find(spec.key);
      if (set != nullptr && !set->complement) values.insert(set->values.begin(), set->values.end());
    }
    if (std::cmp_less(values.size(), spec.min_values)) return {0, spec.key};
    result.count = std::max(result.count, count);
  }
  return result;
}

Refusal keep_cheaper(std::int64_t limit, Replacement& replacement) {
  const model::Requirements wanted(replacement.requirements);
  std::erase_if(replacement.types, [&](std::size_t type) {
    return worst_price(*replacement.pool, type, wanted) >= limit;
  });
  if (replacement.types.empty()) return {"not_cheaper", "Can't replace with a cheaper node"};
  const MinTypes needed = min_types(replacement);
  if (needed.unmet.empty()) return {};
  return {"min_values", "Filtering by price: minValues requirement is not met for label (label=" +
                            needed.unmet + ")"};
}

Refusal make_cheaper(const World& world, const std::vector<Candidate>& candidates,
                     Replacement& replacement) {
  std::int64_t price = 0;
  bool all_spot = true;
  for (const Candidate& candidate : candidates) {
    price += candidate.price_nanos;
    all_spot &=
        model::label_value(world.nodes[candidate.node].labels, model::kCapacityTypeLabel) == kSpot;
  }
  const model::Requirements wanted(replacement.requirements);
  if (all_spot && allows(wanted, kSpot))
    return spot_by_spot(world, price, candidates.size() == 1, replacement);
  sort_by_price(replacement);
  if (Refusal refusal = keep_cheaper(price, replacement); !refusal.none()) return refusal;
  // The types were chosen by what they cost as spot: rather no machine than a dearer one.
  if (allows(wanted, kSpot) && allows(wanted, kOnDemand)) demand_spot(replacement);
  return {};
}

Refusal drop_same_types(const World& world, const std::vector<Candidate>& candidates,
                        Replacement& replacement) {
  const auto prices = prices_by_type(world, candidates);
  std::int64_t limit = kNoPrice;
  for (const std::size_t type : replacement.types) {
    const auto at = prices.find(replacement.pool->pool.types[type].name);
    if (at != prices.end()) limit = std::min(limit, at->second);
  }
  return keep_cheaper(limit, replacement);
}

}  // namespace karst::disruption
