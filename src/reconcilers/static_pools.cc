// Static pools (`spec.replicas`, feature gate StaticCapacity): so many nodes, whatever pods there
// are. Too few: claims that say no instance type and no zone, within limits.nodes. Too many: those
// go first that cost least to give up; budgets are not asked (Karpenter 1.14).
#include <algorithm>
#include <tuple>

#include "model/labels.h"
#include "model/requirements.h"
#include "reconcilers/drain.h"
#include "reconcilers/list.h"
#include "reconcilers/new_claim.h"
#include "reconcilers/pool_rules.h"
#include "reconcilers/queries.h"
#include "scheduling/claims.h"
#include "scheduling/pool_table.h"

namespace karst::reconcilers {
namespace {

struct Members {
  std::vector<const ClaimRow*> staying;  // neither leaving nor about to
  std::int64_t all = 0;                  // that may still have a machine
};

Members members_of(const ClusterState& state, const model::PoolName& pool) {
  Members members;
  for (const auto& [name, slot] : state.claims().slots()) {
    const ClaimRow& row = slot.row;
    if (row.claim.pool != pool || row.gone_at.value() != 0) continue;
    ++members.all;
    if (!row.leaving() && row.interrupted_at.value() == 0) members.staying.push_back(&row);
  }
  return members;
}

std::optional<std::int64_t> node_limit(const model::NodePool& pool) {
  for (const auto& [resource, limit] : pool.limits)
    if (resource == "nodes") return limit;
  return std::nullopt;
}

model::NodeClaim static_claim(const ClusterState& state, const Context& context,
                              const scheduling::Pool& of_pool, const model::CommandId& id) {
  const model::NodePool& pool = of_pool.pool;
  scheduling::NewClaim wanted;
  model::Requirements requirements(pool.requirements);
  requirements.add(model::Requirements::from_labels(scheduling::pool_labels(pool)));
  wanted.requirements = requirements.specs();
  model::NodeClaim claim = claim_of_pool(state, context, pool, id);
  claim.labels = scheduling::claim_labels(of_pool, wanted);
  claim.requirements = wanted.requirements.items();
  std::sort(claim.requirements.begin(), claim.requirements.end());
  return claim;
}

void grow(const ClusterState& state, const Context& context, Plan& plan,
          const projections::PoolRow& row, const Members& members) {
  const model::NodePool& pool = row.pool;
  std::int64_t missing = *pool.replicas - static_cast<std::int64_t>(members.staying.size());
  if (const auto limit = node_limit(pool); limit && members.all + missing > *limit) {
    missing = std::max<std::int64_t>(*limit - members.all, 0);
    plan.verdict(pool_subject(pool.name), "node_limit_reached", {std::to_string(*limit)},
                 row.position);
  }
  if (missing <= 0 || !may_make_claim(state, context, plan, pool.name)) return;
  scheduling::Pool of_pool;
  of_pool.pool = pool;
  of_pool.types = scheduling::instance_types_of(
      context.class_types.of(state, context.provider, pool.node_class));
  for (; missing > 0 && !plan.full(); --missing) {
    model::NodeClaim claim = static_claim(state, context, of_pool, plan.next_id());
    if (state.claims().contains(claim.name)) return;  // the next round draws another name
    plan.command(model::CreateNodeClaim{std::move(claim)}, "provisioned", {row.position});
  }
}

// What giving the node up costs, in Karpenter's terms: per pod 1 + deletion cost / 2^27 + priority
// / 2^25, within ±10, times the share of its life that is left. In 2^-27 and thousandths.
std::int64_t cost_of(const ClusterState& state, const ClaimRow& row, LogTime now) {
  constexpr std::int64_t kOne = std::int64_t{1} << 27;
  std::int64_t sum = 0;
  if (!row.node.empty())
    for (const PodRow* pod : state.pods().on_node(row.node.str()))
      if (pod->reschedulable())
        sum += std::clamp(kOne + pod->shape->deletion_cost + 4 * std::int64_t{pod->shape->priority},
                          -10 * kOne, 10 * kOne);
  std::int64_t left = 1000;
  if (row.claim.expire_after_millis && *row.claim.expire_after_millis >= 1000) {
    const std::int64_t age = now.value() - row.claim.creation_millis;
    left = std::clamp<std::int64_t>(1000 - age / (*row.claim.expire_after_millis / 1000), 0, 1000);
  }
  return sum * left;
}

// Those that are not up yet, then empty ones, then those without a pod that must not be disturbed,
// then the rest.
int class_of(const ClusterState& state, const ClaimRow& row, LogTime now) {
  if (row.initialized_at.value() == 0) return row.launched() ? 1 : 0;
  bool empty = true;
  bool held = false;
  for (const PodRow* pod : state.pods().on_node(row.node.str())) {
    empty = empty && !pod->reschedulable();
    held = held || (pod->active() && held_by_annotation(*pod, now));
  }
  if (held) return 4;
  return empty ? 2 : 3;
}

void shrink(const ClusterState& state, const Context& context, Plan& plan,
            const projections::PoolRow& row, const Members& members) {
  std::vector<std::tuple<int, std::int64_t, const ClaimRow*>> order;
  for (const ClaimRow* claim : members.staying)
    order.emplace_back(class_of(state, *claim, context.now), cost_of(state, *claim, context.now),
                       claim);
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    const auto key = [](const auto& one) {
      return std::tie(std::get<0>(one), std::get<1>(one), std::get<2>(one)->claim.name);
    };
    return key(a) < key(b);
  });
  std::size_t surplus = order.size() - static_cast<std::size_t>(*row.pool.replicas);
  for (const auto& [unused_class, unused_cost, claim] : order) {
    if (surplus-- == 0 || plan.full()) return;
    request_delete(state, context, plan, *claim, "overprovisioned", {row.position}, {});
  }
}

bool is_usable(const ClusterState& state, const Context& context, const model::NodePool& pool) {
  return pool.deletion_millis == 0 && context.provider.understands(pool.node_class) &&
         node_class_ready(state, pool).status == model::ConditionStatus::kTrue;
}

}  // namespace

void reconcile_static_pools(const ClusterState& state, const Context& context, Plan& plan) {
  if (!state.config().static_capacity || !all_listed(state)) return;
  for (const auto& [name, slot] : state.pools().slots()) {
    const projections::PoolRow& row = slot.row;
    if (!row.pool.replicas || plan.full()) continue;
    const Members members = members_of(state, name);
    const auto staying = static_cast<std::int64_t>(members.staying.size());
    if (staying > *row.pool.replicas && row.pool.deletion_millis == 0)
      shrink(state, context, plan, row, members);
    else if (staying < *row.pool.replicas && !state.log_space_low() &&
             is_usable(state, context, row.pool))
      grow(state, context, plan, row, members);
  }
}

}  // namespace karst::reconcilers
