// What only the objects' own events tell: conditions, deadlines, pods without a place, drains that
// wait.
#include <algorithm>

#include "daemon/scene.h"
#include "reconcilers/drain.h"

namespace karst::daemon {
namespace {

std::string status_name(model::ConditionStatus status) {
  if (status == model::ConditionStatus::kTrue) return "True";
  return status == model::ConditionStatus::kFalse ? "False" : "Unknown";
}

// Karpenter (v1.14) ignores such a pod without a word.
bool declines_every_pool(const model::PodShape& shape) {
  if (shape.required_terms.empty()) return false;
  const auto& first = shape.required_terms.front().expressions;
  return std::any_of(first.begin(), first.end(), [](const model::RequirementSpec& one) {
    return one.key == model::kNodePoolLabel && one.op == model::Operator::kDoesNotExist;
  });
}

// What the first list of a log shows has happened before it: nobody is told.
void know(const model::NodeClaim& claim, ClaimMemo& memo) {
  remember(claim.conditions, memo.conditions);
  const auto is_true = [&](const char* type) {
    const auto seen = memo.conditions.find(type);
    return seen != memo.conditions.end() && seen->second.status == model::ConditionStatus::kTrue;
  };
  memo.created = true;
  memo.registered = is_true("Registered");
  memo.initialized = is_true("Initialized");
}

}  // namespace

std::int64_t deadline_of(const model::NodeClaim& claim) {
  if (claim.deletion_millis == 0) return 0;
  const auto annotated = base::parse_rfc3339(
      model::label_value(claim.annotations, model::kTerminationTimestampAnnotation));
  if (annotated) return *annotated;
  return claim.termination_grace_millis ? claim.deletion_millis + *claim.termination_grace_millis
                                        : 0;
}

void Watcher::claim_observed(const Scene& scene, const model::NodeClaim& claim) {
  const auto [at, is_new] = claims_.try_emplace(claim.name.str());
  ClaimMemo& memo = at->second;
  if (is_new && !scene.state.listed("NodeClaim")) know(claim, memo);
  memo.pool = claim.pool.str();
  memo.uid = claim.uid.str();
  memo.deletion_millis = claim.deletion_millis;
  if (memo.provider_id.empty() && !claim.provider_id.empty()) {  // launched by another
    memo.provider_id = claim.provider_id.str();
    if (const auto* row = scene.state.claims().find(claim.name)) memo.offer = row->instance.offer;
  }
  conditions_changed(scene, about_claim(scene, HappeningKind::kConditionChanged, claim.name.str()),
                     claim.conditions, memo.conditions);
  if (claim.deletion_millis == 0 || std::exchange(memo.leaving, true)) return;
  memo.deadline_millis = deadline_of(claim);
  if (memo.deadline_millis == 0) return;
  Happening h = about_claim(scene, HappeningKind::kDeadlineSet, claim.name.str());
  h.millis = memo.deadline_millis;
  scene.tell(std::move(h));
}

void Watcher::pool_observed(const Scene& scene, const model::NodePool& pool) {
  const auto [at, is_new] = pool_conditions_.try_emplace(pool.name.str());
  if (is_new && !scene.state.listed("NodePool")) remember(pool.conditions, at->second);
  Happening about = scene.blank(HappeningKind::kConditionChanged);
  about.pool = pool.name.str();
  about.pool_uid = pool.uid;
  conditions_changed(scene, about, pool.conditions, at->second);
}

void Watcher::verdict(const Scene& scene, const model::Verdict& verdict) {
  const bool of_claim = verdict.subject.starts_with("nodeclaim/");
  Happening h = about_claim(scene, HappeningKind::kVerdict,
                            of_claim ? verdict.subject.substr(10) : std::string());
  h.text = verdict.subject;
  h.reason = verdict.code;
  h.args = verdict.args;
  if (verdict.code == "blocked_by_budget" && !verdict.args.empty()) h.pool = verdict.args[0];
  if (verdict.subject.starts_with("nodepool/")) h.pool = verdict.subject.substr(9);
  if (verdict.subject.starts_with("node/")) h.node = verdict.subject.substr(5);
  if (verdict.subject.starts_with("nodeclass/"))
    for (const auto& [ref, slot] : scene.state.node_classes().slots())
      if (verdict.subject.substr(10) == ref.name) h.uids = {slot.row.node_class.uid};
  if (const auto* node = scene.state.nodes().find(model::NodeName(h.node)))
    h.node_uid = node->node.uid.str();
  if (const auto* pool = scene.state.pools().find(model::PoolName(h.pool)))
    h.pool_uid = pool->pool.uid;
  const std::string node = h.node;
  scene.tell(std::move(h));
  if (verdict.code != "blocked_by_pod" || node.empty()) return;
  drain_waits(scene, node);
  held_pods(scene, node);
}

// Pods whose annotation keeps them on a leaving node for a time.
void Watcher::held_pods(const Scene& scene, const std::string& node) {
  const base::LogTime now = scene.envelope.log_time;
  for (const projections::PodRow* pod :
       reconcilers::leaving_pods(scene.state, model::NodeName(node), now)) {
    if (pod->shape->do_not_disrupt != model::DoNotDisrupt::kForDuration || pod->start_millis == 0 ||
        !reconcilers::held_by_annotation(*pod, now))
      continue;
    Happening h = scene.blank(HappeningKind::kPodHeldUntil);
    h.namespace_name = *pod->namespace_name;
    h.pod = pod->name;
    h.pod_uid = pod->uid.str();
    h.millis = pod->start_millis + pod->shape->do_not_disrupt_millis;
    scene.tell(std::move(h));
  }
}

void Watcher::conditions_changed(const Scene& scene, const Happening& about,
                                 const std::vector<model::Condition>& now, ConditionMemo& memo) {
  for (const model::Condition& condition : now) {
    const auto [at, is_new] = memo.try_emplace(condition.type);
    ConditionSeen& seen = at->second;
    if (seen.status != condition.status) {
      Happening h = about;
      h.reason = condition.type;
      h.args = {status_name(seen.status), status_name(condition.status), condition.reason,
                condition.message};
      if (seen.transition_millis != 0)
        h.millis = condition.transition_millis - seen.transition_millis;
      scene.tell(std::move(h));
    }
    seen = {condition.status, condition.transition_millis};
  }
}

void remember(const std::vector<model::Condition>& conditions, ConditionMemo& memo) {
  for (const model::Condition& condition : conditions)
    memo[condition.type] = {condition.status, condition.transition_millis};
}

// Karpenter expects a machine to bring karpenter.sh/unregistered until it is registered.
void Watcher::node_joined(const Scene& scene, const model::Node& node,
                          const projections::ClaimRow& claim) {
  const bool registered = model::has_label(node.labels, model::kRegisteredLabel);
  const bool tainted = std::any_of(
      node.taints.begin(), node.taints.end(),
      [](const model::Taint& taint) { return taint.key == model::kUnregisteredTaintKey; });
  if (registered || tainted) return;
  Happening h = about_claim(scene, HappeningKind::kTaintMissing, claim.claim.name.str());
  h.node = node.name.str();
  h.node_uid = node.uid.str();
  scene.tell(std::move(h));
}

// A pass left pods behind: each of those whose shape has no place, with the verdict's words.
void Watcher::unplaced(const Scene& scene) {
  const auto& pools = scene.state.pools().slots();
  if (std::none_of(pools.begin(), pools.end(), [](const auto& entry) {
        return !entry.second.row.pool.replicas && entry.second.row.pool.deletion_millis == 0;
      }))
    scene.tell(scene.blank(HappeningKind::kNoPools));
  std::size_t told = 0;
  for (const std::string_view uid : scene.state.pods().pending()) {
    const projections::PodRow& pod = scene.state.pods().row_of(uid);
    const auto* verdict = scene.state.verdicts().find(
        std::pair<std::string, std::string>("shape/" + to_string(pod.shape_hash), "provisioning"));
    if (pod.expected_until.value() != 0 || verdict == nullptr ||
        verdict->verdict.code != "unplaced" || declines_every_pool(*pod.shape))
      continue;
    if (++told > kUnplacedToldMax) return;
    Happening h = scene.blank(HappeningKind::kPodUnplaced);
    h.namespace_name = *pod.namespace_name;
    h.pod = pod.name;
    h.pod_uid = pod.uid.str();
    h.args = verdict->verdict.args;
    if (const auto wait = waiting_.find(pod.uid); wait != waiting_.end())
      decide(wait->second, scene, false, h);
    scene.tell(std::move(h));
  }
}

void Watcher::claim_refused(const Scene& scene, const model::CreateNodeClaim& create,
                            const model::Outcome& outcome) {
  const std::string pool = create.claim.pool.str();
  claims_.erase(create.claim.name.str());
  const auto [told, is_first] = refusals_told_.try_emplace(pool, scene.envelope.log_time);
  if (!is_first && scene.envelope.log_time - told->second < base::kMillisPerSecond) return;
  told->second = scene.envelope.log_time;
  Happening h = scene.blank(HappeningKind::kClaimRefused);
  h.claim = create.claim.name.str();
  h.pool = pool;
  h.reason = model::refusal_code_name(outcome.code);
  h.text = outcome.message;
  scene.tell(std::move(h));
}

void Watcher::eviction_held(const Scene& scene, const model::EvictPod& evict,
                            const model::Outcome& outcome) {
  Happening h = about_claim(scene, HappeningKind::kEvictionHeld, claim_of_node(evict.node.str()));
  h.node = evict.node.str();
  h.namespace_name = evict.namespace_name;
  h.pod = evict.name;
  h.pod_uid = evict.uid.str();
  h.reason = model::refusal_code_name(outcome.code);
  h.text = outcome.message;
  scene.tell(std::move(h));
}

void Watcher::drain_waits(const Scene& scene, const std::string& node) {
  Happening h = about_claim(scene, HappeningKind::kDrainWaits, claim_of_node(node));
  h.node = node;
  h.count = static_cast<std::int64_t>(
      reconcilers::leaving_pods(scene.state, model::NodeName(node), scene.envelope.log_time)
          .size());
  if (h.count > 0) scene.tell(std::move(h));
}

void Watcher::forced(const Scene& scene, const model::EvictPod& evict, Happening& happening) const {
  happening.count = evict.grace_seconds;
  const auto memo = claims_.find(happening.claim);
  if (memo != claims_.end()) happening.millis = memo->second.deadline_millis;
  if (const projections::PodRow* pod = scene.state.pods().find(evict.uid.str()))
    happening.args = {std::to_string(pod->shape->grace_seconds)};
}

}  // namespace karst::daemon
