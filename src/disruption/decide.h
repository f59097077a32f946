// The methods of disruption one after the other, until one has something to do. Pure: the same
// world has the same answer.
#pragma once

#include <vector>

#include "disruption/budgets.h"
#include "disruption/command.h"

namespace karst::disruption {

struct Step {
  Method method = Method::kEmptiness;
  std::vector<Candidate> candidates;  // that this method would take
  Allowed allowed;                    // by pool; empty when there was no candidate
  Outcome outcome;
};

// One method with candidates that are known already.
Step run_method(const World& world, Method method, std::vector<Candidate> candidates,
                Allowed allowed);

// The steps up to the first with a command; without one, all of them: nothing is to be done.
std::vector<Step> decide(const World& world, const std::vector<Method>& methods);

}  // namespace karst::disruption
