// Whether a node pool or an overlay may be used, with the reasons and words of Karpenter's
// conditions (v1.14). Pure questions about the state.
#pragma once

#include <string>

#include "reconcilers/queries.h"

namespace karst::reconcilers {

// What is wrong with a pool that its schema lets through: restricted labels and keys (misspelt ones
// of the cloud among them), operators and values, taints that come twice, capacity types that
// nobody knows. Empty: nothing.
std::string invalid_pool(const ClusterState& state, const model::NodePool& pool);

// The same of an overlay, which may choose by pool. One that is invalid is not applied.
std::string invalid_overlay(const ClusterState& state, const model::NodeOverlay& overlay);

// The condition NodeClassReady, without a time: True, or False with the reason.
model::Condition node_class_ready(const ClusterState& state, const model::NodePool& pool);

// Why no claims may be made of the pool, as a condition's reason; empty: they may.
std::string pool_fault(const ClusterState& state, const model::NodePool& pool);

}  // namespace karst::reconcilers
