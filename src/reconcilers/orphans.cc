// Orphans in all directions. An instance with our tag (and no other) whose claim does not exist, or
// whose attempt the claim did not get, is looked up by id and terminated; a launched claim whose
// instance the cloud no longer lists is looked up by id, because absence from a list proves
// nothing.
#include "reconcilers/list.h"
#include "reconcilers/queries.h"

namespace karst::reconcilers {
namespace {

void look_up(const ClusterState& state, const Context& context, Plan& plan,
             const projections::InstanceRow& row, std::string_view why) {
  if (may_issue(state, context, plan, "instance/" + row.instance.provider_id.str(),
                model::CommandKind::kFindInstances))
    plan.command(model::FindInstances{row.instance.claim, row.instance.provider_id}, why,
                 {row.position});
}

void remove_orphan(const ClusterState& state, const Context& context, Plan& plan,
                   const projections::InstanceRow& row) {
  const LogTime due = row.seen_at + state.config().orphan_grace_millis;
  if (due > context.now) return plan.wake_at(due);
  const std::string subject = "instance/" + row.instance.provider_id.str();
  if (row.found_at.value() == 0 ||
      context.now - row.found_at >= state.config().read_back_age_millis)
    return look_up(state, context, plan, row, "orphan");
  if (row.instance.state == model::InstanceState::kShuttingDown)
    return plan.wake_at(row.found_at + state.config().read_back_age_millis);
  plan.verdict(subject, "orphan", {row.instance.claim.str()}, row.position);
  if (may_issue(state, context, plan, subject, model::CommandKind::kTerminate))
    plan.command(model::Terminate{row.instance.provider_id, row.instance.claim}, "orphan",
                 {row.position});
}

// A Node of a pool whose claim is gone: it goes once the cloud has said that its machine is.
void remove_node(const ClusterState& state, const Context& context, Plan& plan,
                 const projections::NodeRow& row) {
  const LogTime due = row.seen_at + state.config().orphan_grace_millis;
  if (due > context.now) return plan.wake_at(due);
  const model::ObjectRef object{model::ObjectKind::kNode, "", row.node.name.str(),
                                row.node.uid.str()};
  if (row.machine_gone_at.value() == 0) {
    if (may_issue(state, context, plan, "instance/" + row.node.provider_id.str(),
                  model::CommandKind::kFindInstances))
      plan.command(model::FindInstances{{}, row.node.provider_id}, "node_without_claim",
                   {row.position});
  } else if (row.node.deletion_millis == 0) {
    if (may_issue(state, context, plan, node_subject(row.node.name),
                  model::CommandKind::kDeleteObject))
      plan.command(model::DeleteObject{object}, "machine_gone", {row.position});
  } else if (row.node.has_finalizer && may_issue(state, context, plan, node_subject(row.node.name),
                                                 model::CommandKind::kSetFinalizer)) {
    plan.command(model::SetFinalizer{object, false}, "machine_gone", {row.position});
  }
}

}  // namespace

void reconcile_orphans(const ClusterState& state, const Context& context, Plan& plan) {
  if (!state.listed("NodeClaim") || !state.listed("Instance")) return;
  for (const model::ProviderId& id : state.loose_instances()) {
    if (plan.full()) return;
    const projections::InstanceRow& row = *state.instances().find(id);
    // Somebody else's: it was looked up for the sake of a Node that has a pool's label and no
    // claim.
    if (row.instance.claim.empty() && state.claim_by_provider_id(id) == nullptr) continue;
    if (!state.owned(row.instance))
      remove_orphan(state, context, plan, row);
    else
      look_up(state, context, plan, row, "missing_from_list");
  }
  if (!state.listed("Node")) return;
  for (const model::NodeName& name : state.stray_nodes()) {
    if (plan.full()) return;
    const NodeRow& row = *state.nodes().find(name);
    // While its machine lives, the machine is the orphan.
    if (!state.instances().contains(row.node.provider_id)) remove_node(state, context, plan, row);
  }
}

}  // namespace karst::reconcilers
