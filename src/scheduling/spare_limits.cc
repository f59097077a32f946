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
      if (taken.amounts[i] > left_[pool][i]) return false;
    return taken.nodes <= 0 || !pools_.pools()[pool].limits_nodes ||
           taken.nodes <= nodes_left_[pool];
  });
}

bool SpareLimits::allow_one_more(const Change& change, std::size_t pool,
                                 const std::vector<std::int64_t>& held) const {
  const auto found = change.find(pool);
  const Taken none;
  const Taken& taken = found == change.end() ? none : found->second;
  if (pools_.pools()[pool].limits_nodes && taken.nodes + 1 > nodes_left_[pool]) return false;
  for (std::size_t i = 0; i < held.size(); ++i)
    if (held[i] + (i < taken.amounts.size() ? taken.amounts[i] : 0) > left_[pool][i]) return false;
  return true;
}

void SpareLimits::take(const Change& change) {
  for (const auto& [pool, taken] : change) {
    for (std::size_t i = 0; i < taken.amounts.size(); ++i) left_[pool][i] -= taken.amounts[i];
    nodes_left_[pool] -= taken.nodes;
  }
}

std::vector<bool> pools_wanted(Prepared& prepared, const Packer& packer) {
  std::vector<bool> wanted(prepared.pools.pools().size(), false);
  const auto takes = [&](const PoolTable& table, const PodRow& row) {
    const Stage& stage = row.stages.back();
    return tolerates(row, stage, table.spec().taints) &&
           std::any_of(stage.ways.begin(), stage.ways.end(), [&](const Way& way) {
             return prepared.requirements.combine(table.base, way.wanted) != kImpossible;
           });
  };
  for (std::size_t pool = 0; pool < wanted.size(); ++pool) {
    const PoolTable& table = prepared.pools.pools()[pool];
    if (!table.has_limits()) continue;
    for (std::size_t row = 0; row < packer.left().size() && !wanted[pool]; ++row)
      wanted[pool] = packer.left()[row] > 0 && takes(table, prepared.rows[row]);
  }
  return wanted;
}

}  // namespace karst::scheduling
