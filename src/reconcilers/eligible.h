// How many nodes could go now, by the reason that voluntary removal would name: what Karpenter
// (1.14) counts as eligible, pools' budgets aside. Nodes that are on their way out are not among
// them; those that are kept for CapacityBuffers are, which only a look of the solver could tell.
// Pure.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "projections/cluster_state.h"
#include "providers/provider.h"

namespace karst::reconcilers {

std::int64_t eligible_for_emptiness(const projections::ClusterState& state,
                                    const providers::Provider& provider, base::LogTime now);

}  // namespace karst::reconcilers
