// CapacityBuffers of manifests as the pods that they stand for, by Karpenter's rules. For
// solve_manifests.cc.
#pragma once

#include <string>
#include <vector>

#include "objects/manifest.h"

namespace karst::tools {

// Pods of the lowest priority without volumes, called like their buffer. To be asked for before the
// pods that are in the files are taken off their workloads. Adds to `notes`.
std::vector<objects::ManifestPods> buffer_pods(const objects::Manifests& manifests,
                                               std::vector<std::string>& notes);

}  // namespace karst::tools
