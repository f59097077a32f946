// Emptiness: a node that no pod needs goes after consolidateAfter, within its pool's budgets. It is
// tainted first; a read after the taint's echo must still find it empty, or the removal is called
// off.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "reconcilers/budgets.h"
#include "reconcilers/buffers.h"
#include "reconcilers/eligible.h"
#include "reconcilers/list.h"
#include "reconcilers/pod_holds.h"
#include "reconcilers/queries.h"

namespace karst::reconcilers {
namespace {

bool is_empty(const ClusterState& state, const ClaimRow& row, const NodeRow& node) {
  const auto* pods = state.pods().on(node.node.name.str());
  if (pods != nullptr && pods->reschedulable > 0) return false;
  return state.pods().expected_on_claim(row.claim.name.str()).empty() &&
         state.pods().expected_on_node(node.node.name.str()).empty();
}

bool held_back(const NodeRow& node) {
  return model::label_value(node.node.annotations, model::kDoNotDisruptAnnotation) == "true";
}

// What left it empty; 0 when no pod ever came.
Position last_pod_event(const ClusterState& state, const NodeRow& node) {
  const auto* activity = state.activity().find(node.node.name);
  return activity == nullptr ? Position() : activity->last_pod_position;
}

// A tainted candidate: removed when a fresh read confirms that it is empty, otherwise let go.
void settle(const ClusterState& state, const Context& context, Plan& plan, PodHolds& holds,
            const ClaimRow& row, const NodeRow& node) {
  if (!is_empty(state, row, node) || held_back(node) || state.wall_clock_wrong())
    return set_disrupted(state, context, plan, row, node, false, "needed_again", {node.position},
                         {});
  if (const PodHold hold = holds.on(node.node.name, context.now, plan); !hold.code.empty())
    return set_disrupted(state, context, plan, row, node, false, hold.code, {node.position}, {});
  if (node.tainted_at == Position()) {  // not seen yet, or somebody took it off
    return set_disrupted(state, context, plan, row, node, true, "empty",
                         {last_pod_event(state, node)}, {});
  }
  if (!read_back_is_fresh(state, context.now, node))
    return request_read_back(state, context, plan, node, "before_removal", {});
  // Somebody took the taint off; the watch will show it.
  if (node.read_back.exists && !node.read_back.tainted)
    return plan.wake_at(node.read_back_at + state.config().read_back_age_millis);
  const bool busy =
      std::any_of(node.read_back.pods.begin(), node.read_back.pods.end(),
                  [](const model::ReadBackPod& pod) { return pod.drainable && !pod.daemon; });
  if (busy)
    return set_disrupted(state, context, plan, row, node, false, "needed_again",
                         {node.read_back_position}, {});
  request_delete(state, context, plan, row, "empty",
                 {last_pod_event(state, node), node.read_back_position, node.tainted_at}, {});
}

// Whether the node has been empty for long enough; asks for a wake-up before that.
bool due(const ClusterState& state, LogTime now, Plan& plan, const ClaimRow& row,
         std::int64_t consolidate_after_millis) {
  LogTime since = row.initialized_at;
  if (const auto* activity = state.activity().find(row.node))
    since = std::max(since, activity->last_pod_event);
  const LogTime at = since + consolidate_after_millis;
  if (at > now) plan.wake_at(at);
  return at <= now;
}

// What keeps a vacant claim's node that has been empty for long enough, budgets aside; of an empty
// code: nothing does. nullopt: it is no candidate, or not yet; a wake-up is asked for then.
std::optional<PodHold> kept_by(const ClusterState& state, LogTime now, Plan& plan, PodHolds& holds,
                               const ClaimRow& row) {
  const NodeRow* node = state.node_of(row);
  const auto* pool = state.pools().find(row.claim.pool);
  if (node == nullptr || pool == nullptr || node->tainted_at != Position()) return std::nullopt;
  if (!pool->pool.consolidate_after_millis || pool->pool.replicas || !is_empty(state, row, *node))
    return std::nullopt;
  if (!due(state, now, plan, row, *pool->pool.consolidate_after_millis)) return std::nullopt;
  if (held_back(*node)) return PodHold{"held_by_annotation", ""};
  return holds.on(node->node.name, now, plan);
}

// What the budgets leave of each pool; read when the first of its nodes is due.
class Budgets {
 public:
  Budgets(const ClusterState& state, const Context& context, Plan& plan)
      : state_(state), context_(context), plan_(plan), counts_(count_pools(state)) {}

