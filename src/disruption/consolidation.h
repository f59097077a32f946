// Consolidation: fewer or cheaper machines for the same pods. Nodes are given up if their pods fit
// elsewhere, or if one machine that costs less takes their place. Pure; every search is bounded by
// a count of simulations (Karpenter's are bounded by wall time).
#pragma once

#include "disruption/command.h"
#include "disruption/simulator.h"

namespace karst::disruption {

inline constexpr std::size_t kMultiNodesMax = 101;  // given up in one command
inline constexpr std::size_t kSingleTriesMax = 1000;

// Giving up all of the candidates at once: what takes their place, at most one machine.
struct Move {
  Refusal refusal;
  std::vector<Replacement> replacements;
};
Move consider(Simulator& simulator, const std::vector<Candidate>& candidates);

// The longest row of candidates, best first, that can go together; at least two, found by halving.
Outcome consolidate_many(Simulator& simulator, std::vector<Candidate> candidates, Allowed allowed);

// The first that can go alone, the pools taking turns.
Outcome consolidate_one(Simulator& simulator, std::vector<Candidate> candidates,
                        const Allowed& allowed);

}  // namespace karst::disruption
