#include "reconcilers/reconciler.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "reconcilers/list.h"

namespace karst::reconcilers {

// What is leaving is decided before what is new, so that provisioning sees the demand that leaving
// nodes raise; retry comes first, because a command that ends unclear blocks the others; mirrors
// come last and show what the others have decided, a claim's way up or down before its drift. A
// shadow ends what they have asked for.
constexpr std::array kReconcilers{
    Reconciler{"retry", reconcile_retry, true},
    Reconciler{"interruption", reconcile_interruption, true},
    Reconciler{"repair", reconcile_repair},
    Reconciler{"lifecycle", reconcile_lifecycle},
    Reconciler{"termination", reconcile_termination},
    Reconciler{"orphans", reconcile_orphans},
    Reconciler{"emptiness", reconcile_emptiness, true},
    Reconciler{"static_pools", reconcile_static_pools},
    Reconciler{"provisioning", reconcile_provisioning, true},
    Reconciler{"mirror", reconcile_mirror},
    Reconciler{"drift", reconcile_drift},
    Reconciler{"pools", reconcile_pools},
    Reconciler{"node_classes", reconcile_node_classes, true},
    Reconciler{"overlays", reconcile_overlays},
    Reconciler{"buffers", reconcile_buffers},
    Reconciler{"shadow", reconcile_shadow, true},
};

std::span<const Reconciler> reconcilers() {
  return kReconcilers;
}

void Plan::add(events::Body body, model::Position causation, model::Position correlation) {
  KARST_CHECK(!full(), "a plan is bounded by kDecisionsPerPlanMax");
  decisions_.push_back({std::move(body), causation, correlation});
  next_ = model::Position(next_.value() + 1);
}

model::CommandId Plan::command(model::CommandSpec spec, std::string_view reason,
                               std::vector<model::Position> evidence, model::Position root) {
  const model::CommandId id = next_id();
  std::vector<model::Position> once;
  for (const model::Position position : evidence)
    if (position != model::Position() &&
        std::find(once.begin(), once.end(), position) == once.end())
      once.push_back(position);
  evidence = std::move(once);
  if (evidence.size() > model::kEvidenceMax) evidence.resize(model::kEvidenceMax);
  const model::Position causation = evidence.empty() ? model::Position() : evidence.front();
  add(model::Command{rule_, std::string(reason), std::move(evidence), std::move(spec)}, causation,
      root);
  return id;
}

void Plan::verdict(std::string subject, std::string_view code, std::vector<std::string> args,
                   model::Position causation) {
  const auto* known = state_.verdicts().find(std::pair<std::string, std::string>(subject, rule_));
  if (known != nullptr && known->verdict.code == code && known->verdict.args == args) return;
  if (full()) return;
  add(model::Verdict{std::move(subject), rule_, std::string(code), std::move(args)}, causation);
}

void Plan::nominate(model::Nomination nomination, model::Position causation) {
  add(std::move(nomination), causation);
}

void Plan::hold_provisioning(base::LogTime until) {
  add(events::ProvisioningHeld{until.value()}, {});
}

void Plan::attempt(model::Position command, std::uint32_t attempt) {
  add(model::AttemptStarted{command, attempt}, command);
}

void Plan::abandon(model::Position command, std::string_view reason, model::Position causation) {
  add(model::CommandAbandoned{command, std::string(reason)},
      causation == model::Position() ? command : causation);
}

}  // namespace karst::reconcilers
