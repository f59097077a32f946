// The status conditions of a NodeClaim as the state has them: reasons and messages of Karpenter
// 1.14. Pure.
#pragma once

#include "reconcilers/conditions.h"
#include "reconcilers/queries.h"

namespace karst::reconcilers {

// A claim's spec never changes: its generation moves only when its deletion begins.
inline constexpr std::int64_t kClaimGeneration = 1;

// Why the node is not initialized; both empty when it is.
struct NotInitialized {
  std::string reason;
  std::string message;
};
NotInitialized not_initialized(const ClaimRow& row, const model::Node& node);

// On the way up: Launched, Registered, Initialized, Ready, ConsistentStateFound. On the way down:
// Drained, VolumesDetached, InstanceTerminating as well.
Conditions claim_conditions(const ClusterState& state, const Context& context, const ClaimRow& row);

// What the API server should show of the claim. Not news: it does, or there is nothing to tell yet.
struct ClaimMirror {
  model::MirrorClaim command;
  bool is_news = false;
};
ClaimMirror mirror_of(const ClusterState& state, const Context& context, const ClaimRow& row);

// The last pod that must leave has left, and no read after the taint's echo says otherwise.
bool is_drained(const ClusterState& state, const ClaimRow& row, const NodeRow& node, LogTime now);

}  // namespace karst::reconcilers
