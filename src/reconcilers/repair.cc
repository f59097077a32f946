// Node repair (feature gate NodeRepair): a node that has been unhealthy for longer than its
// provider tolerates is given up, and its pods are made to leave at once. Karpenter's rules
// (v1.14): never while more than a fifth of the pool's nodes are unhealthy, because then it is
// hardly the nodes; budgets, disruption budgets of pods and do-not-disrupt do not hold it.
#include <algorithm>
#include <map>

#include "reconcilers/list.h"
#include "reconcilers/queries.h"

namespace karst::reconcilers {
namespace {

constexpr std::int64_t kUnhealthyPercentMax = 20;
constexpr std::int64_t kBlockedMillis = 5 * base::kMillisPerMinute;  // until it is looked at again

using Policies = std::span<const providers::RepairPolicy>;

// When the first of the node's troubles is no longer tolerated; nullopt: none is the provider's
// concern.
std::optional<LogTime> repair_at(const NodeRow& node, Policies policies) {
  std::optional<LogTime> at;
  for (const model::Condition& trouble : node.node.troubles)
    for (const providers::RepairPolicy& policy : policies) {
      if (trouble.type != policy.condition || trouble.status != policy.status) continue;
      const LogTime since =
          trouble.transition_millis == 0 ? node.seen_at : LogTime(trouble.transition_millis);
      const LogTime due = since + policy.toleration_millis;
      if (!at || due < *at) at = due;
    }
  return at;
}

struct PoolHealth {
  std::int64_t nodes = 0;
  std::int64_t unhealthy = 0;
  bool good_enough() const { return unhealthy <= (nodes * kUnhealthyPercentMax + 99) / 100; }
};

// By the pool's name; under the empty name the whole cluster, for claims without a pool.
std::map<std::string, PoolHealth> health_of(const ClusterState& state, Policies policies) {
  std::map<std::string, PoolHealth> pools;
  for (const auto& [name, slot] : state.nodes().slots()) {
    const bool unhealthy = repair_at(slot.row, policies).has_value();
    const std::string pool(model::label_value(slot.row.node.labels, model::kNodePoolLabel));
    for (const std::string& scope : {pool, std::string()}) {
      PoolHealth& health = pools[scope];
      ++health.nodes;
      health.unhealthy += unhealthy ? 1 : 0;
      if (scope.empty()) break;  // once for a node without a pool
    }
  }
  return pools;
}

}  // namespace

void reconcile_repair(const ClusterState& state, const Context& context, Plan& plan) {
  const Policies policies = context.provider.repair_policies();
  if (!state.config().node_repair || policies.empty() || state.wall_clock_wrong() ||
      state.log_space_low() || !state.listed("Node") || !state.listed("NodeClaim"))
    return;
  std::optional<std::map<std::string, PoolHealth>> health;  // counted only when something is due
  for (const model::NodeName& name : state.ailing_nodes()) {
    if (plan.full()) return;
    const NodeRow& node = *state.nodes().find(name);
    const ClaimRow* row = state.claim_by_provider_id(node.node.provider_id);
    if (row == nullptr || row->node != name || row->registered_at.value() == 0 || row->leaving() ||
        node.node.deletion_millis != 0 || !ours(*row, context))
      continue;
    const auto at = repair_at(node, policies);
    if (!at) continue;
    if (*at > context.now) {
      plan.wake_at(*at);
      continue;
    }
    if (!health) health = health_of(state, policies);
    const std::string& pool = row->claim.pool.str();
    if (!(*health)[pool].good_enough()) {
      plan.verdict(claim_subject(row->claim.name), "repair_blocked",
                   {pool.empty() ? "cluster" : "nodepool"}, node.position);
      plan.wake_at(context.now + kBlockedMillis);
      continue;
    }
    request_delete(state, context, plan, *row, kUnhealthy, {node.position}, {});
  }
}

}  // namespace karst::reconcilers
