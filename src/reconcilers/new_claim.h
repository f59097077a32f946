// The NodeClaim of a new node, as far as its pool and class say: what Karpenter 1.14 would write,
// with our command id. Labels, requirements and requests are for the caller to add.
#pragma once

#include "model/cluster.h"
#include "model/ids.h"
#include "reconcilers/queries.h"

namespace karst::reconcilers {

// `id`: of the command that will ask for it; it names the claim.
model::NodeClaim claim_of_pool(const ClusterState& state, const Context& context,
                               const model::NodePool& pool, const model::CommandId& id);

}  // namespace karst::reconcilers
