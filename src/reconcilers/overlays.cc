// NodeOverlays: whether each is applied, shown in its status with Karpenter's conditions (v1.14).
// All are judged anew when one of them, a pool, or what a node class offers has changed: that goes
// over every offering, and what came of it is kept as verdicts.
#include <algorithm>

#include "base/sha256.h"
#include "reconcilers/conditions.h"
#include "reconcilers/explained.h"
#include "reconcilers/list.h"
#include "reconcilers/offered.h"
#include "reconcilers/pool_rules.h"

namespace karst::reconcilers {
namespace {

constexpr std::string_view kRule = "overlays";
constexpr std::string_view kSubjectOfAll = "nodeoverlays";

std::string subject_of(const model::NodeOverlay& overlay) {
  return model::status_subject(std::string(model::NodeOverlay::kKind), {}, overlay.name);
}

// Everything that the judgement rests on, by version.
std::string inputs_of(const ClusterState& state, const Context& context) {
  std::string text;
  const auto add = [&](const std::string& name, const std::string& uid, std::int64_t version) {
    text += name + ' ' + uid + ' ' + std::to_string(version) + '\n';
  };
  state.for_each<model::NodeOverlay>([&](const model::NodeOverlay& overlay, const auto&) {
    add(overlay.name, overlay.uid, overlay.generation);
  });
  for (const auto& [name, slot] : state.pools().slots())
    if (context.provider.understands(slot.row.pool.node_class))
      add(name.str(), slot.row.pool.uid, slot.row.pool.generation);
  for (const auto& [ref, slot] : state.node_classes().slots()) {
    add(ref.name, slot.row.node_class.uid, slot.row.node_class.generation);
    add("resolved", "", static_cast<std::int64_t>(slot.row.resolved_position.value()));
  }
  return base::hex_lower(base::sha256(text));
}

// Says of each overlay what it is; changes are the plan's verdicts.
void judge(const ClusterState& state, const Context& context, Plan& plan, std::string inputs) {
  const std::vector<std::string> conflicts = Offered(state, context).conflicts();
  state.for_each<model::NodeOverlay>([&](const model::NodeOverlay& overlay, const auto& row) {
    std::string fault = invalid_overlay(state, overlay);
    if (!fault.empty())
      plan.verdict(subject_of(overlay), "RuntimeValidation", {std::move(fault)}, row.position);
    else if (std::find(conflicts.begin(), conflicts.end(), overlay.name) != conflicts.end())
      plan.verdict(subject_of(overlay), "Conflict", {"conflict with another overlay"},
                   row.position);
    else
      plan.verdict(subject_of(overlay), kValidationSucceeded, {}, row.position);
  });
  plan.verdict(std::string(kSubjectOfAll), "judged", {std::move(inputs)}, {});
}

const model::Verdict* verdict_of(const ClusterState& state, std::string subject) {
  const auto* row = state.verdicts().find(std::pair(std::move(subject), std::string(kRule)));
  return row == nullptr ? nullptr : &row->verdict;
}

void show(const ClusterState& state, const Context& context, Plan& plan,
          const model::NodeOverlay& overlay, const projections::ObjectRow& row) {
  const model::Verdict* verdict = verdict_of(state, subject_of(overlay));
  if (verdict == nullptr) return;
  model::MirrorStatus mirror;
  mirror.group = "karpenter.sh";
  mirror.kind = model::NodeOverlay::kKind;
  mirror.name = overlay.name;
  mirror.uid = overlay.uid;
  Conditions conditions(told_conditions(state, mirror), overlay.generation);
  if (verdict->code == kValidationSucceeded)
    conditions.set_true(kValidationSucceeded, context.now);
  else
    conditions.set(kValidationSucceeded, model::ConditionStatus::kFalse, verdict->code,
                   verdict->args.empty() ? "" : verdict->args.front(), context.now);
  conditions.set_root({kValidationSucceeded}, context.now);
  explain_status(state, context, plan, std::move(mirror), conditions, row.position);
}

}  // namespace

void reconcile_overlays(const ClusterState& state, const Context& context, Plan& plan) {
  if (!state.config().node_overlay) return;
  for (const std::string_view kind : {"NodeOverlay", "NodePool", "NodeClass"})
    if (!state.listed(kind)) return;
  bool any = false;
  state.for_each<model::NodeOverlay>([&](const auto&, const auto&) { any = true; });
  if (!any) return;
  std::string inputs = inputs_of(state, context);
  const model::Verdict* judged = verdict_of(state, std::string(kSubjectOfAll));
  if (judged == nullptr || judged->args.front() != inputs) {
    judge(state, context, plan, std::move(inputs));
    return plan.wake_at(context.now);  // the verdicts are the state's in the next round
  }
  state.for_each<model::NodeOverlay>([&](const model::NodeOverlay& overlay, const auto& row) {
    show(state, context, plan, overlay, row);
  });
}

}  // namespace karst::reconcilers
