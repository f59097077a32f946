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
  const auto at = starting_.find(pod.uid);
  if (pod.phase != model::PodPhase::kRunning || at == starting_.end()) return;
  Happening h = scene.blank(HappeningKind::kPodRuns);
  h.namespace_name = pod.namespace_name;
  h.pod = pod.name;
  h.millis = scene.envelope.log_time.value() - pod.creation_millis;
  if (at->second.value() != 0) h.placed_millis = scene.envelope.log_time - at->second;
  starting_.erase(at);
  scene.tell(std::move(h));
}

// The first decision about a pod that waits, and its first place.
void Watcher::decide(WaitMemo& wait, const Scene& scene, bool placed, Happening& h) const {
  const base::LogTime now = scene.envelope.log_time;
  if (!std::exchange(wait.decided, true)) h.decided_millis.push_back(now - wait.seen);
  if (placed && wait.placed.value() == 0 && wait.seen.value() != 0) wait.placed = now;
}

// A look-up that did not find the instance any more, after it was terminated.
void Watcher::instance_gone(const Scene& scene, const model::Outcome& outcome) const {
  const auto at = sent_.find(outcome.command);
  if (at == sent_.end() || at->second.looked_up.empty()) return;
  const projections::ClaimRow* row = scene.state.claim_by_uid(at->second.looked_up);
  if (row == nullptr || row->gone_at != scene.envelope.log_time ||
      row->terminate_requested_at.value() == 0)
    return;
  Happening h = about_claim(scene, HappeningKind::kInstanceGone, row->claim.name.str());
  h.millis = row->gone_at - row->terminate_requested_at;
  scene.tell(std::move(h));
}

void Watcher::cloud_answered(const Scene& scene, const model::Outcome& outcome) {
  const auto at = sent_.find(outcome.command);
  if (at == sent_.end()) return;
  Happening h = scene.blank(HappeningKind::kCloudAnswered);
  instance_gone(scene, outcome);
  h.reason = method_of(at->second.kind);
  h.text = error_class(outcome);
  h.millis = scene.envelope.log_time - at->second.time;
  if (outcome.kind != model::OutcomeKind::kUnclear) sent_.erase(at);
  scene.tell(std::move(h));
}

// Which of the node's conditions it is given up for, as Karpenter writes it, and its image.
void Watcher::add_trouble(const Scene& scene, Happening& h) const {
  const auto* node = scene.state.nodes().find(model::NodeName(h.node));
  const auto* row = scene.state.claims().find(model::ClaimName(h.claim));
  std::string condition;
  if (node != nullptr && !node->node.troubles.empty())
    for (const char letter : node->node.troubles.front().type) {
      const bool capital = letter >= 'A' && letter <= 'Z';
      if (capital && !condition.empty()) condition += '_';
      condition += static_cast<char>(capital ? letter - 'A' + 'a' : letter);
    }
  h.args = {condition, row == nullptr ? std::string() : row->instance.image};
}

// What the removal of a claim means to its pods, and by which rules it goes.
void Watcher::add_removal(const Scene& scene, Happening& h) const {
  if (const auto* row = scene.state.claims().find(model::ClaimName(h.claim))) {
    h.mode = mode_of(row->claim);
    const model::NodeClassRef& ref = row->claim.node_class;
    if (h.reason == "insufficient_capacity" && scene.state.node_classes().find(ref) == nullptr)
      h.text = ref.kind + " " + ref.name;
  }
  if (h.reason == "unhealthy") add_trouble(scene, h);
  if (const auto* pods = scene.state.pods().on(h.node)) h.count = pods->reschedulable;
  const auto* pool = scene.state.pools().find(model::PoolName(h.pool));
  if (pool == nullptr || (h.reason != "empty" && h.reason != "underutilized")) return;
  h.policy = pool->pool.consolidation_policy == model::ConsolidationPolicy::kWhenEmpty
                 ? "WhenEmpty"
                 : "WhenEmptyOrUnderutilized";
}

}  // namespace karst::daemon
