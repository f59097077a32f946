// What would help pods that keep each other away: fewer of them, or a softer term. Such a change is
// one of all pods of the row, and so it is tried with all of them. Internal to relaxations.
#pragma once

#include "scheduling/prepared.h"
#include "scheduling/problem.h"
#include "scheduling/relaxation_trials.h"

namespace karst::scheduling {

// Adds to what is told of the answer's pods.
void relax_groups(const Prepared& prepared, Trials& trials, Answer& answer);

}  // namespace karst::scheduling
