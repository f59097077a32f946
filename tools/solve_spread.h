// Default topology spreads of the dry run (objects/scheduler_config.h): for pods that name none, if
// a Service of the files selects them or their owner is a ReplicaSet, StatefulSet or
// ReplicationController of the files; a Deployment stands for its ReplicaSets. Plain values, no
// thread.
#pragma once

#include <vector>

#include "objects/manifest.h"

namespace karst::tools {

// `owner`: the workload that makes the pods, which may be what `pods` stands for; nullptr: none.
// Whether the pods have a spread now.
bool add_default_spread(const std::vector<model::SpreadConstraint>& spreads,
                        const std::vector<objects::ManifestService>& services,
                        const objects::ManifestPods* owner, objects::ManifestPods& pods);

}  // namespace karst::tools
