// What moving pods costs, what a node costs, and which of two nodes is the better one to give up.
// Costs are exact integers: one is kCostUnit, because Karpenter counts in steps of 2^-27. Prices
// are nano-dollars an hour.
#pragma once

#include <cstdint>

#include "disruption/world.h"

namespace karst::disruption {

// So that sums of prices times sums of costs stay exact.
__extension__ typedef __int128 Wide;

using Cost = std::int64_t;
inline constexpr Cost kCostUnit = Cost{1} << 27;

// 1 + deletion cost / 2^27 + priority / 2^25, from -10 to 10.
Cost eviction_cost(const model::PodShape& shape);
// 1 + what its reschedulable pods cost; a pod that costs less than nothing costs nothing.
Cost reschedule_cost(const World& world, const Node& node);
// Only pods that cost nothing are there, if any.
inline bool is_free(Cost cost) {
  return cost <= kCostUnit;
}

// The price of the offering with the node's type, zone and capacity type, the cheapest if there are
// several; 0 when it is not known.
std::int64_t price_of(const World& world, const Node& node);
const scheduling::InstanceType* type_of(const Pool& pool, const Node& node);
// The offering is one that the labelled node may have been bought as.
bool sold_as(const scheduling::Offering& offering, const model::Labels& labels);

// Whether a saves more per cost than b: price / cost, compared exactly.
bool better_ratio(std::int64_t price_a, Cost cost_a, std::int64_t price_b, Cost cost_b);

}  // namespace karst::disruption
