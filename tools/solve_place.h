// Where EC2's machines may be, as far as manifests tell. For solve_pools.cc.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "objects/manifest.h"
#include "providers/aws/catalogue.h"

namespace karst::tools {

// The place of `zones`. Without any: of the region that pools, nodes, volumes and pods of the files
// name; us-east-1 when they name none. Adds to `notes`. Errors: kInvalid for zones that are not
// known or of several regions.
base::Result<providers::aws::Place> place_of(const objects::Manifests& manifests,
                                             const std::vector<std::string>& zones,
                                             std::vector<std::string>& notes);

}  // namespace karst::tools
