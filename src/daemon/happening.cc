#include "daemon/happening.h"

#include <utility>

#include "daemon/scene.h"
#include "events/codec.h"

namespace karst::daemon {

using events::EventType;
using model::CommandKind;

namespace {

// Whether the outcome of such a command is told; the others are reads and mirrors.
bool is_told(CommandKind kind) {
  switch (kind) {
    case CommandKind::kCreateNodeClaim:
    case CommandKind::kLaunch:
    case CommandKind::kTerminate:
    case CommandKind::kTaintNode:
    case CommandKind::kEvictPod:
      return true;
    case CommandKind::kDeleteObject:
    case CommandKind::kSetFinalizer:
    case CommandKind::kReadBackNode:
    case CommandKind::kFindInstances:
    case CommandKind::kSyncNode:
    case CommandKind::kMirrorClaim:
    case CommandKind::kMirrorPool:
    case CommandKind::kMirrorStatus:
    case CommandKind::kResolveNodeClass:
    case CommandKind::kSyncNodeClass:
    case CommandKind::kReleaseNodeClass:
      return false;
  }
  return false;
}

}  // namespace

void Watcher::prime(const projections::ClusterState& state) {
  for (const auto& [name, slot] : state.claims().slots()) {
    const projections::ClaimRow& row = slot.row;
    ClaimMemo& memo = claims_[name.str()];
    memo.pool = row.claim.pool.str();
    memo.node = row.node.str();
    memo.uid = row.claim.uid.str();
    memo.leaving = row.claim.deletion_millis != 0;
    memo.deletion_millis = row.claim.deletion_millis;
    memo.deadline_millis = deadline_of(row.claim);
    remember(row.claim.conditions, memo.conditions);
    if (const projections::NodeRow* node = state.node_of(row)) {
      memo.node_uid = node->node.uid.str();
      memo.node_creation_millis = node->node.creation_millis;
      memo.node_deletion_millis = node->node.deletion_millis;
    }
    memo.provider_id = row.instance.provider_id.str();
    memo.offer = row.instance.offer;
    memo.allocatable = row.instance.allocatable;
    memo.created = row.observed;
    memo.registered = row.registered_at.value() != 0;
    memo.initialized = row.initialized_at.value() != 0;
    if (!memo.node.empty()) claim_by_node_[memo.node] = name.str();
  }
  for (const auto& [name, slot] : state.pools().slots())
    remember(slot.row.pool.conditions, pool_conditions_[name.str()]);
  for (const auto& [position, slot] : state.commands().slots())
    if (is_told(model::kind_of(slot.row.command.spec))) open_[position] = slot.row.command;
  for (const std::string_view uid : state.pods().pending())
    waiting_[model::PodUid(uid)].decided = true;  // when, is not known
}

std::int64_t Watcher::fleet_price_nanos_per_hour() const {
  std::int64_t sum = 0;
  for (const auto& [name, memo] : claims_)
    if (!memo.provider_id.empty()) sum += memo.offer.price_nanos_per_hour;
  return sum;
}

void Watcher::see(const events::Event& event, const projections::ClusterState& state,
                  std::vector<Happening>& out) {
  const Scene scene{event.envelope, state, out};
  switch (event.envelope.type) {  // the many that nobody is told about are not even decoded
    case EventType::kShapeRecorded:
    case EventType::kRoundClosed:
    case EventType::kSourceBeat:
    case EventType::kListStarted:
    case EventType::kListEnded:
    case EventType::kInstanceObserved:
    case EventType::kCatalogueObserved:
    case EventType::kPricesObserved:
      return;
    default:
      break;
  }
  const events::Body body = events::decode_body(event);
  if (const auto* e = std::get_if<events::PodObserved>(&body)) return pod_observed(scene, e->pod);
  if (const auto* e = std::get_if<events::PodGone>(&body)) return pod_gone(scene, *e);
  if (const auto* e = std::get_if<events::NodeObserved>(&body))
    return node_observed(scene, e->node);
  if (const auto* e = std::get_if<events::NodeClaimGone>(&body)) return claim_gone(scene, *e);
  if (const auto* e = std::get_if<events::InterruptionReceived>(&body))
    return interrupted(scene, e->interruption);
  if (const auto* e = std::get_if<model::Command>(&body))
    return state.config().shadow ? not_sent(scene, *e) : command(scene, *e);
  if (const auto* e = std::get_if<model::Outcome>(&body)) return outcome(scene, *e);
  if (const auto* e = std::get_if<model::Nomination>(&body)) return expected(scene, *e);
  if (const auto* e = std::get_if<events::NodeClaimObserved>(&body))
    return claim_observed(scene, e->claim);
  if (std::holds_alternative<events::ProvisioningHeld>(body)) return unplaced(scene);
  if (const auto* e = std::get_if<events::NodePoolObserved>(&body))
    return pool_observed(scene, e->pool);
  if (const auto* p = std::get_if<events::NodePoolGone>(&body)) {
    pool_conditions_.erase(p->name.str());
    refusals_told_.erase(p->name.str());
    Happening h = scene.blank(HappeningKind::kPoolGone);
    h.pool = p->name.str();
    scene.tell(std::move(h));
  } else if (const auto* e = std::get_if<model::CommandAbandoned>(&body)) {
    open_.erase(e->command);
    sent_.erase(e->command);
  } else if (const auto* n = std::get_if<events::NodeGone>(&body)) {
    const std::string claim = claim_of_node(n->name.str());
    Happening h = about_claim(scene, HappeningKind::kNodeGone, claim);
    h.node = n->name.str();
    if (const auto memo = claims_.find(claim); memo != claims_.end()) {
      const std::int64_t now = scene.envelope.log_time.value();
      const ClaimMemo& known = memo->second;
      if (known.node_creation_millis > 0) h.lifetime_millis = now - known.node_creation_millis;
      if (known.node_deletion_millis > 0) h.millis = now - known.node_deletion_millis;
    }
    scene.tell(std::move(h));
  } else if (const auto* v = std::get_if<model::Verdict>(&body)) {
    verdict(scene, *v);
  } else if (const auto* s = std::get_if<events::DaemonStarted>(&body)) {
    Happening h = scene.blank(HappeningKind::kStarted);
    h.text = s->version;
    h.reason = s->decision_version;
    scene.tell(std::move(h));
  } else if (const auto* j = std::get_if<events::WallClockJumped>(&body)) {
    Happening h = scene.blank(HappeningKind::kWallClockJumped);
    h.millis = j->offset_millis;
    scene.tell(std::move(h));
  } else if (const auto* space = std::get_if<events::LogSpaceLow>(&body)) {
    scene.tell(
        scene.blank(space->low ? HappeningKind::kLogSpaceLow : HappeningKind::kLogSpaceBack));
  } else if (const auto* refused = std::get_if<events::InputRefused>(&body)) {
    input_refused(scene, *refused);
  } else if (const auto* cut = std::get_if<events::LogTailCut>(&body)) {
    Happening h = scene.blank(HappeningKind::kTailCut);
    h.text = cut->reason;
    scene.tell(std::move(h));
  }
}

void Watcher::input_refused(const Scene& scene, const events::InputRefused& refused) const {
  Happening h = scene.blank(HappeningKind::kInputRefused);
  h.args = {refused.source};
  h.text = refused.source + (refused.id.empty() ? "" : "/" + refused.id);
  h.reason = refused.reason;
  scene.tell(std::move(h));
}

void Watcher::pod_observed(const Scene& scene, const model::Pod& pod) {
  const bool waits = pod.node.empty() && pod.active();
  const bool waited = waiting_.contains(pod.uid);
  if (waits == waited) return pod_runs(scene, pod);
  const base::LogTime now = scene.envelope.log_time;
  base::LogTime placed;
  if (waits) {
    waiting_[pod.uid].seen = now;
  } else {
    placed = waiting_[pod.uid].placed;
    waiting_.erase(pod.uid);
    if (pod.node.empty()) return;  // ended before it had a node
    starting_[pod.uid] = placed;
  }
  Happening h = scene.blank(waits ? HappeningKind::kPodWaiting : HappeningKind::kPodBound);
  h.namespace_name = pod.namespace_name;
  h.pod = pod.name;
  h.owner = pod.owner_name;
  h.pod_uid = pod.uid.str();
  h.node = pod.node.str();
  if (!waits && pod.creation_millis > 0) h.millis = now.value() - pod.creation_millis;
  if (placed.value() != 0) h.placed_millis = now - placed;
  scene.tell(std::move(h));
  pod_runs(scene, pod);
}

void Watcher::pod_gone(const Scene& scene, const events::PodGone& gone) {
  starting_.erase(gone.uid);
  if (waiting_.erase(gone.uid) != 0) return;
  Happening h = scene.blank(HappeningKind::kPodGone);
  h.namespace_name = gone.namespace_name;
  h.pod = gone.name;
  scene.tell(std::move(h));
}

void Watcher::node_observed(const Scene& scene, const model::Node& node) {
  const projections::ClaimRow* row = scene.state.claim_by_provider_id(node.provider_id);
  if (row == nullptr) return;
  const std::string& name = row->claim.name.str();
  ClaimMemo& memo = claims_[name];
  memo.pool = row->claim.pool.str();
  memo.uid = row->claim.uid.str();
  if (memo.node_uid != node.uid.str()) node_joined(scene, node, *row);
  memo.node = node.name.str();
  memo.node_uid = node.uid.str();
  memo.node_creation_millis = node.creation_millis;
  memo.node_deletion_millis = node.deletion_millis;
  memo.allocatable = node.allocatable;
  if (memo.offer.instance_type.empty()) memo.offer = row->instance.offer;  // launched by another
  claim_by_node_[memo.node] = name;
  if (!memo.registered && model::has_label(node.labels, model::kRegisteredLabel)) {
    memo.registered = true;
    scene.tell(about_claim(scene, HappeningKind::kRegistered, name));
  }
  if (!memo.initialized && model::has_label(node.labels, model::kInitializedLabel)) {
    memo.initialized = true;
    scene.tell(about_claim(scene, HappeningKind::kInitialized, name));
  }
}

void Watcher::interrupted(const Scene& scene, const model::Interruption& interruption) {
  const projections::ClaimRow* row = scene.state.claim_by_provider_id(interruption.provider_id);
  Happening h = about_claim(scene, HappeningKind::kInterrupted,
                            row == nullptr ? std::string() : row->claim.name.str());
  h.provider_id = interruption.provider_id.str();
  h.reason = model::interruption_kind_name(interruption.kind);
  h.text = interruption.reason;
  if (interruption.deadline_millis != 0)
    h.millis = interruption.deadline_millis - scene.envelope.log_time.value();
  if (interruption.sent_millis != 0)
    h.lifetime_millis = scene.envelope.log_time.value() - interruption.sent_millis;
  scene.tell(std::move(h));
}

void Watcher::command(const Scene& scene, const model::Command& command) {
  const CommandKind kind = model::kind_of(command.spec);
  if (is_told(kind)) open_[scene.envelope.position] = command;
  if (model::goes_to_cloud(kind)) {
    const auto* find = std::get_if<model::FindInstances>(&command.spec);
    sent_[scene.envelope.position] = {kind, scene.envelope.log_time,
                                      find == nullptr ? model::ClaimUid() : find->claim};
  }
  if (const auto* create = std::get_if<model::CreateNodeClaim>(&command.spec)) {
    claims_[create->claim.name.str()].pool = create->claim.pool.str();
  } else if (const auto* remove = std::get_if<model::DeleteObject>(&command.spec)) {
    if (remove->object.kind != model::ObjectKind::kNodeClaim) return;
    Happening h = about_claim(scene, HappeningKind::kLeaving, remove->object.name);
    h.reason = command.reason;
    add_removal(scene, h);
    scene.tell(std::move(h));
  } else if (const auto* taint = std::get_if<model::TaintNode>(&command.spec)) {
    if (taint->add || !(command.reason == "needed_again" || command.reason.starts_with("held_by_")))
      return;
    Happening h = about_claim(scene, HappeningKind::kCalledOff, claim_of_node(taint->node.str()));
    h.reason = command.reason;
    scene.tell(std::move(h));
  }
}

void Watcher::outcome(const Scene& scene, const model::Outcome& outcome) {
  cloud_answered(scene, outcome);
  const auto at = open_.find(outcome.command);
  if (at == open_.end()) return;
  const model::Command command = at->second;
  if (outcome.kind != model::OutcomeKind::kUnclear) open_.erase(at);
  if (const auto* launch = std::get_if<model::Launch>(&command.spec))
    return launched(scene, *launch, outcome);
  if (const auto* create = std::get_if<model::CreateNodeClaim>(&command.spec);
      create != nullptr && outcome.kind == model::OutcomeKind::kRefused) {
    return claim_refused(scene, *create, outcome);
  }
  if (const auto* evict = std::get_if<model::EvictPod>(&command.spec);
      evict != nullptr && outcome.kind == model::OutcomeKind::kRefused)
    return eviction_held(scene, *evict, outcome);
  if (outcome.kind != model::OutcomeKind::kDone) return;
  if (std::holds_alternative<model::CreateNodeClaim>(command.spec)) return created(scene, command);
  if (const auto* end = std::get_if<model::Terminate>(&command.spec)) {
    const projections::ClaimRow* row = scene.state.claim_by_uid(end->claim);
    Happening h = about_claim(scene, HappeningKind::kTerminated,
                              row == nullptr ? std::string() : row->claim.name.str());
    h.provider_id = end->provider_id.str();
    h.reason = command.reason;
    scene.tell(std::move(h));
  } else if (const auto* taint = std::get_if<model::TaintNode>(&command.spec)) {
    if (!taint->add) return;
    Happening h = about_claim(scene, HappeningKind::kTainted, claim_of_node(taint->node.str()));
    h.node = taint->node.str();
    h.reason = command.reason;
    h.args = {taint->taint.key, taint->taint.value,
              std::string(model::taint_effect_name(taint->taint.effect))};
    const auto memo = claims_.find(h.claim);
    scene.tell(std::move(h));
    if (memo != claims_.end() && memo->second.leaving) drain_waits(scene, taint->node.str());
  } else if (const auto* evict = std::get_if<model::EvictPod>(&command.spec)) {
    Happening h = about_claim(scene, HappeningKind::kEvicted, claim_of_node(evict->node.str()));
    h.node = evict->node.str();
    h.namespace_name = evict->namespace_name;
    h.pod = evict->name;
    h.pod_uid = evict->uid.str();
    h.reason = command.reason;
    if (evict->force) forced(scene, *evict, h);
    scene.tell(std::move(h));
  }
}

void Watcher::created(const Scene& scene, const model::Command& command) {
  const model::NodeClaim& claim = std::get<model::CreateNodeClaim>(command.spec).claim;
  ClaimMemo& memo = claims_[claim.name.str()];
  memo.pool = claim.pool.str();
  if (const auto* row = scene.state.claims().find(claim.name)) memo.uid = row->claim.uid.str();
  if (std::exchange(memo.created, true)) return;
  Happening h = about_claim(scene, HappeningKind::kClaimCreated, claim.name.str());
  h.reason = command.reason;
  h.text = model::label_value(claim.annotations, model::kMinValuesRelaxedAnnotation);
  h.resources = claim.requests;
  for (const model::RequirementSpec& requirement : claim.requirements)
    if (requirement.key == model::kInstanceTypeLabel) h.instance_types = requirement.values;
  scene.tell(std::move(h));
}

void Watcher::launched(const Scene& scene, const model::Launch& launch,
                       const model::Outcome& outcome) {
  for (const model::Instance& instance : outcome.instances) {
    const projections::ClaimRow* row = scene.state.claim_by_uid(instance.claim);
    if (row == nullptr) continue;
    ClaimMemo& memo = claims_[row->claim.name.str()];
    if (memo.provider_id == instance.provider_id.str()) continue;
    memo.pool = row->claim.pool.str();
    memo.provider_id = instance.provider_id.str();
    memo.offer = instance.offer;
    memo.allocatable = instance.allocatable;
    scene.tell(about_claim(scene, HappeningKind::kLaunched, row->claim.name.str()));
  }
  if (outcome.kind == model::OutcomeKind::kDone) return;
  for (const model::LaunchItem& item : launch.items) {
    const auto memo = claims_.find(item.name.str());
    if (memo != claims_.end() && !memo->second.provider_id.empty()) continue;
    Happening h = about_claim(scene, HappeningKind::kLaunchRefused, item.name.str());
    h.reason = outcome.kind == model::OutcomeKind::kUnclear
                   ? model::outcome_kind_name(outcome.kind)
                   : model::refusal_code_name(outcome.code);
    h.text = (outcome.reason.empty() ? "" : outcome.reason + ": ") + outcome.message;
    scene.tell(std::move(h));
  }
}

void Watcher::expected(const Scene& scene, const model::Nomination& nomination) {
  const std::string claim =
      nomination.claim.empty() ? claim_of_node(nomination.node.str()) : nomination.claim.str();
  Happening h = about_claim(scene, HappeningKind::kPodsExpected, claim);
  h.node = nomination.node.str();
  for (const model::PodUid& uid : nomination.pods) {
    const projections::PodRow* row = scene.state.pods().find(uid.str());
    h.args.push_back(row == nullptr ? uid.str() : *row->namespace_name + "/" + row->name);
    h.uids.push_back(uid.str());
    if (const auto wait = waiting_.find(uid); wait != waiting_.end())
      decide(wait->second, scene, true, h);
  }
  scene.tell(std::move(h));
}

void Watcher::claim_gone(const Scene& scene, const events::NodeClaimGone& gone) {
  const auto at = claims_.find(gone.name.str());
  Happening h = about_claim(scene, HappeningKind::kClaimGone, gone.name.str());
  if (at != claims_.end() && at->second.deletion_millis > 0)
    h.millis = scene.envelope.log_time.value() - at->second.deletion_millis;
  scene.tell(std::move(h));
  if (at == claims_.end()) return;
  claim_by_node_.erase(at->second.node);
  claims_.erase(at);
}

Happening Watcher::about_claim(const Scene& scene, HappeningKind kind,
                               const std::string& claim) const {
  Happening h = scene.blank(kind);
  h.claim = claim;
  const auto at = claims_.find(claim);
  if (at == claims_.end()) return h;
  h.pool = at->second.pool;
  h.claim_uid = at->second.uid;
  h.node = at->second.node;
  h.node_uid = at->second.node_uid;
  h.provider_id = at->second.provider_id;
  h.offer = at->second.offer;
  h.resources = at->second.allocatable;
  return h;
}

std::string Watcher::claim_of_node(const std::string& node) const {
  const auto at = claim_by_node_.find(node);
  return at == claim_by_node_.end() ? std::string() : at->second;
}

}  // namespace karst::daemon
