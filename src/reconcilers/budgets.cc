#include "reconcilers/budgets.h"

#include <algorithm>
#include <charconv>

#include "model/cron.h"

namespace karst::reconcilers {
namespace {

using base::LogTime;

// nullopt if it is neither a number nor a percentage.
std::optional<std::int64_t> amount_of(std::string_view text, std::int64_t nodes) {
  const bool percent = text.ends_with('%');
  if (percent) text.remove_suffix(1);
  std::int32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return percent ? (nodes * number + 99) / 100 : number;
}

// Of one budget: what it allows while its window is open.
Allowance allowance_of(const model::Budget& budget, std::int64_t nodes, LogTime now) {
  Allowance result;
  const auto amount = amount_of(budget.nodes, nodes);
  if (!amount) {
    result.fault = "nodes: expected a number or a percentage, found \"" + budget.nodes + "\"";
    return result;
  }
  if (!budget.schedule.empty()) {
    const auto schedule = model::parse_schedule(budget.schedule);
    if (!schedule) {
      result.fault = "schedule: " + schedule.error().message;
      return result;
    }
    const std::int64_t duration = std::min(budget.duration_millis, now.value());
    const auto fired = model::next_after(*schedule, LogTime(now.value() - duration));
    if (fired && *fired > now) return result;  // the window is closed
    if (fired) result.ends = *fired + duration;
  }
  result.nodes = *amount;
  return result;
}

}  // namespace

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

Allowance allowed_disruptions(const model::NodePool& pool, std::string_view reason,
                              std::int64_t nodes, LogTime now) {
  Allowance least;
  for (std::size_t i = 0; i < pool.budgets.size(); ++i) {
    const model::Budget& budget = pool.budgets[i];
    Allowance one = allowance_of(budget, nodes, now);
    if (!one.fault.empty()) {
      one.fault = "spec.disruption.budgets[" + std::to_string(i) + "]." + one.fault;
      one.nodes = 0;
      return one;
    }
    const auto& reasons = budget.reasons;
    if (!reasons.empty() && std::find(reasons.begin(), reasons.end(), reason) == reasons.end())
      continue;
    least.nodes = std::min(least.nodes, one.nodes);
    if (one.ends && (!least.ends || *one.ends < *least.ends)) least.ends = one.ends;
  }
  return least;
}

}  // namespace karst::reconcilers
