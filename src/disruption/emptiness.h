// Emptiness: nodes that no pod needs go together, as far as their pools' budgets allow, without a
// look where anything would go.
#pragma once

#include "disruption/command.h"

namespace karst::disruption {

Outcome remove_empty(std::vector<Candidate> candidates, Allowed allowed);

}  // namespace karst::disruption