  // Whether one more node of the pool may go now. If not: says so of the claim, and asks to be
  // woken when a window closes.
  bool take(const model::ClaimName& claim, const projections::PoolRow& pool) {
    PoolCount& count = counts_[pool.pool.name];
    const Allowance& allowed = of(pool, count.nodes);
    if (count.leaving < allowed.nodes) {
      ++count.leaving;
      return true;
    }
    if (allowed.ends) plan_.wake_at(*allowed.ends);
    plan_.verdict(claim_subject(claim), "blocked_by_budget",
                  {pool.pool.name.str(), std::string(kReason), std::to_string(allowed.nodes)},
                  pool.position);
    return false;
  }

 private:
  static constexpr std::string_view kReason = "Empty";

  const Allowance& of(const projections::PoolRow& pool, std::int64_t nodes) {
    const auto [at, is_new] = allowed_.try_emplace(pool.pool.name);
    if (!is_new) return at->second;
    at->second = allowed_disruptions(pool.pool, kReason, nodes, context_.now);
    const std::string subject = pool_subject(pool.pool.name);
    if (!at->second.fault.empty())
      plan_.verdict(subject, "budget_unreadable", {at->second.fault}, pool.position);
    else if (state_.verdicts().find(std::pair(subject, std::string("emptiness"))) != nullptr)
      plan_.verdict(subject, "budgets_readable", {}, pool.position);
    return at->second;
  }

  const ClusterState& state_;
  const Context& context_;
  Plan& plan_;
  std::map<model::PoolName, PoolCount> counts_;
  std::map<model::PoolName, Allowance> allowed_;
};

// Removals that nobody goes on with: who opened them, another replica or Karpenter, leads no more.
// As in Karpenter they are called off, and the node is looked at like any other.
void call_off_left_overs(const ClusterState& state, const Context& context, Plan& plan) {
  for (const model::NodeName& name : state.tainted_nodes()) {
    if (plan.full()) return;
    const NodeRow& node = *state.nodes().find(name);
    const ClaimRow* row = state.claim_by_provider_id(node.node.provider_id);
    if (row == nullptr || !ours(*row, context) || row->candidate || leaves(*row) ||
        row->node_leaving)
      continue;
    set_disrupted(state, context, plan, *row, node, false, "left_over", {node.tainted_at}, {});
  }
}

// Opens the removal of vacant claims that are due, as far as the budgets of their pools allow.
void open_removals(const ClusterState& state, const Context& context, Plan& plan, PodHolds& holds) {
  std::optional<Budgets> budgets;  // read only when something is due
  std::set<model::NodeName> kept;  // for the buffers' room
  // Which nodes those are takes a look of the solver: only when provisioning looks, too.
  const bool buffered = any_buffers(state);
  if (buffered && !buffers_due(state, context, plan)) return;
  for (const model::ClaimName& name : state.vacant()) {
    if (plan.full()) return;
    const ClaimRow& row = *state.claims().find(name);
    if (!ours(row, context)) continue;
    const std::optional<PodHold> hold = kept_by(state, context.now, plan, holds, row);
    if (!hold) continue;
    const NodeRow& node = *state.node_of(row);
    if (!hold->code.empty()) {
      std::vector<std::string> who;
      if (!hold->who.empty()) who.push_back(hold->who);
      plan.verdict(claim_subject(name), hold->code, std::move(who), node.position);
      continue;
    }
    if (!budgets) {
      budgets.emplace(state, context, plan);
      if (buffered) kept = buffer_hosts(state, context);
    }
    if (kept.contains(node.node.name) ||
        !budgets->take(name, *state.pools().find(row.claim.pool)) || plan.full())
      continue;
    set_disrupted(state, context, plan, row, node, true, "empty", {last_pod_event(state, node)},
                  {});
  }
}

}  // namespace

std::int64_t eligible_for_emptiness(const ClusterState& state, const providers::Provider& provider,
                                    LogTime now) {
  PodHolds holds(state);
  Plan unused(state, "");  // of the wishes to be woken
  std::int64_t count = 0;
  for (const model::ClaimName& name : state.vacant()) {
    const ClaimRow& row = *state.claims().find(name);
    if (!provider.understands(row.claim.node_class)) continue;
    const std::optional<PodHold> hold = kept_by(state, now, unused, holds, row);
    count += hold && hold->code.empty() ? 1 : 0;
  }
  return count;
}

void reconcile_emptiness(const ClusterState& state, const Context& context, Plan& plan) {
  if (!all_listed(state)) return;
  PodHolds holds(state);
  for (const model::ClaimName& name : state.restless()) {
    if (plan.full()) return;
    const ClaimRow& row = *state.claims().find(name);
    const NodeRow* node = state.node_of(row);
    if (row.candidate && !row.leaving() && node != nullptr && !row.node_leaving &&
        ours(row, context))
      settle(state, context, plan, holds, row, *node);
  }
  if (state.log_space_low() || state.wall_clock_wrong()) return;
  call_off_left_overs(state, context, plan);
  open_removals(state, context, plan, holds);
}

}  // namespace karst::reconcilers
