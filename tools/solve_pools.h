// The pools of manifests with the instance types that they may use. For solve_manifests.cc.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "objects/manifest.h"
#include "scheduling/problem.h"

namespace karst::tools {

// Static pools and pools being deleted are there without types. `zones` are where EC2's machines
// may be; empty: in the region that the files name, else in us-east-1. Adds to `notes`. Errors:
// kInvalid about zones or a node class.
base::Result<std::vector<scheduling::Pool>> read_pools(const objects::Manifests& manifests,
                                                       const std::vector<std::string>& zones,
                                                       bool with_volumes,
                                                       std::vector<std::string>& notes);

}  // namespace karst::tools
