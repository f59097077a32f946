#include "disruption/costs.h"

#include <algorithm>

#include "disruption/pods.h"

namespace karst::disruption {

Cost eviction_cost(const model::PodShape& shape) {
  const Cost cost = kCostUnit + shape.deletion_cost + Cost{4} * shape.priority;
  return std::clamp(cost, -10 * kCostUnit, 10 * kCostUnit);
}

Cost reschedule_cost(const World& world, const Node& node) {
  Cost cost = kCostUnit;
  for (const std::size_t at : node.pods)
    if (is_reschedulable(world, world.pods[at]))
      cost += std::max<Cost>(eviction_cost(world.shape_of(world.pods[at])), 0);
  return cost;
}

const scheduling::InstanceType* type_of(const Pool& pool, const Node& node) {
  const std::string_view name = model::label_value(node.labels, model::kInstanceTypeLabel);
  for (const scheduling::InstanceType& type : pool.pool.types)
    if (type.name == name) return &type;
  return nullptr;
}

bool sold_as(const scheduling::Offering& offering, const model::Labels& labels) {
  return std::all_of(offering.requirements.begin(), offering.requirements.end(),
                     [&](const model::RequirementSpec& spec) {
                       const auto label = model::find_label(labels, spec.key);
                       return label == labels.end() ||
                              model::to_value_set(spec).contains(label->second);
                     });
}

std::int64_t price_of(const World& world, const Node& node) {
  const Pool* pool = pool_of(world, node);
  const scheduling::InstanceType* type = pool == nullptr ? nullptr : type_of(*pool, node);
  if (type == nullptr || !model::has_label(node.labels, model::kZoneLabel) ||
      !model::has_label(node.labels, model::kCapacityTypeLabel))
    return 0;
  const scheduling::Offering* cheapest = nullptr;
  for (const scheduling::Offering& offering : type->offerings)
    if (sold_as(offering, node.labels) &&
        (cheapest == nullptr || offering.price_nanos_per_hour < cheapest->price_nanos_per_hour))
      cheapest = &offering;
  return cheapest == nullptr ? 0 : cheapest->price_nanos_per_hour;
}

bool better_ratio(std::int64_t price_a, Cost cost_a, std::int64_t price_b, Cost cost_b) {
  return static_cast<Wide>(price_a) * cost_b > static_cast<Wide>(price_b) * cost_a;
}

}  // namespace karst::disruption
