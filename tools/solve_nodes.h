// The nodes of manifests, and claims whose node is not there yet, as the solver takes them. For
// solve_manifests.cc.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "objects/manifest.h"
#include "scheduling/problem.h"

namespace karst::tools {

// All nodes, those that take no pods too: what is bound there counts for spread and affinity. Free
// is what the node can allocate; what is bound to it is not taken off yet. Adds to `notes`.
std::vector<scheduling::Node> read_nodes(const objects::Manifests& manifests,
                                         const std::vector<scheduling::Pool>& pools,
                                         std::vector<std::string>& notes);

// Whether an eviction of the pod is never allowed as its budgets are written: by one that allows
// none whatever is there, or because there are several.
bool is_held_by_budgets(const objects::Manifests& manifests, const objects::ReducedPod& reduced);

}  // namespace karst::tools
