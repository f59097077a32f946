// The consolidation policy Balanced: a move is worth it if the part of the pool's price that it
// saves is at least half the part of the pool's pods, by cost, that it moves (Karpenter 1.14). Pure
// and exact.
#pragma once

#include <vector>

#include "disruption/candidates.h"
#include "disruption/world.h"

namespace karst::disruption {

// Savings may be so many times as small as the disruption.
inline constexpr int kBalancedK = 2;

// Whether every pool of the candidates with that policy approves. What is saved counts for each
// pool by its share of the candidates' price. A pool of which no node has a price never approves.
Refusal approve(const World& world, const std::vector<Candidate>& candidates,
                std::int64_t saved_nanos);

// Whether the candidate would be approved if it went without replacement; true where nothing is
// known of its pool.
bool could_be_approved(const World& world, const Candidate& candidate);

}  // namespace karst::disruption
