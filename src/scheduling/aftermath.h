// The problem as it is once an answer has been carried out.
#pragma once

#include "scheduling/problem.h"

namespace karst::scheduling {

// Placed pods are bound, claims are nodes of their cheapest type and offer, limits and reservations
// are used up, and nothing is left to be placed.
Problem after(const Problem& problem, const Answer& answer);

// The labels of a claim's node that comes up as this offer.
model::Labels node_labels(const Pool& pool, const NewClaim& claim, const model::Offer& offer);

}  // namespace karst::scheduling
