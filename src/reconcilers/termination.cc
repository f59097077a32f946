// Termination: the way down of a claim that the API server is deleting. Each step is taken when the
// state shows that the one before it has happened: taint seen → pods evicted tier by tier → a fresh
// read-back finds none → the cloud confirms instance and tag → terminate → proof of absence → node
// object and finalizers go. Nothing is destroyed on a stale or missing read.
#include <algorithm>

#include "reconcilers/drain.h"
#include "reconcilers/list.h"
#include "reconcilers/queries.h"

namespace karst::reconcilers {
namespace {

constexpr std::int64_t kReadAgainMillis = 2'000;  // a node whose pods are on their way
constexpr std::int64_t kPollMillis = 5'000;
constexpr std::int64_t kOutlivedMillis = 30'000;  // past its announced end
constexpr std::string_view kNoLoadBalancersLabel =
    "node.kubernetes.io/exclude-from-external-load-balancers";

// The pods of one drain, and what is asked about them.
struct Drain {
  const ClusterState& state;
  const Context& context;
  Plan& plan;
  const ClaimRow& row;
  const NodeRow& node;

  std::string_view reason() const {
    return row.delete_reason.empty() ? std::string_view("drain") : row.delete_reason;
  }

  // `grace_seconds` below 0: by eviction.
  void evict(const PodRow& pod, std::int64_t grace_seconds) const {
    model::EvictPod evict;
    evict.uid = pod.uid;
    evict.namespace_name = pod.namespace_name == nullptr ? "" : *pod.namespace_name;
    evict.name = pod.name;
    evict.node = node.node.name;
    evict.force = grace_seconds >= 0;
    evict.grace_seconds = grace_seconds;
    plan.command(std::move(evict), reason(), {node.tainted_at, pod.position}, row.leave_root);
  }

  // A disruption budget's refusal holds up evictions, not the deletion at the deadline.
  bool may_delete(const PodRow& pod) const {
    const std::string subject = "pod/" + pod.uid.str();
    const auto* held =
        state.back_offs().find(projections::SubjectKind(subject, model::CommandKind::kEvictPod));
    if (held != nullptr && held->code == model::RefusalCode::kBlocked)
      return !plan.full() && state.open_command(subject, model::CommandKind::kEvictPod) == nullptr;
    return may_issue(state, context, plan, subject, model::CommandKind::kEvictPod);
  }

