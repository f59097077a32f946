// From packed claims to the claims of the answer, and the labels that a claim's node will have.
#pragma once

#include <vector>

#include "model/labels.h"
#include "scheduling/packer.h"
#include "scheduling/prepared.h"
#include "scheduling/problem.h"

namespace karst::scheduling {

// One NewClaim per claim of the packer, in its order. What the limits of a pool still allow goes to
// its claims one after the other, as further instance types, or, where that leaves some with fewer
// than kAlternativesMin, an equal part to each; reservations that nobody needs one after the other.
std::vector<NewClaim> list_claims(Prepared& prepared, Packer& packer);

// Labels of a claim of this answer: the pool's, and for each custom key of its requirements a value
// that they allow (the first in order; for an open set the smallest number that is not excluded).
// Well-known keys are left to the provider.
model::Labels claim_labels(const Pool& pool, const NewClaim& claim);

}  // namespace karst::scheduling
