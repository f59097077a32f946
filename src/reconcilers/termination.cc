// Termination: the way down of a claim that the API server is deleting. Each step is taken when the
// state shows that the one before it has happened: taint seen → pods evicted tier by tier → a fresh
// read-back finds none → the cloud confirms instance and tag → terminate → proof of absence → node
// object and finalizers go. Nothing is destroyed on a stale or missing read.
#include <algorithm>

#include "reconcilers/list.h"
#include "reconcilers/queries.h"

namespace karst::reconcilers {
namespace {

constexpr std::int64_t kPollMillis = 5'000;

using projections::PodRow;

bool tolerates_disrupted(const PodRow& pod) {
  static const model::Taint kDisrupted{std::string(model::kDisruptedTaintKey), "",
                                       model::TaintEffect::kNoSchedule};
  return model::tolerates(pod.shape->tolerations, kDisrupted);
}

bool must_leave(const PodRow& pod) {
  return !pod.terminal() && !pod.mirror() && !tolerates_disrupted(pod);
}

// Non-critical before critical, others before daemons: lower tiers leave first (Karpenter 1.14's
// drain order).
int tier_of(const PodRow& pod) {
  const bool critical = pod.shape->priority_class == "system-cluster-critical" ||
                        pod.shape->priority_class == "system-node-critical";
  return (critical ? 2 : 0) + (pod.daemon() ? 1 : 0);
}

bool blocks(const PodRow& pod, LogTime now) {
  switch (pod.shape->do_not_disrupt) {
    case model::DoNotDisrupt::kNo:
      return false;
    case model::DoNotDisrupt::kForever:
      return true;
    case model::DoNotDisrupt::kForDuration:
      return pod.start_millis == 0 ||
             now.value() < pod.start_millis + pod.shape->do_not_disrupt_millis;
  }
  return true;
}

// Evicts the first tier that still has pods; past a pod's share of the deadline it is deleted. True
// when nothing is left.
bool drain(const ClusterState& state, const Context& context, Plan& plan, const ClaimRow& row,
           const NodeRow& node) {
  std::vector<const PodRow*> left;
  int first_tier = 4;
  for (const PodRow* pod : state.pods().on_node(node.node.name.str())) {
    if (!must_leave(*pod)) continue;
    left.push_back(pod);
    first_tier = std::min(first_tier, tier_of(*pod));
  }
  const auto deadline = drain_deadline_millis(row);
  for (const PodRow* pod : left) {
    if (pod->deletion_millis != 0) continue;  // on its way
    const std::string subject = "pod/" + pod->uid.str();
    const std::int64_t force_at =
        deadline ? *deadline - pod->shape->grace_seconds * base::kMillisPerSecond : 0;
    // The written deadline rule: only terminationGracePeriod lets a pod be deleted; a machine that
    // is taken away is no reason to bypass a disruption budget.
    const bool may_force = row.claim.termination_grace_millis.has_value() && deadline.has_value();
    const bool force = may_force && context.now.value() >= force_at;
    if (may_force && !force) plan.wake_at(LogTime(force_at));
    if (!force && (tier_of(*pod) != first_tier)) continue;
    if (!force && blocks(*pod, context.now)) {
      plan.verdict(
          node_subject(node.node.name), "blocked_by_pod",
          {pod->namespace_name == nullptr ? pod->name : *pod->namespace_name + "/" + pod->name},
          pod->position);
      continue;
    }
    if (!may_issue(state, context, plan, subject, model::CommandKind::kEvictPod)) continue;
    model::EvictPod evict;
    evict.uid = pod->uid;
    evict.namespace_name = pod->namespace_name == nullptr ? "" : *pod->namespace_name;
    evict.name = pod->name;
    evict.node = node.node.name;
    evict.force = force;
    if (force)
      evict.grace_seconds =
          std::max<std::int64_t>((*deadline - context.now.value()) / base::kMillisPerSecond, 1);
    plan.command(std::move(evict), row.delete_reason.empty() ? "drain" : row.delete_reason,
                 {node.tainted_at, pod->position}, row.leave_root);
  }
  return left.empty();
}

void find(const ClusterState& state, const Context& context, Plan& plan, const ClaimRow& row,
          std::string_view why) {
  if (may_issue(state, context, plan, "instance/" + row.instance.provider_id.str(),
                model::CommandKind::kFindInstances))
    plan.command(model::FindInstances{row.claim.uid, row.instance.provider_id}, why, {row.position},
                 row.leave_root);
}

// Terminate by id, after the cloud has confirmed within read_back_age that this instance carries
// this claim's tag.
void terminate(const ClusterState& state, const Context& context, Plan& plan, const ClaimRow& row) {
  const std::string subject = "instance/" + row.instance.provider_id.str();
  if (row.terminate_requested_at.value() != 0 &&
      context.now - row.terminate_requested_at < kPollMillis) {
    plan.wake_at(row.terminate_requested_at + kPollMillis);
    return;
  }
  if (row.found_at.value() == 0 ||
      context.now - row.found_at >= state.config().read_back_age_millis) {
    find(state, context, plan, row,
         row.terminate_requested_at.value() == 0 ? "confirm_instance" : "await_absence");
    return;
  }
  const auto* instance = state.instances().find(row.instance.provider_id);
  if (instance == nullptr || instance->instance.claim != row.claim.uid) {
    plan.verdict(subject, "claim_tag_differs", {row.claim.name.str()}, row.position);
    return;
  }
  if (instance->instance.state == model::InstanceState::kShuttingDown) {
    if (context.now - row.found_at >= kPollMillis)
      return find(state, context, plan, row, "await_absence");
    plan.wake_at(row.found_at + kPollMillis);
    return;
  }
  if (may_issue(state, context, plan, subject, model::CommandKind::kTerminate))
    plan.command(model::Terminate{row.instance.provider_id, row.claim.uid},
                 row.delete_reason.empty() ? "deleted" : row.delete_reason,
                 {row.position, instance->position}, row.leave_root);
}

void remove_finalizer(const ClusterState& state, const Context& context, Plan& plan,
                      model::ObjectRef object, bool present, Position evidence, Position root) {
  const std::string subject =
      object.kind == model::ObjectKind::kNode ? "node/" + object.name : "nodeclaim/" + object.name;
  if (!present || !may_issue(state, context, plan, subject, model::CommandKind::kSetFinalizer))
    return;
  plan.command(model::SetFinalizer{std::move(object), false}, "instance_gone", {evidence}, root);
}

// The instance is proven gone: the node object goes, then the claim.
void finish(const ClusterState& state, const Context& context, Plan& plan, const ClaimRow& row) {
  const NodeRow* node = state.node_of(row);
  if (node != nullptr) {
    const model::ObjectRef object{model::ObjectKind::kNode, "", node->node.name.str(),
                                  node->node.uid.str()};
    if (node->node.deletion_millis == 0) {
      if (may_issue(state, context, plan, node_subject(node->node.name),
                    model::CommandKind::kDeleteObject))
        plan.command(model::DeleteObject{object}, "instance_gone", {node->position},
                     row.leave_root);
    } else {
      remove_finalizer(state, context, plan, object, node->node.has_finalizer, node->position,
                       row.leave_root);
    }
    return;
  }
  remove_finalizer(state, context, plan,
                   {model::ObjectKind::kNodeClaim, "", row.claim.name.str(), row.claim.uid.str()},
                   row.claim.has_finalizer, row.position, row.leave_root);
}

// A claim that has no instance that we know of: proof that there never will be one.
void finish_unlaunched(const ClusterState& state, const Context& context, Plan& plan,
                       const ClaimRow& row) {
  const bool in_doubt = row.attempts > 0 && !row.launch_refused;
  if (in_doubt) {
    // An open or unclear order is retry's to end; one that ended otherwise is searched for by tag.
    if (state.open_command(claim_subject(row.claim.name), model::CommandKind::kLaunch) == nullptr &&
        may_issue(state, context, plan, "claim-tag/" + row.claim.uid.str(),
                  model::CommandKind::kFindInstances))
      plan.command(model::FindInstances{row.claim.uid, {}}, "prove_absence", {row.position},
                   row.leave_root);
    return;
  }
  finish(state, context, plan, row);
}

void take_down(const ClusterState& state, const Context& context, Plan& plan, const ClaimRow& row) {
  if (row.gone_at.value() != 0) return finish(state, context, plan, row);
  if (!row.launched()) return finish_unlaunched(state, context, plan, row);
  const NodeRow* node = state.node_of(row);
  if (node == nullptr || row.terminate_requested_at.value() != 0)
    return terminate(state, context, plan, row);
  const auto deadline = row.deadline_millis;
  const bool taken_away = deadline != 0 && context.now.value() >= deadline;
  if (taken_away) return find(state, context, plan, row, "await_absence");
  if (deadline != 0) plan.wake_at(LogTime(deadline));
  if (node->tainted_at == Position())
    return set_disrupted(state, context, plan, row, *node, true,
                         row.delete_reason.empty() ? "deleted" : row.delete_reason, {row.position},
                         row.leave_root);
  if (!drain(state, context, plan, row, *node)) return;
  if (!read_back_is_fresh(state, context.now, *node))
    return request_read_back(state, context, plan, *node, "before_terminate", row.leave_root);
  const auto waits = [](const model::ReadBackPod& pod) { return pod.drainable; };
  if (std::any_of(node->read_back.pods.begin(), node->read_back.pods.end(), waits)) {
    plan.wake_at(
        node->read_back_at +
        state.config().read_back_age_millis);  // the watch has not shown it yet: read again
    return;
  }
  terminate(state, context, plan, row);
}

}  // namespace

void reconcile_termination(const ClusterState& state, const Context& context, Plan& plan) {
  if (!state.listed("NodeClaim") || !state.listed("Node") || !state.listed("Pod")) return;
  for (const model::ClaimName& name : state.restless()) {
    if (plan.full()) return;
    const ClaimRow& row = *state.claims().find(name);
    if (!ours(row, context)) continue;
    if (row.claim.deletion_millis != 0) {
      take_down(state, context, plan, row);
    } else if (row.delete_requested_at.value() != 0) {
      request_delete(state, context, plan, row, row.delete_reason, {row.position}, row.leave_root);
    } else if (row.node_leaving) {
      const NodeRow* node = state.node_of(row);
      request_delete(state, context, plan, row, "node_deleted",
                     {node == nullptr ? row.position : node->position}, {});
    }
  }
}

}  // namespace karst::reconcilers
