#include "scheduling/spare_limits.h"

#include <algorithm>

namespace karst::scheduling {
namespace {

// Some machine is out of reach because of a limit.
bool limits_bind(const PoolTable& table, std::size_t pool, const Packer& packer) {
  if (table.limits_nodes && packer.nodes_left(pool) <= 0) return true;
  const std::vector<std::int64_t>& left = packer.limits_left()[pool];
  return !std::all_of(table.types.begin(), table.types.end(),
                      [&](const TypeRow& type) { return covers(left, type.limited); });
}

// The pool has a machine for the pod, if limits and other pods are left out of account.
bool could_take(Prepared& prepared, std::size_t pool, const PodRow& row) {
  const PoolTable& table = prepared.pools.pools()[pool];
  const Stage& stage = row.stages.back();
  if (!tolerates(row, stage, table.spec().taints)) return false;
  return std::any_of(stage.ways.begin(), stage.ways.end(), [&](const Way& way) {
    const RequirementId with_pod = prepared.requirements.combine(table.base, way.wanted);
    if (with_pod == kImpossible) return false;
    const View& view = prepared.pools.view(pool, with_pod);
    return std::any_of(view.machines.begin(), view.machines.end(),
                       [&](const Machine& machine) { return fits(row.request, machine.room); });
  });
}

}  // namespace

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
  for (std::size_t pool = 0; pool < wanted.size(); ++pool) {
    const PoolTable& table = prepared.pools.pools()[pool];
    if (!table.has_limits() || !limits_bind(table, pool, packer)) continue;
    for (std::size_t row = 0; row < packer.left().size() && !wanted[pool]; ++row)
      wanted[pool] = packer.left()[row] > 0 && could_take(prepared, pool, prepared.rows[row]);
  }
  return wanted;
}

}  // namespace karst::scheduling
