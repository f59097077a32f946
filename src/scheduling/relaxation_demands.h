// What a pool demands of its machines and would have to give up so that a pod which nothing else
// helps gets a place. Internal to relaxations.
#pragma once

#include <cstddef>

#include "scheduling/problem.h"
#include "scheduling/relaxation_trials.h"

namespace karst::scheduling {

inline constexpr std::size_t kDemandTrialsMax = 48;               // per answer, of one pod each
inline constexpr std::size_t kDemandTrialOfferingsMax = 300'000;  // of all of them together
inline constexpr std::size_t kDemandsToldMax = 3;                 // of one pool

// Adds to what is told of the answer's pods, where nothing is told yet: of the first pool that can
// help the fewest demands found by putting back one after the other. `there_is`: the problem once
// the answer is carried out. Nothing in problems too large for trials.
void relax_demands(const Problem& problem, const Problem& there_is, Trials& trials, Answer& answer);

}  // namespace karst::scheduling
