// What a replacement may be: the types that a simulated claim still has when they must cost less
// than what they replace. The rules are Karpenter's (v1.14, its consolidation). Pure.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "disruption/candidates.h"
#include "disruption/world.h"
#include "model/requirements.h"

namespace karst::disruption {

inline constexpr std::int64_t kNoPrice = std::numeric_limits<std::int64_t>::max();
// A spot node goes for another one only if so many cheaper types are to choose from, and no more
// than these are asked for, or the next one would be for the taking soon.
inline constexpr std::size_t kSpotTypesMin = 15;

struct Replacement {
  const Pool* pool = nullptr;  // of the World
  std::vector<model::RequirementSpec> requirements;
  std::vector<std::size_t> types;  // indices into the pool's types, cheapest first
};

// What the type would cost at worst: the dearest available offering within the requirements, of the
// first of reserved, spot and on-demand that it has there. kNoPrice: it has none.
std::int64_t worst_price(const Pool& pool, std::size_t type, const model::Requirements& wanted);
// What it costs at best; kNoPrice: it has no offering there.
std::int64_t best_price(const Pool& pool, std::size_t type, const model::Requirements& wanted);

// How many of the types, in their order, it takes to satisfy the pool's minValues; 0: nothing is
// demanded. None: all of them do not satisfy `unmet`.
struct MinTypes {
  std::size_t count = 0;
  std::string unmet;  // the label
};
MinTypes min_types(const Replacement& replacement);

// Leaves the types whose worst price is below `limit`. The refusal says why nothing is left to do.
Refusal keep_cheaper(std::int64_t limit, Replacement& replacement);

// Replacing all of the candidates by one machine that costs less than they do: cuts the types to
// those, and decides between spot and on-demand.
Refusal make_cheaper(const World& world, const std::vector<Candidate>& candidates,
                     Replacement& replacement);

// Several nodes are not replaced by one of a type that is among them, at a price that giving up the
// others alone would have saved.
Refusal drop_same_types(const World& world, const std::vector<Candidate>& candidates,
                        Replacement& replacement);

}  // namespace karst::disruption
