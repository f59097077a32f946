// The pools of manifests with the instance types that they may use. For solve_manifests.cc.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "objects/manifest.h"
#include "scheduling/problem.h"

namespace karst::tools {

// Static pools and pools being deleted are there without types. Adds to `notes`. Errors: kInvalid
// about a node class.
base::Result<std::vector<scheduling::Pool>> read_pools(const objects::Manifests& manifests,
                                                       bool with_volumes,
                                                       std::vector<std::string>& notes);

}  // namespace karst::tools
