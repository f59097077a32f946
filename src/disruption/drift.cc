#include "disruption/drift.h"

#include <algorithm>
#include <limits>
#include <map>

namespace karst::disruption {
namespace {

void sort_by_age(const World& world, std::vector<Candidate>& candidates) {
  std::stable_sort(candidates.begin(), candidates.end(), [&](const auto& a, const auto& b) {
    return world.nodes[a.node].drifted_millis < world.nodes[b.node].drifted_millis;
  });
}

std::int64_t node_limit(const Pool& pool) {
  for (const auto& [name, limit] : pool.pool.pool.limits)
    if (name == "nodes") return limit;
  return std::numeric_limits<std::int64_t>::max();
}

struct Counts {
  std::int64_t running = 0;
  std::int64_t leaving = 0;
  std::int64_t queued = 0;  // a replacement for it is on its way
};

Counts counts_of(const World& world, const Pool& pool) {
  Counts counts;
  for (const Node& node : world.nodes) {
    if (!node.managed || pool_of(world, node) != &pool) continue;
    ++(node.queued ? counts.queued : node.leaving ? counts.leaving : counts.running);
  }
  return counts;
}

// Nothing is demanded but what every machine of the pool carries: the cloud chooses.
Replacement like_it(const Pool& pool) {
  Replacement replacement;
  replacement.pool = &pool;
  replacement.requirements = pool.pool.pool.requirements;
  for (const auto& [key, value] : pool.pool.pool.template_labels)
    replacement.requirements.push_back({key, model::Operator::kIn, {value}, 0});
  replacement.requirements.push_back(
      {std::string(model::kNodePoolLabel), model::Operator::kIn, {pool.pool.pool.name.str()}, 0});
  return replacement;
}

void replace_in_pool(const World& world, const Pool& pool, const std::vector<Candidate>& drifted,
                     std::int64_t allowed, Outcome& outcome) {
  const Counts counts = counts_of(world, pool);
  Refusal why = no_budget(reason_of(Method::kStaticDrift));
  std::int64_t most = std::max<std::int64_t>(allowed, 0);
  if (counts.running + counts.queued > pool.pool.pool.replicas.value_or(0)) {
    why = {"overscaled", "NodePool has more nodes than replicas: waits until they are gone"};
    most = 0;
  }
  const std::int64_t room = node_limit(pool) - counts.running - counts.queued - counts.leaving;
  if (room < most) {
    why = {"node_limit", "Static NodePool is at its node limit and cannot stage a replacement"};
    most = std::max<std::int64_t>(room, 0);
  }
  for (std::size_t i = 0; i < drifted.size(); ++i)
    if (std::cmp_less(i, most))
      outcome.commands.push_back({{drifted[i]}, {like_it(pool)}});
    else
      outcome.refused.push_back({drifted[i].node, why});
}

}  // namespace

Outcome replace_drifted(Simulator& simulator, std::vector<Candidate> candidates,
                        const Allowed& allowed) {
  Outcome outcome;
  sort_by_age(simulator.world(), candidates);
  std::stable_partition(candidates.begin(), candidates.end(),
                        [](const Candidate& one) { return one.pods.empty(); });
  std::size_t tries = 0;
  for (const Candidate& candidate : candidates) {
    if (!outcome.commands.empty()) {
      outcome.refused.push_back(
          {candidate.node, {"one_at_a_time", "Another drifted node goes first"}});
      continue;
    }
    if (!may_go(allowed, candidate)) {
      outcome.refused.push_back({candidate.node, no_budget(reason_of(Method::kDrift))});
      continue;
    }
    if (++tries > kDriftTriesMax) break;
    Simulation simulation = simulator.simulate({candidate}, Purpose::kDrift);
    if (simulation.refusal.none())
      outcome.commands.push_back({{candidate}, std::move(simulation.claims)});
    else
      outcome.refused.push_back({candidate.node, std::move(simulation.refusal)});
  }
  return outcome;
}

Outcome replace_drifted_static(const World& world, std::vector<Candidate> candidates,
                               const Allowed& allowed) {
  Outcome outcome;
  sort_by_age(world, candidates);
  std::map<std::string, std::vector<Candidate>> by_pool;
  for (Candidate& candidate : candidates)
    by_pool[candidate.pool->pool.pool.name.str()].push_back(std::move(candidate));
  for (const auto& [name, drifted] : by_pool) {
    const auto at = allowed.find(name);
    replace_in_pool(world, *drifted.front().pool, drifted, at == allowed.end() ? 0 : at->second,
                    outcome);
  }
  return outcome;
}

}  // namespace karst::disruption
