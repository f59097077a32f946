#include "scheduling/spare_limits.h"

namespace karst::scheduling {

SpareLimits::SpareLimits(const PoolTables& pools, const Packer& packer)
    : pools_(pools), left_(packer.limits_left()) {
  for (std::size_t pool = 0; pool < pools.pools().size(); ++pool)
    nodes_left_.push_back(packer.nodes_left(pool));
}

void SpareLimits::add(Change& change, const std::vector<std::int64_t>& held, std::int64_t times) {
  change.nodes += times;
  change.amounts.resize(held.size(), 0);
  for (std::size_t i = 0; i < held.size(); ++i) change.amounts[i] += times * held[i];
}

bool SpareLimits::allow(const Change& change) const {
  for (std::size_t i = 0; i < change.amounts.size(); ++i)
    if (change.amounts[i] > 0 && change.amounts[i] > left_[change.pool][i]) return false;
  return change.nodes <= 0 || !pools_.pools()[change.pool].limits_nodes ||
         change.nodes <= nodes_left_[change.pool];
}

void SpareLimits::take(const Change& change) {
  for (std::size_t i = 0; i < change.amounts.size(); ++i)
    left_[change.pool][i] -= change.amounts[i];
  nodes_left_[change.pool] -= change.nodes;
}

}  // namespace karst::scheduling
