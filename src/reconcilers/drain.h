// Which pods a leaving node waits for, in which order they go, and what holds them. Pure questions
// about the state; the rules are Karpenter's (v1.14, its termination controller).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reconcilers/queries.h"

namespace karst::reconcilers {

using projections::PodRow;

// A pod whose deletion is so long overdue has a kubelet that is gone: nobody waits for it.
inline constexpr std::int64_t kStuckMillis = 60'000;

// Tiers in the order in which they leave: others, daemons, critical ones, critical daemons.
inline constexpr int kTiers = 4;
int tier_of(const PodRow& pod);

// Neither ended, nor a mirror pod, nor one that tolerates karpenter.sh/disrupted, nor stuck.
bool must_leave(const PodRow& pod, LogTime now);
// When the pod will count as stuck; 0: it is not being deleted.
LogTime stuck_at(const PodRow& pod);
// karpenter.sh/do-not-disrupt holds it at this moment.
bool held_by_annotation(const PodRow& pod, LogTime now);
// Has the plan looked at again when the annotation's time is over, if it has one.
void wake_when_free(const PodRow& pod, Plan& plan);

// Of the pods on a node those that must leave, by uid.
std::vector<const PodRow*> leaving_pods(const ClusterState& state, const model::NodeName& node,
                                        LogTime now);

// Whether the latest read-back of the node found pods that must leave, or that somebody took the
// taint off: new pods may have come since.
bool read_back_waits(const ClusterState& state, const NodeRow& node, LogTime now);

// The attachments that the node still has: not those of inline volumes, nor of volumes of pods that
// stay until the end. By name.
std::vector<std::string> attached_volumes(const ClusterState& state, const NodeRow& node,
                                          LogTime now);

}  // namespace karst::reconcilers
