// Preferences as demands that are given up one at a time, in Karpenter's order (v1.14): preferred
// pod affinity, preferred pod anti-affinity, preferred node affinity, each the heaviest first; then
// ScheduleAnyway spreads; last, PreferNoSchedule taints count no more.
#pragma once

#include <vector>

#include "scheduling/pod_rows.h"

namespace karst::scheduling {

// The stages of a pod, the first with all its preferences, the last with none. `soft_taints`: some
// pool or node has a PreferNoSchedule taint. Registers the pod's groups. The alternatives of the
// required node affinity are no stages: any of them will do at each.
std::vector<Stage> stages_of(const PodGroup& pod, const Options& options, bool soft_taints,
                             RequirementTable& requirements, Topology& topology);

}  // namespace karst::scheduling
