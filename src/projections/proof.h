// What an answer does not prove: that a command which was sent before had no effect, or that a
// machine is gone.
#pragma once

#include "projections/cluster_state.h"

namespace karst::projections {

// A refusal that says nothing of what earlier sends of the same launch or create came to.
bool proves_nothing(const CommandRow& row, const model::Outcome& outcome);

// Of a look at a machine, or of its termination, whose answer has no living machine. Not of a young
// one, when the cloud has said no more than that it does not know the id: it is asked again.
bool proves_absence(const ClusterState& state, const model::Outcome& outcome,
                    const model::ProviderId& id, base::LogTime now);

}  // namespace karst::projections
