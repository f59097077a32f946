// What is only counted: pods that run, answers of the cloud, what a removal meant.
#include "daemon/scene.h"

namespace karst::daemon {
namespace {

std::string_view method_of(model::CommandKind kind) {
  if (kind == model::CommandKind::kLaunch) return "Create";
  return kind == model::CommandKind::kTerminate ? "Delete" : "Get";
}

// Karpenter's class of an error; "done" when it is none.
std::string error_class(const model::Outcome& outcome) {
  if (outcome.kind == model::OutcomeKind::kDone) return "done";
  if (outcome.code == model::RefusalCode::kCapacity) return "InsufficientCapacityError";
  return outcome.code == model::RefusalCode::kGone ? "NodeClaimNotFoundError" : "";
}

std::string mode_of(const model::NodeClaim& claim) {
  if (!claim.termination_grace_millis) return "graceful";
  return *claim.termination_grace_millis > 0 ? "eventual" : "forceful";
}

}  // namespace

void Watcher::pod_runs(const Scene& scene, const model::Pod& pod) {
  if (pod.phase != model::PodPhase::kRunning || starting_.erase(pod.uid) == 0) return;
  Happening h = scene.blank(HappeningKind::kPodRuns);
  h.namespace_name = pod.namespace_name;
  h.pod = pod.name;
  h.millis = scene.envelope.log_time.value() - pod.creation_millis;
  scene.tell(std::move(h));
}

void Watcher::cloud_answered(const Scene& scene, const model::Outcome& outcome) {
  const auto at = sent_.find(outcome.command);
  if (at == sent_.end()) return;
  Happening h = scene.blank(HappeningKind::kCloudAnswered);
  h.reason = method_of(at->second.first);
  h.text = error_class(outcome);
  h.millis = scene.envelope.log_time - at->second.second;
  if (outcome.kind != model::OutcomeKind::kUnclear) sent_.erase(at);
  scene.tell(std::move(h));
}

// What the removal of a claim means to its pods, and by which rules it goes.
void Watcher::add_removal(const Scene& scene, Happening& h) const {
  if (const auto* row = scene.state.claims().find(model::ClaimName(h.claim)))
    h.mode = mode_of(row->claim);
  if (const auto* pods = scene.state.pods().on(h.node)) h.count = pods->reschedulable;
  const auto* pool = scene.state.pools().find(model::PoolName(h.pool));
  if (pool == nullptr || (h.reason != "empty" && h.reason != "underutilized")) return;
  h.policy = pool->pool.consolidation_policy == model::ConsolidationPolicy::kWhenEmpty
                 ? "WhenEmpty"
                 : "WhenEmptyOrUnderutilized";
}

}  // namespace karst::daemon
