// From packed rows to the claims of the answer, and the labels that a claim's node will have.
#pragma once

#include <vector>

#include "model/labels.h"
#include "scheduling/claim_packer.h"
#include "scheduling/columns.h"
#include "scheduling/problem.h"

namespace karst::scheduling {

// One NewClaim per copy of every row, in the order of the rows. What the limits of a pool still
// allow is shared out evenly, as further instance types of its claims, and taken from the pools'
// tables.
std::vector<NewClaim> list_claims(const Problem& problem, const Columns& columns,
                                  const RequirementTable& requirements,
                                  std::vector<PoolTable>& pools,
                                  const std::vector<GroupRow>& groups,
                                  const std::vector<ClaimRow>& rows);

// Labels of a claim of this answer: the pool's, and for each custom key of its requirements a value
// that they allow (the first in order; for an open set the smallest number that is not excluded).
// Well-known keys are left to the provider.
model::Labels claim_labels(const Pool& pool, const NewClaim& claim);

}  // namespace karst::scheduling
