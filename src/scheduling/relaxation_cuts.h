// How much less a pod would have to ask for. Internal to relaxations.
#pragma once

#include <vector>

#include "scheduling/prepared.h"
#include "scheduling/problem.h"
#include "scheduling/relaxation_changes.h"

namespace karst::scheduling {

// One resource alone, where that is enough; else those in which the pod is too large for the
// machine or the node that comes nearest. Nothing that would leave less than a quarter.
void add_cuts(Prepared& prepared, const Problem& there_is, const PodRow& row,
              std::vector<Change>& changes);

}  // namespace karst::scheduling
