// The problem as it is once an answer has been carried out.
#pragma once

#include "scheduling/problem.h"

namespace karst::scheduling {

// Placed pods are bound, claims are nodes of their cheapest type and offer, limits and reservations
// are used up, and nothing is left to be placed.
Problem after(const Problem& problem, const Answer& answer);

// Pods of the group as bound on a node (an index into Problem::nodes).
BoundPods bound_of(const PodGroup& pods, std::size_t node, std::int64_t count);

// So many more nodes of this capacity are used up of the pool's limits; negative: fewer.
void use_up(Pool& pool, const model::Resources& capacity, std::int64_t nodes);

// The labels of a claim's node that comes up as this offer.
model::Labels node_labels(const Pool& pool, const NewClaim& claim, const model::Offer& offer);

}  // namespace karst::scheduling
