#include "reconcilers/budgets.h"

namespace karst::reconcilers {

std::map<model::PoolName, PoolCount> count_pools(const projections::ClusterState& state) {
  std::map<model::PoolName, PoolCount> counts;
  for (const auto& [name, slot] : state.claims().slots()) {
    const projections::ClaimRow& row = slot.row;
    if (row.initialized_at.value() == 0) continue;
    PoolCount& count = counts[row.claim.pool];
    ++count.nodes;
    const projections::NodeRow* node = state.node_of(row);
    if (row.leaving() || row.candidate || row.node_leaving || node == nullptr || !node->node.ready)
      ++count.leaving;
  }
  return counts;
}

}  // namespace karst::reconcilers
