#include "reconcilers/queries.h"

#include <algorithm>

namespace karst::reconcilers {

bool may_issue(const ClusterState& state, const Context& context, Plan& plan,
               const std::string& subject, model::CommandKind kind) {
  if (plan.full() || state.open_command(subject, kind) != nullptr) return false;
  const LogTime not_before = state.not_before(subject, kind);
  if (not_before <= context.now) return true;
  plan.wake_at(not_before);
  return false;
}

bool may_make_claim(const ClusterState& state, const Context& context, Plan& plan,
                    const model::PoolName& pool) {
  constexpr model::CommandKind kCreate = model::CommandKind::kCreateNodeClaim;
  const std::string subject = pool_subject(pool);
  if (may_issue(state, context, plan, subject, kCreate)) return true;
  const auto* row = state.pools().find(pool);
  const auto* refused = state.back_offs().find(projections::SubjectKind(subject, kCreate));
  if (row != nullptr && refused != nullptr)
    plan.verdict(subject, "claims_refused", {std::string(model::refusal_code_name(refused->code))},
                 row->position);
  return false;
}

void request_delete(const ClusterState& state, const Context& context, Plan& plan,
                    const ClaimRow& row, std::string_view why, std::vector<Position> evidence,
                    Position root) {
  if (row.claim.deletion_millis != 0 || row.claim.uid.empty()) return;
  if (!may_issue(state, context, plan, claim_subject(row.claim.name),
                 model::CommandKind::kDeleteObject))
    return;
  evidence.push_back(row.position);
  plan.command(model::DeleteObject{{model::ObjectKind::kNodeClaim, "", row.claim.name.str(),
                                    row.claim.uid.str()}},
               why, std::move(evidence), root);
}

void set_disrupted(const ClusterState& state, const Context& context, Plan& plan,
                   const ClaimRow& row, const NodeRow& node, bool add, std::string_view why,
                   std::vector<Position> evidence, Position root) {
  if ((node.tainted_at != Position()) == add) return;
  if (!may_issue(state, context, plan, node_subject(node.node.name),
                 model::CommandKind::kTaintNode))
    return;
  evidence.push_back(node.position);
  evidence.push_back(row.position);
  model::TaintNode taint;
  taint.node = node.node.name;
  taint.uid = node.node.uid;
  taint.taint = {std::string(model::kDisruptedTaintKey), "", model::TaintEffect::kNoSchedule};
  taint.add = add;
  plan.command(std::move(taint), why, std::move(evidence), root);
}

bool read_back_is_fresh(const ClusterState& state, LogTime now, const NodeRow& node) {
  return node.tainted_at != Position() && node.read_back_position > node.tainted_at &&
         now - node.read_back_at < state.config().read_back_age_millis;
}

void request_read_back(const ClusterState& state, const Context& context, Plan& plan,
                       const NodeRow& node, std::string_view why, Position root) {
  if (!may_issue(state, context, plan, node_subject(node.node.name),
                 model::CommandKind::kReadBackNode))
    return;
  plan.command(model::ReadBackNode{node.node.name, node.node.uid}, why,
               {node.tainted_at, node.position}, root);
}

namespace {
bool listed(const ClusterState& state, std::initializer_list<std::string_view> kinds) {
  return std::all_of(kinds.begin(), kinds.end(),
                     [&](std::string_view kind) { return state.listed(kind); });
}
}  // namespace

bool offers_listed(const ClusterState& state) {
  return listed(state, {"NodePool", "NodeClass"}) &&
         (!state.config().node_overlay || state.listed("NodeOverlay"));
}

bool all_listed(const ClusterState& state) {
  return offers_listed(state) &&
         listed(state, {"Pod", "Node", "NodeClaim", "DaemonSet", "Instance", "Namespace",
                        "PersistentVolumeClaim", "PersistentVolume", "StorageClass", "CSINode"}) &&
         (!state.config().capacity_buffer ||
          listed(state,
                 {"CapacityBuffer", "PodTemplate", "Deployment", "ReplicaSet", "StatefulSet"}));
}

const model::Catalogue& catalogue(const ClusterState& state, const Context& context) {
  const auto* row = state.catalogues().find(context.provider.name());
  return row == nullptr ? context.provider.embedded_catalogue() : row->catalogue;
}

model::Resources reserved_capacity(const ClusterState& state, const ClaimRow& row) {
  if (row.launched()) return row.instance.capacity;
  model::Resources most;
  const auto* known = state.catalogues().find(state.config().provider);
  if (known == nullptr) return row.claim.requests;
  std::vector<model::RequirementSpec> specs;
  for (const model::RequirementSpec& spec : row.claim.requirements)
    if (spec.key == model::kInstanceTypeLabel) specs.push_back(spec);
  const model::Requirements requirements(specs);
  const model::ValueSet* types = requirements.find(model::kInstanceTypeLabel);
  for (const model::InstanceType& type : known->catalogue.types)
    if (types == nullptr || types->contains(type.name)) most = model::max_of(most, type.capacity);
  return most;
}

std::optional<std::int64_t> forced_deadline_millis(const ClaimRow& row) {
  if (row.claim.deletion_millis == 0) return std::nullopt;
  const std::string_view annotated =
      model::label_value(row.claim.annotations, model::kTerminationTimestampAnnotation);
  auto deadline = base::parse_rfc3339(annotated);
  if (!deadline && row.claim.termination_grace_millis)
    deadline = row.claim.deletion_millis + *row.claim.termination_grace_millis;
  if (row.delete_reason != kUnhealthy || row.delete_requested_at.value() == 0) return deadline;
  const std::int64_t now = row.delete_requested_at.value();
  return deadline ? std::min(*deadline, now) : now;
}

model::Labels machine_labels(const ClusterState& state, const Context& context,
                             const ClaimRow& row) {
  model::Labels labels;
  const model::Offer& offer = row.instance.offer;
  if (!row.launched() || offer.instance_type.empty()) return labels;
  const auto& types = context.class_types.of(state, context.provider, row.claim.node_class);
  const auto type = std::find_if(types.begin(), types.end(), [&](const model::InstanceType& one) {
    return one.name == offer.instance_type;
  });
  if (type != types.end()) {
    for (const model::RequirementSpec& spec : type->requirements)
      if (spec.op == model::Operator::kIn && spec.values.size() == 1 &&
          spec.key != model::kHostnameLabel)
        model::set_label(labels, spec.key, spec.values.front());
    for (const model::Offering& one : type->offerings)
      if (one.zone == offer.zone && one.capacity_type == offer.capacity_type &&
          one.reservation == offer.reservation)
        for (const auto& [key, value] : one.labels)
          if (!value.empty()) model::set_label(labels, key, value);
  }
  for (const auto& [key, value] : {std::pair{model::kInstanceTypeLabel, &offer.instance_type},
                                   std::pair{model::kZoneLabel, &offer.zone},
                                   std::pair{model::kCapacityTypeLabel, &offer.capacity_type}})
    if (!value->empty()) model::set_label(labels, key, *value);
  return labels;
}

}  // namespace karst::reconcilers
