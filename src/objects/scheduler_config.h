// Karpenter's --scheduler-config: topology spreads that count for pods which name none themselves,
// as kube-scheduler's plug-in PodTopologySpread has them. The text is YAML:
//
//   podTopologySpread:
//     defaultConstraints:
//     - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}
//
// Which pods are counted is told from who made the pod, as kube-scheduler does it: all Services
// that select it and the ReplicationController, ReplicaSet or StatefulSet that owns it, together.
// A pod of none of these is not spread. Source: the Kubernetes page "Pod Topology Spread
// Constraints", cluster-level default constraints; Karpenter 1.14. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/pod.h"

namespace karst::objects {

inline constexpr std::size_t kSchedulerConfigBytesMax = 1u << 20;
inline constexpr std::size_t kDefaultSpreadsMax = 100;

// The default spreads, each without a selector. `file`: as messages name the text. Errors:
// kInvalid, "FILE:LINE: FIELD: what", a line each.
base::Result<std::vector<model::SpreadConstraint>> read_scheduler_config(const std::string& file,
                                                                         std::string_view text);

// Gives a pod of a cluster the default spreads if it has none itself and its owner can be told from
// its labels: all pods of a ReplicaSet of a Deployment have one pod-template-hash, and all pods of
// one revision of a StatefulSet one controller-revision-hash. Whether it did.
bool add_default_spread(const std::vector<model::SpreadConstraint>& spreads,
                        const model::Labels& labels, model::PodShape& shape);

}  // namespace karst::objects
