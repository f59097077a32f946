// Emptiness: a node that no pod needs goes after consolidateAfter, within its pool's budgets. It is
// tainted first; a read after the taint's echo must still find it empty, or the removal is called
// off.
#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "reconcilers/buffers.h"
#include "reconcilers/list.h"
#include "reconcilers/queries.h"

namespace karst::reconcilers {
namespace {

struct PoolCount {
  std::int64_t nodes = 0;    // initialized or on their way
  std::int64_t leaving = 0;  // candidates and those that are being removed
};

std::map<model::PoolName, PoolCount> count_pools(const ClusterState& state) {
  std::map<model::PoolName, PoolCount> counts;
  for (const auto& [name, slot] : state.claims().slots()) {
    PoolCount& count = counts[slot.row.claim.pool];
    if (slot.row.launched()) ++count.nodes;
    if (slot.row.leaving() || slot.row.candidate) ++count.leaving;
  }
  return counts;
}

// How many nodes of the pool may be on their way out at once. Percentages round up, as Karpenter's
// do. A scheduled budget counts at all times until schedules are read: never too many.
std::int64_t allowed_by_budgets(const model::NodePool& pool, std::int64_t nodes) {
  std::int64_t allowed = nodes;
  for (const model::Budget& budget : pool.budgets) {
    if (!budget.reasons.empty() &&
        std::find(budget.reasons.begin(), budget.reasons.end(), "Empty") == budget.reasons.end())
      continue;
    std::string_view text = budget.nodes;
    const bool percent = text.ends_with('%');
    if (percent) text.remove_suffix(1);
    std::int64_t number = 0;  // what cannot be read allows nothing
    (void)std::from_chars(text.data(), text.data() + text.size(), number);
    allowed = std::min(allowed, percent ? (nodes * number + 99) / 100 : number);
  }
  return allowed;
}

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
void settle(const ClusterState& state, const Context& context, Plan& plan, const ClaimRow& row,
            const NodeRow& node) {
  if (!is_empty(state, row, node) || held_back(node) || state.wall_clock_wrong())
    return set_disrupted(state, context, plan, row, node, false, "needed_again", {node.position},
                         {});
  if (node.tainted_at == Position()) {  // not seen yet, or somebody took it off
    return set_disrupted(state, context, plan, row, node, true, "empty",
                         {last_pod_event(state, node)}, {});
  }
  if (!read_back_is_fresh(state, context.now, node))
    return request_read_back(state, context, plan, node, "before_removal", {});
  const bool busy =
      std::any_of(node.read_back.pods.begin(), node.read_back.pods.end(),
                  [](const model::ReadBackPod& pod) { return pod.drainable && !pod.daemon; });
  if (busy)
    return set_disrupted(state, context, plan, row, node, false, "needed_again",
                         {node.read_back_position}, {});
  request_delete(state, context, plan, row, "empty",
                 {last_pod_event(state, node), node.read_back_position, node.tainted_at}, {});
}

// When the node has been empty for long enough; asks for a wake-up before that.
bool due(const ClusterState& state, const Context& context, Plan& plan, const ClaimRow& row,
         std::int64_t consolidate_after_millis) {
  LogTime since = row.initialized_at;
  if (const auto* activity = state.activity().find(row.node))
    since = std::max(since, activity->last_pod_event);
  const LogTime at = since + consolidate_after_millis;
  if (at > context.now) plan.wake_at(at);
  return at <= context.now;
}

}  // namespace

namespace {

// Opens the removal of vacant claims that are due, as far as the budgets of their pools allow.
void open_removals(const ClusterState& state, const Context& context, Plan& plan) {
  std::optional<std::map<model::PoolName, PoolCount>> counts;  // counted only when something is due
  std::set<model::NodeName> kept;                              // for the buffers' room
  // Which nodes those are takes a look of the solver: only when provisioning looks, too.
  const bool buffered = any_buffers(state);
  if (buffered && !buffers_due(state, context, plan)) return;
  for (const model::ClaimName& name : state.vacant()) {
    if (plan.full()) return;
    const ClaimRow& row = *state.claims().find(name);
    const NodeRow* node = state.node_of(row);
    const auto* pool = state.pools().find(row.claim.pool);
    if (node == nullptr || pool == nullptr || !ours(row, context)) continue;
    // A removal that nobody goes on with: another replica opened it and leads no more. As in
    // Karpenter, it is called off, and the node is looked at like any other.
    if (node->tainted_at != Position()) {
      set_disrupted(state, context, plan, row, *node, false, "left_over", {node->tainted_at}, {});
      continue;
    }
    if (!pool->pool.consolidate_after_millis || pool->pool.replicas || held_back(*node) ||
        !is_empty(state, row, *node))
      continue;
    if (!due(state, context, plan, row, *pool->pool.consolidate_after_millis)) continue;
    if (!counts) {
      counts = count_pools(state);
      if (buffered) kept = buffer_hosts(state, context);
    }
    if (kept.contains(node->node.name)) continue;
    PoolCount& count = (*counts)[row.claim.pool];
    if (count.leaving >= allowed_by_budgets(pool->pool, count.nodes)) {
      plan.verdict(claim_subject(name), "blocked_by_budget", {row.claim.pool.str()},
                   pool->position);
      continue;
    }
    ++count.leaving;
    set_disrupted(state, context, plan, row, *node, true, "empty", {last_pod_event(state, *node)},
                  {});
  }
}

}  // namespace

void reconcile_emptiness(const ClusterState& state, const Context& context, Plan& plan) {
  if (!all_listed(state)) return;
  for (const model::ClaimName& name : state.restless()) {
    if (plan.full()) return;
    const ClaimRow& row = *state.claims().find(name);
    const NodeRow* node = state.node_of(row);
    if (row.candidate && !row.leaving() && node != nullptr && !row.node_leaving &&
        ours(row, context))
      settle(state, context, plan, row, *node);
  }
  if (!state.log_space_low() && !state.wall_clock_wrong()) open_removals(state, context, plan);
}

}  // namespace karst::reconcilers
