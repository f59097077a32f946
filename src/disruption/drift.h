// Drift: nodes that are no longer what their pool or class says are replaced, at any price. Pure.
#pragma once

#include "disruption/command.h"
#include "disruption/simulator.h"

namespace karst::disruption {

// So many nodes are tried in one call, those that drifted first before the others.
inline constexpr std::size_t kDriftTriesMax = 1000;

// One node: the first that its pods can leave. Empty nodes come first.
Outcome replace_drifted(Simulator& simulator, std::vector<Candidate> candidates,
                        const Allowed& allowed);

// Static pools: each of the nodes by one like it, as many as budget and node limit allow at once,
// and none while the pool has more nodes than it should.
Outcome replace_drifted_static(const World& world, std::vector<Candidate> candidates,
                               const Allowed& allowed);

}  // namespace karst::disruption
