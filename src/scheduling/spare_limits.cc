#include "scheduling/spare_limits.h"

#include <algorithm>

namespace karst::scheduling {

SpareLimits::SpareLimits(const PoolTables& pools, const Packer& packer)
    : pools_(pools), left_(packer.limits_left()) {
  for (std::size_t pool = 0; pool < pools.pools().size(); ++pool)
    nodes_left_.push_back(packer.nodes_left(pool));
}

void SpareLimits::add(Change& change, std::size_t pool, const std::vector<std::int64_t>& held,
                      std::int64_t times) {
  Taken& taken = change[pool];
  taken.nodes += times;
  taken.amounts.resize(held.size(), 0);
  for (std::size_t i = 0; i < held.size(); ++i) taken.amounts[i] += times * held[i];
}

bool SpareLimits::allow(const Change& change) const {
  return std::all_of(change.begin(), change.end(), [&](const auto& of_pool) {
    const auto& [pool, taken] = of_pool;
    for (std::size_t i = 0; i < taken.amounts.size(); ++i)
      if (taken.amounts[i] > 0 && taken.amounts[i] > left_[pool][i]) return false;
    return taken.nodes <= 0 || !pools_.pools()[pool].limits_nodes ||
           taken.nodes <= nodes_left_[pool];
  });
}

void SpareLimits::take(const Change& change) {
  for (const auto& [pool, taken] : change) {
    for (std::size_t i = 0; i < taken.amounts.size(); ++i) left_[pool][i] -= taken.amounts[i];
    nodes_left_[pool] -= taken.nodes;
  }
}

}  // namespace karst::scheduling
