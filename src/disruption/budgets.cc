#include "disruption/budgets.h"

#include <algorithm>
#include <charconv>

#include "model/cron.h"

namespace karst::disruption {
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
  // The API server refuses one without the other, but it may have stored such a pool before.
  if (budget.schedule.empty() != (budget.duration_millis <= 0)) {
    result.fault = budget.schedule.empty() ? "duration: needs a schedule beside it"
                                           : "schedule: needs a duration beside it";
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

std::map<std::string, std::int64_t> remaining_disruptions(const World& world,
                                                          std::string_view reason) {
  std::map<std::string, std::int64_t> remaining;
  for (const Pool& pool : world.pools) {
    std::int64_t nodes = 0;
    std::int64_t leaving = 0;
    for (const Node& node : world.nodes) {
      if (!node.managed || !node.initialized || node.terminated || pool_of(world, node) != &pool)
        continue;
      ++nodes;
      if (!node.ready || node.leaving) ++leaving;
    }
    const Allowance allowed = allowed_disruptions(pool.pool.pool, reason, nodes, world.now);
    remaining[pool.pool.pool.name.str()] = std::max<std::int64_t>(allowed.nodes - leaving, 0);
  }
  return remaining;
}

}  // namespace karst::disruption
