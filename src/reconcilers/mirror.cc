// Mirrors: NodeClaim metadata and status, computed from the state and written when the API server
// shows something else.
#include "base/time.h"
#include "reconcilers/claim_status.h"
#include "reconcilers/drain.h"
#include "reconcilers/list.h"
#include "reconcilers/queries.h"

namespace karst::reconcilers {
namespace {

// Karpenter copies the machine's labels to the claim once, when it is launched.
model::Labels labels_to_add(const ClusterState& state, const Context& context,
                            const ClaimRow& row) {
  if (!row.launched() || model::has_label(row.claim.labels, model::kInstanceTypeLabel)) return {};
  model::Labels labels = machine_labels(state, context, row);
  std::erase_if(labels, [&](const auto& label) {
    return model::has_label(row.claim.labels, label.first);  // the claim's own win
  });
  return labels;
}

// The deadline of a claim that goes, for everybody to see. One that is there and no later is kept.
model::Labels annotations_to_add(const ClaimRow& row) {
  model::Labels annotations;
  const auto deadline = forced_deadline_millis(row);
  if (!deadline) return annotations;
  const std::string_view shown =
      model::label_value(row.claim.annotations, model::kTerminationTimestampAnnotation);
  const auto shown_millis = base::parse_rfc3339(shown);
  if (shown.empty() || (shown_millis && *shown_millis > *deadline))
    model::set_label(annotations, model::kTerminationTimestampAnnotation,
                     base::format_rfc3339_seconds(*deadline));
  return annotations;
}

template <class Value>
bool shows(const Value& observed, const Value& wanted) {
  return wanted == Value() || observed == wanted;  // what is not known is not said
}

bool shows(const model::NodeClaim& observed, const model::MirrorClaim& wanted) {
  return wanted.labels.empty() && wanted.annotations.empty() &&
         shows(observed.provider_id, wanted.provider_id) &&
         shows(observed.node_name, wanted.node_name) && shows(observed.capacity, wanted.capacity) &&
         shows(observed.allocatable, wanted.allocatable);
}

}  // namespace

ClaimMirror mirror_of(const ClusterState& state, const Context& context, const ClaimRow& row) {
  ClaimMirror result;
  // Before its launch a claim has nothing to tell but why that failed; at its end it goes anyhow.
  if (!row.observed || row.gone_at.value() != 0 || !row.claim.has_finalizer ||
      (!row.launched() && !row.launch_refused))
    return result;
  const Conditions conditions = claim_conditions(state, context, row);
  model::MirrorClaim& mirror = result.command;
  mirror.name = row.claim.name;
  mirror.uid = row.claim.uid;
  mirror.labels = labels_to_add(state, context, row);
  mirror.annotations = annotations_to_add(row);
  mirror.provider_id = row.instance.provider_id;
  mirror.node_name = row.registered_at.value() != 0 ? row.node : model::NodeName();
  mirror.image = row.instance.image;
  mirror.capacity = row.instance.capacity;
  mirror.allocatable = row.instance.allocatable;
  result.is_news = conditions.differ() || !shows(row.claim, mirror);
  mirror.conditions = conditions.said();
  mirror.cleared = conditions.cleared();
  return result;
}

void reconcile_mirror(const ClusterState& state, const Context& context, Plan& plan) {
  if (!state.listed("NodeClaim") || !state.listed("Node")) return;
  for (const model::ClaimName& name : state.restless()) {
    if (plan.full()) return;
    const ClaimRow& row = *state.claims().find(name);
    if (!ours(row, context)) continue;
    ClaimMirror mirror = mirror_of(state, context, row);
    if (mirror.is_news &&
        may_issue(state, context, plan, claim_subject(name), model::CommandKind::kMirrorClaim))
      plan.command(std::move(mirror.command), "status", {row.position}, row.root);
  }
}

}  // namespace karst::reconcilers
