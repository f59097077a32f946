// What an answer does not prove: that a command which was sent before had no effect.
#pragma once

#include "projections/cluster_state.h"

namespace karst::projections {

// A refusal that says nothing of what earlier sends of the same launch or create came to.
bool proves_nothing(const CommandRow& row, const model::Outcome& outcome);

}  // namespace karst::projections
