#include "disruption/balanced.h"

#include <map>

namespace karst::disruption {
namespace {

struct Totals {
  std::int64_t price_nanos = 0;
  Cost cost = 0;
};

bool is_balanced(const Pool& pool) {
  return pool.pool.pool.consolidation_policy == model::ConsolidationPolicy::kBalanced;
}

Totals totals_of(const World& world, const Pool& pool) {
  Totals totals;
  for (const Node& node : world.nodes) {
    if (!node.managed || pool_of(world, node) != &pool) continue;
    totals.price_nanos += price_of(world, node);
    totals.cost += reschedule_cost(world, node);
  }
  return totals;
}

// saved / pool price >= (moved / pool cost) / k
bool worth_it(std::int64_t saved, Cost moved, const Totals& totals) {
  return saved > 0 && totals.price_nanos > 0 &&
         static_cast<Wide>(saved) * totals.cost * kBalancedK >=
             static_cast<Wide>(totals.price_nanos) * moved;
}

}  // namespace

Refusal approve(const World& world, const std::vector<Candidate>& candidates,
                std::int64_t saved_nanos) {
  Totals all;
  std::map<std::string, std::pair<const Pool*, Totals>> by_pool;
  for (const Candidate& candidate : candidates) {
    auto& [pool, totals] = by_pool[candidate.pool->pool.pool.name.str()];
    pool = candidate.pool;
    totals.price_nanos += candidate.price_nanos;
    totals.cost += candidate.cost;
    all.price_nanos += candidate.price_nanos;
  }
  for (const auto& [name, share] : by_pool) {
    const auto& [pool, part] = share;
    if (!is_balanced(*pool)) continue;
    std::int64_t saved = saved_nanos;
    if (by_pool.size() > 1 && all.price_nanos > 0)
      saved = static_cast<std::int64_t>(static_cast<Wide>(saved_nanos) * part.price_nanos /
                                        all.price_nanos);
    if (!worth_it(saved, part.cost, totals_of(world, *pool)))
      return {"not_worth_it",
              "NodePool \"" + name + "\" is Balanced: too little would be saved for what is moved"};
  }
  return {};
}

bool could_be_approved(const World& world, const Candidate& candidate) {
  if (!is_balanced(*candidate.pool)) return true;
  const Totals totals = totals_of(world, *candidate.pool);
  return totals.price_nanos == 0 || totals.cost == 0 ||
         worth_it(candidate.price_nanos, candidate.cost, totals);
}

}  // namespace karst::disruption
