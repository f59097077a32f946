// The disruption budgets of node pools (disruption/budgets.h) held against the cluster state: how
// many nodes of each pool count, and how many of them are on their way out. Pure.
#pragma once

#include <cstdint>
#include <map>

#include "disruption/budgets.h"
#include "projections/cluster_state.h"

namespace karst::reconcilers {

using disruption::Allowance;
using disruption::allowed_disruptions;
using disruption::kDisruptionReasons;
using disruption::kNoBudget;

// What a pool's budgets are held against. Nodes that are not initialized do not count. A node
// counts until it is gone; Karpenter forgets it as soon as the end of its instance is asked for, so
// that more may leave at once than the budget says.
struct PoolCount {
  std::int64_t nodes = 0;
  std::int64_t leaving = 0;  // of those: not ready, candidates, or being removed for any cause
};
std::map<model::PoolName, PoolCount> count_pools(const projections::ClusterState& state);

}  // namespace karst::reconcilers
