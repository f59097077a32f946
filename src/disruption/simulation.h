// Where would the pods go if these nodes were not there? The scheduler's answer for the cluster
// without them, of a problem made for this one question: simulator.h asks many of one cluster.
// Pure; bounded by the size of the cluster.
#pragma once

#include <string>
#include <vector>

#include "disruption/candidates.h"
#include "disruption/replacement.h"
#include "disruption/world.h"

namespace karst::disruption {

// Of the texts about pods that have no place, so many are told.
inline constexpr std::size_t kErrorsToldMax = 5;

struct Simulation {
  Refusal refusal;  // code "not_all_placed" or "no_pools"; none: every pod that moves has a place
  std::vector<Replacement> claims;  // new nodes, for pods that are pending anyway too
};

inline Refusal no_pools() {
  return {"no_pools", "No NodePools found"};
}

// Whether the move is one for the sake of packing: such moves spare nodes inside their
// consolidateAfter window.
enum class Purpose { kConsolidation, kDrift };

// Moves what is pending, what the candidates' pods ask for, and those of nodes on their way out.
Simulation simulate(const World& world, const std::vector<Candidate>& candidates, Purpose purpose);

}  // namespace karst::disruption
