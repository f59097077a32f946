// What of the pools would have to change so that pods which are left over get a place: limits,
// minValues. Internal to relaxations.
#pragma once

#include "scheduling/prepared.h"
#include "scheduling/problem.h"
#include "scheduling/relaxation_trials.h"

namespace karst::scheduling {

// Adds to what is told of the answer's pods. `there_is`: the problem once the answer is carried
// out.
void relax_pools(const Prepared& prepared, const Problem& there_is, Trials& trials, Answer& answer);

}  // namespace karst::scheduling