  // Past the deadline less its own grace period a pod is deleted, with what is left of the time.
  // True when it is not to be evicted.
  bool forced(const PodRow& pod, std::int64_t deadline) const {
    const std::int64_t now = context.now.value();
    const std::int64_t grace = pod.shape->grace_seconds * base::kMillisPerSecond;
    if (pod.deletion_millis == 0 && now < deadline - grace) {
      plan.wake_at(LogTime(deadline - grace));
      return false;
    }
    if (pod.deletion_millis != 0 &&
        pod.deletion_millis <= std::max(deadline, now + base::kMillisPerSecond))
      return true;
    // On its way, but it may take longer than there is time: the deletion is made shorter.
    if (may_delete(pod))
      evict(pod, std::max<std::int64_t>((deadline - now) / base::kMillisPerSecond, 1));
    return true;
  }
};

constexpr std::size_t kBlockersNamed = 5;

// Evicts the first tier that still has pods; what the deadline forces goes from every tier. True
// when nothing is left.
bool drain(const Drain& about) {
  const LogTime now = about.context.now;
  const std::vector<const PodRow*> left = leaving_pods(about.state, about.node.node.name, now);
  int first_tier = kTiers;
  for (const PodRow* pod : left) first_tier = std::min(first_tier, tier_of(*pod));
  const auto deadline = forced_deadline_millis(about.row);
  std::vector<std::string> held;
  Position held_at;
  for (const PodRow* pod : left) {
    if (pod->deletion_millis != 0) about.plan.wake_at(stuck_at(*pod) + 1);
    if (deadline && about.forced(*pod, *deadline)) continue;
    if (pod->deletion_millis != 0) continue;  // on its way
    if (tier_of(*pod) != first_tier) continue;
    if (held_by_annotation(*pod, now)) {
      wake_when_free(*pod, about.plan);
      const std::string* place = pod->namespace_name;
      if (held.size() < kBlockersNamed)
        held.push_back(place == nullptr ? pod->name : *place + "/" + pod->name);
      if (held_at == Position()) held_at = pod->position;
      continue;
    }
    if (may_issue(about.state, about.context, about.plan, "pod/" + pod->uid.str(),
                  model::CommandKind::kEvictPod))
      about.evict(*pod, -1);
  }
  if (!held.empty())
    about.plan.verdict(node_subject(about.node.node.name), "blocked_by_pod", std::move(held),
                       held_at);
  return left.empty();
}

void find(const ClusterState& state, const Context& context, Plan& plan, const ClaimRow& row,
          std::string_view why) {
  if (may_issue(state, context, plan, "instance/" + row.instance.provider_id.str(),
                model::CommandKind::kFindInstances))
    plan.command(model::FindInstances{row.claim.uid, row.instance.provider_id}, why, {row.position},
                 row.leave_root);
}

// The machine's tags say that it is this claim's: the uid that karst puts there, or the name that
// Karpenter did. The state has it under the claim's own provider id.
bool carries_tag(const model::Instance& instance, const ClaimRow& row) {
  if (!instance.claim.empty()) return instance.claim == row.claim.uid;
  return !instance.claim_name.empty() && instance.claim_name == row.claim.name;
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
  if (instance == nullptr || !carries_tag(instance->instance, row)) {
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
    plan.command(
        model::Terminate{row.instance.provider_id, row.claim.uid, row.claim.name, row.claim.pool},
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

// Load balancers outside of the cluster stop sending to a node with this label.
void leave_load_balancers(const ClusterState& state, const Context& context, Plan& plan,
                          const ClaimRow& row, const NodeRow& node) {
  if (model::has_label(node.node.labels, kNoLoadBalancersLabel) ||
      !may_issue(state, context, plan, node_subject(node.node.name), model::CommandKind::kSyncNode))
    return;
  model::SyncNode sync;
  sync.node = node.node.name;
  sync.uid = node.node.uid;
  model::set_label(sync.labels, kNoLoadBalancersLabel, "karpenter");
  plan.command(std::move(sync), "drain", {node.tainted_at, row.position}, row.leave_root);
}

// A volume that is ripped off its machine may lose what was written last; past the deadline it is.
bool volumes_detached(const ClusterState& state, const Context& context, Plan& plan,
                      const ClaimRow& row, const NodeRow& node) {
  if (drain_is_overdue(row, context.now)) return true;
  if (!state.listed("VolumeAttachment")) return false;
  std::vector<std::string> attached = attached_volumes(state, node, context.now);
  if (attached.empty()) return true;
  if (const auto deadline = forced_deadline_millis(row)) plan.wake_at(LogTime(*deadline));
  if (attached.size() > kBlockersNamed) attached.resize(kBlockersNamed);
  plan.verdict(node_subject(node.node.name), "volumes_attached", std::move(attached),
               node.position);
  return false;
}

// From the end that an interruption announced the machine is only looked for: what is done to a
// node whose machine is going fails. Not so when it was seen well after: stopped, hibernated, or
// kept.
bool is_taken_away(const ClusterState& state, const Context& context, const ClaimRow& row) {
  if (row.deadline_millis == 0 || context.now.value() < row.deadline_millis) return false;
  const auto* instance = state.instances().find(row.instance.provider_id);
  return instance == nullptr || instance->instance.state == model::InstanceState::kShuttingDown ||
         row.found_at.value() < row.deadline_millis + kOutlivedMillis;
}

void take_down(const ClusterState& state, const Context& context, Plan& plan, const ClaimRow& row) {
  if (row.gone_at.value() != 0) return finish(state, context, plan, row);
  if (!row.launched()) return finish_unlaunched(state, context, plan, row);
  const NodeRow* node = state.node_of(row);
  if (node == nullptr || row.terminate_requested_at.value() != 0)
    return terminate(state, context, plan, row);
  if (is_taken_away(state, context, row)) return find(state, context, plan, row, "await_absence");
  if (context.now.value() < row.deadline_millis) plan.wake_at(LogTime(row.deadline_millis));
  if (node->tainted_at == Position())
    return set_disrupted(state, context, plan, row, *node, true,
                         row.delete_reason.empty() ? "deleted" : row.delete_reason, {row.position},
                         row.leave_root);
  leave_load_balancers(state, context, plan, row, *node);
  if (!drain({state, context, plan, row, *node})) return;
  if (!volumes_detached(state, context, plan, row, *node)) return;
  if (!read_back_is_fresh(state, context.now, *node))
    return request_read_back(state, context, plan, *node, "before_terminate", row.leave_root);
  // A pod that the watch has not shown yet, or one that has gone since; or no taint: read again.
  if (read_back_waits(state, *node, context.now)) {
    const LogTime again = node->read_back_at + kReadAgainMillis;
    if (context.now < again) return plan.wake_at(again);
    return request_read_back(state, context, plan, *node, "before_terminate", row.leave_root);
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
