// Orphans in both directions. An instance with our tag whose claim does not exist, or whose attempt the claim did not get, is
// looked up by id and terminated; a launched claim whose instance the cloud no longer lists is looked up by id, because absence
// from a list proves nothing.
#include "reconcilers/list.h"
#include "reconcilers/queries.h"

namespace karst::reconcilers {
namespace {

// The claim that rightly owns the instance.
bool owned(const ClusterState& state, const model::Instance& instance) {
  const ClaimRow* claim = state.claim_by_uid(instance.claim);
  if (claim == nullptr) return false;
  if (claim->launched()) return claim->instance.provider_id == instance.provider_id;
  // Its order may still be under way; retry and lifecycle end that.
  return !claim->launch_refused && claim->attempts == instance.attempt;
}

void look_up(const ClusterState& state, const Context& context, Plan& plan, const projections::InstanceRow& row, std::string_view why) {
  if (may_issue(state, context, plan, "instance/" + row.instance.provider_id.str(), model::CommandKind::kFindInstances))
    plan.command(model::FindInstances{row.instance.claim, row.instance.provider_id}, why, {row.position});
}

void remove_orphan(const ClusterState& state, const Context& context, Plan& plan, const projections::InstanceRow& row) {
  const LogTime due = row.seen_at + state.config().orphan_grace_millis;
  if (due > context.now) return plan.wake_at(due);
  const std::string subject = "instance/" + row.instance.provider_id.str();
  if (row.found_at.value() == 0 || context.now - row.found_at >= state.config().read_back_age_millis)
    return look_up(state, context, plan, row, "orphan");
  if (row.instance.state == model::InstanceState::kShuttingDown) return plan.wake_at(row.found_at + state.config().read_back_age_millis);
  plan.verdict(subject, "orphan", {row.instance.claim.str()}, row.position);
  if (may_issue(state, context, plan, subject, model::CommandKind::kTerminate))
    plan.command(model::Terminate{row.instance.provider_id, row.instance.claim}, "orphan", {row.position});
}

}  // namespace

void reconcile_orphans(const ClusterState& state, const Context& context, Plan& plan) {
  if (!state.listed("NodeClaim") || !state.listed("Instance")) return;
  for (const auto& [id, slot] : state.instances().slots()) {
    if (plan.full()) return;
    if (!owned(state, slot.row.instance))
      remove_orphan(state, context, plan, slot.row);
    else if (slot.row.missing)
      look_up(state, context, plan, slot.row, "missing_from_list");
  }
}

}  // namespace karst::reconcilers
