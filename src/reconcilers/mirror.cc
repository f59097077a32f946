// Mirrors: NodeClaim labels and status, computed from the state and written when the API server
// shows something else.
#include <algorithm>

#include "reconcilers/list.h"
#include "reconcilers/queries.h"

namespace karst::reconcilers {
namespace {

model::Condition condition(std::string type, LogTime since, std::string waiting_reason,
                           const ClaimRow& row) {
  model::Condition result;
  result.type = std::move(type);
  const bool is_true = since.value() != 0;
  result.status = is_true ? model::ConditionStatus::kTrue : model::ConditionStatus::kUnknown;
  result.reason = is_true ? result.type : std::move(waiting_reason);
  result.transition_millis = is_true ? since.value() : row.claim.creation_millis;
  return result;
}

// Karpenter's conditions of a NodeClaim: Ready is true when the three others are. Sorted by type.
std::vector<model::Condition> conditions(const ClaimRow& row, const NodeRow* node) {
  const LogTime ready = row.launched_at.value() != 0 && row.registered_at.value() != 0
                            ? row.initialized_at
                            : LogTime(0);
  std::vector<model::Condition> result;
  result.push_back(condition("Initialized", row.initialized_at,
                             node == nullptr ? "NodeNotFound" : "NodeNotReady", row));
  result.push_back(condition("Launched", row.launched_at, "AwaitingReconciliation", row));
  result.push_back(condition("Ready", ready, "ReconcilingDependents", row));
  result.push_back(condition("Registered", row.registered_at, "NodeNotFound", row));
  if (ready.value() != 0)
    for (model::Condition& one : result)
      if (one.type == "Ready") one.reason = "Ready";
  return result;
}

bool shows(const model::NodeClaim& observed, const model::MirrorClaim& wanted) {
  for (const auto& [key, value] : wanted.labels)
    if (model::label_value(observed.labels, key) != value) return false;
  if (observed.provider_id != wanted.provider_id || observed.node_name != wanted.node_name)
    return false;
  if (!(observed.capacity == wanted.capacity) || !(observed.allocatable == wanted.allocatable))
    return false;
  return std::all_of(
      wanted.conditions.begin(), wanted.conditions.end(), [&](const model::Condition& one) {
        return std::any_of(observed.conditions.begin(), observed.conditions.end(),
                           [&](const model::Condition& other) {
                             return other.type == one.type && other.status == one.status &&
                                    other.reason == one.reason;
                           });
      });
}

model::Labels labels_of(const ClaimRow& row) {
  model::Labels labels;
  const model::Offer& offer = row.instance.offer;
  for (const auto& [key, value] : {std::pair{model::kInstanceTypeLabel, &offer.instance_type},
                                   std::pair{model::kZoneLabel, &offer.zone},
                                   std::pair{model::kCapacityTypeLabel, &offer.capacity_type}})
    if (!value->empty()) model::set_label(labels, key, *value);
  return labels;
}

}  // namespace

void reconcile_mirror(const ClusterState& state, const Context& context, Plan& plan) {
  if (!state.listed("NodeClaim") || !state.listed("Node")) return;
  for (const model::ClaimName& name : state.restless()) {
    if (plan.full()) return;
    const ClaimRow& row = *state.claims().find(name);
    if (!row.observed || !row.launched() || row.claim.deletion_millis != 0 || !ours(row, context))
      continue;
    const NodeRow* node = state.node_of(row);
    model::MirrorClaim mirror;
    mirror.name = name;
    mirror.uid = row.claim.uid;
    mirror.labels = labels_of(row);
    mirror.provider_id = row.instance.provider_id;
    mirror.node_name = row.registered_at.value() != 0 ? row.node : model::NodeName();
    mirror.image = row.instance.image;
    mirror.capacity = row.instance.capacity;
    mirror.allocatable = row.instance.allocatable;
    mirror.conditions = conditions(row, node);
    if (shows(row.claim, mirror)) continue;
    if (may_issue(state, context, plan, claim_subject(name), model::CommandKind::kMirrorClaim))
      plan.command(std::move(mirror), "status", {row.position}, row.root);
  }
}

}  // namespace karst::reconcilers
