// The fold itself: what each event changes. Exhaustive over events::Body, so a new event type does
// not compile until it is handled here. What clouds tell is in apply_cloud.cc,
// outcomes are in apply_outcome.cc, the way in is fold.cc.
#include "projections/apply.h"

#include <algorithm>

namespace karst::projections {

void Apply::operator()(const events::ShapeRecorded& e) const {
  s.shapes_.edit(e.hash, [&](ShapeRow& row) { row.shape = e.shape; });
}

void Apply::use_shape(const model::ShapeHash& hash) const {
  s.shapes_.edit(hash, [](ShapeRow& row) { ++row.users; });
}

void Apply::release_shape(const model::ShapeHash& hash) const {
  const ShapeRow* row = s.shapes_.find(hash);
  if (row == nullptr) return;
  if (row->users <= 1)
    s.shapes_.erase(hash);
  else
    s.shapes_.edit(hash, [](ShapeRow& shape) { --shape.users; });
}

// Whether the claim of that node has become vacant, or is so no more.
void Apply::index_vacancy(const std::string& node) const {
  const NodeRow* row = s.nodes_.find(model::NodeName(node));
  const ClaimRow* claim = row == nullptr ? nullptr : s.claim_by_provider_id(row->node.provider_id);
  if (claim != nullptr) s.index_vacancy(*claim);
}

// No pod of the node would need another place.
bool Apply::idle(std::string_view node) const {
  const NodePods* pods = s.pods_.on(node);
  return pods == nullptr || pods->reschedulable == 0;
}

void Apply::note_pod_event(const std::string& node) const {
  s.activity_.edit(model::NodeName(node), [&](ActivityRow& row) {
    row.last_pod_event = now;
    row.last_pod_position = at.position;
  });
}

void Apply::operator()(const events::PodObserved& e) const {
  std::string labels;
  observe_pod(events::view_pod(e.pod, labels));
}

void Apply::observe_pod(const events::PodView& pod) const {
  if (s.pods_.refresh(pod, at.position)) return;
  const PodRow* before = s.pods_.find(pod.uid);
  const bool known = before != nullptr;
  const bool was_bound = known && before->node != nullptr;
  const bool counted = known && before->reschedulable();
  const std::string left = was_bound && *before->node != pod.node ? *before->node : std::string();
  const bool left_idle = idle(left), idle_before = idle(pod.node);
  const model::ShapeHash old_shape = known ? before->shape_hash : model::ShapeHash{};
  if (!known || old_shape != pod.shape) use_shape(pod.shape);
  const ShapeRow* shape = s.shapes_.find(pod.shape);
  const PodRow& row = s.pods_.observe(pod, &shape->shape, at.position, now);
  if (known && old_shape != pod.shape) release_shape(old_shape);
  if (idle(left) != left_idle) index_vacancy(left);
  if (row.node == nullptr) return;
  if (!row.daemon() && (!was_bound || (counted && !row.reschedulable()))) note_pod_event(*row.node);
  if (idle(*row.node) != idle_before) index_vacancy(*row.node);
}

void Apply::operator()(const events::PodGone& e) const {
  const PodRow* row = s.pods_.find(e.uid.str());
  if (row == nullptr) return;
  const std::string node = row->node == nullptr ? std::string() : *row->node;
  if (!row->daemon() && !node.empty()) note_pod_event(node);
  const model::ShapeHash shape = row->shape_hash;
  s.pods_.erase(e.uid.str());
  if (!node.empty()) index_vacancy(node);
  release_shape(shape);
  forget_subject("pod/" + e.uid.str());
}

// Back-offs and verdicts about what is gone are of no use to anybody.
void Apply::forget_subject(const std::string& subject) const {
  for (int kind = 0; kind < model::kCommandKinds; ++kind)
    s.back_offs_.erase({subject, static_cast<model::CommandKind>(kind)});
  const auto& slots = s.verdicts_.slots();
  std::vector<std::pair<std::string, std::string>> keys;
  for (auto i = slots.lower_bound(std::pair<std::string, std::string>(subject, ""));
       i != slots.end() && i->first.first == subject; ++i)
    keys.push_back(i->first);
  for (const auto& key : keys) s.verdicts_.erase(key);
}

void Apply::operator()(const events::NodeObserved& e) const {
  const NodeRow* before = s.nodes_.find(e.node.name);
  const bool replaced = before != nullptr && before->node.uid != e.node.uid;
  if (before != nullptr && before->node.provider_id != e.node.provider_id)
    s.drop_provider_id(before->node);
  const NodeRow& row = s.nodes_.edit(e.node.name, [&](NodeRow& node) {
    if (replaced) node = NodeRow{};
    if (node.seen_at.value() == 0) node.seen_at = now;
    node.node = e.node;
    node.position = at.position;
    const bool tainted = std::any_of(
        e.node.taints.begin(), e.node.taints.end(),
        [](const model::Taint& taint) { return taint.key == model::kDisruptedTaintKey; });
    if (!tainted)
      node.tainted_at = Position();
    else if (node.tainted_at == Position())
      node.tainted_at = at.position;
  });
  if (!row.node.provider_id.empty())
    s.nodes_by_provider_id_[row.node.provider_id].insert(row.node.name);
  s.index_node(row.node.name);
  join(row.node);
}

void Apply::note_registration(const model::PoolName& pool, char how) const {
  s.pools_.edit_if(pool, [&](PoolRow& row) {
    if (row.registrations.size() == kRegistrationsMax) row.registrations.erase(0, 1);
    row.registrations += how;
  });
}

// A node that carries the provider id of a claim's instance is that claim's node. Registration and
// initialization are read off its labels, so that they survive a lost answer.
void Apply::join(const model::Node& node) const {
  const ClaimRow* claim = s.claim_by_provider_id(node.provider_id);
  if (claim == nullptr) return;
  const NodeRow* first = s.node_of(*claim);
  if (first != nullptr && first->node.name != node.name) return;
  if (claim->registered_at.value() == 0 &&
      model::label_value(node.labels, model::kRegisteredLabel) == "true")
    note_registration(claim->claim.pool, 'r');
  const ClaimRow& joined = s.edit_claim(model::ClaimName(claim->claim.name), [&](ClaimRow& row) {
    row.node = node.name;
    row.node_leaving = node.deletion_millis != 0;
    if (row.registered_at.value() == 0 &&
        model::label_value(node.labels, model::kRegisteredLabel) == "true")
      row.registered_at = now;
    if (row.initialized_at.value() == 0 &&
        model::label_value(node.labels, model::kInitializedLabel) == "true")
      row.initialized_at = now;
  });
  see_memory(joined, node);
}

void Apply::operator()(const events::NodeGone& e) const {
  const NodeRow* row = s.nodes_.find(e.name);
  if (row == nullptr || row->node.uid != e.uid) return;
  const ClaimRow* claim = s.claim_by_provider_id(row->node.provider_id);
  if (claim != nullptr && claim->node == e.name)
    s.edit_claim(model::ClaimName(claim->claim.name),
                 [](ClaimRow& left) { left.node_leaving = true; });
  s.drop_provider_id(row->node);
  s.nodes_.erase(e.name);
  s.index_node(e.name);
  s.activity_.erase(e.name);
  forget_subject("node/" + e.name.str());
}

// As the API server says, unless one of the clocks is wrong.
LogTime Apply::creation_of(const model::NodeClaim& claim) const {
  if (claim.creation_millis == 0 || s.wall_clock_wrong_) return now;
  return std::min(now, LogTime(claim.creation_millis));
}

void Apply::operator()(const events::NodeClaimObserved& e) const {
  const ClaimRow& row = s.edit_claim(e.claim.name, [&](ClaimRow& claim) {
    const bool replaced = !claim.claim.uid.empty() && claim.claim.uid != e.claim.uid;
    if (replaced) claim = ClaimRow{};
    claim.claim = e.claim;
    if (claim.launched()) claim.claim.requirements.clear();
    claim.observed = true;
    claim.position = at.position;
    if (claim.created_at.value() == 0) claim.created_at = creation_of(e.claim);
    if (claim.confirmed_at.value() == 0) claim.confirmed_at = now;
    if (e.claim.deletion_millis != 0 && claim.deletion_seen_at.value() == 0)
      claim.deletion_seen_at = now;
    if (claim.root == Position()) claim.root = at.position;
    if (!claim.launched() && !e.claim.provider_id.empty()) adopt(claim, e.claim);
  });
  if (row.launched()) take_messages(row);
  if (const NodeRow* node = s.node_of(row)) join(model::Node(node->node));
}

// A claim that another writer (an earlier log, Karpenter itself) has launched already.
void Apply::adopt(ClaimRow& row, const model::NodeClaim& claim) const {
  row.instance.provider_id = claim.provider_id;
  row.instance.claim = claim.uid;
  row.instance.capacity = claim.capacity;
  row.instance.allocatable = claim.allocatable;
  row.instance.offer.instance_type =
      std::string(model::label_value(claim.labels, model::kInstanceTypeLabel));
  row.instance.offer.zone = std::string(model::label_value(claim.labels, model::kZoneLabel));
  row.instance.offer.capacity_type =
      std::string(model::label_value(claim.labels, model::kCapacityTypeLabel));
  row.instance.offer.price_nanos_per_hour = s.price_of(row.instance.offer);
  row.instance.state = model::InstanceState::kRunning;
  row.launched_at = now;
  row.attempts = std::max<std::uint32_t>(row.attempts, 1);
  row.claim.requirements.clear();
}

void Apply::operator()(const events::NodeClaimGone& e) const {
  const ClaimRow* row = s.claims_.find(e.name);
  if (row != nullptr && row->claim.uid == e.uid) drop_claim(e.name);
}

bool Apply::is_made(const model::CreateNodeClaim& create) const {
  const ClaimRow* claim = s.claims_.find(create.claim.name);
  return claim != nullptr && (claim->observed || !claim->claim.uid.empty());
}

void Apply::drop_claim(const model::ClaimName& name) const {
  const ClaimRow* row = s.claims_.find(name);
  if (row == nullptr) return;
  for (const PodRow* pod : s.pods_.expected_on_claim(name.str()))
    s.pods_.expect(std::string(pod->uid.str()), {}, {}, LogTime(0));
  const model::ProviderId machine = row->instance.provider_id;
  s.erase_claim(name);
  forget_subject("nodeclaim/" + name.str());
  forget_nobodys(machine);
}

void Apply::operator()(const events::NodePoolObserved& e) const {
  s.pools_.edit(e.pool.name, [&](PoolRow& row) {
    const bool changed = row.pool.uid != e.pool.uid || row.pool.generation != e.pool.generation;
    if (changed) row.registrations.clear();
    row.pool = e.pool;
    row.position = at.position;
  });
}
void Apply::operator()(const events::NodePoolGone& e) const {
  s.pools_.erase(e.name);
  forget_subject("nodepool/" + e.name.str());
}

void Apply::operator()(const events::NodeClassObserved& e) const {
  const NodeClassRow* before = s.node_classes_.find(e.node_class.ref);
  if (before != nullptr && before->node_class.generation != e.node_class.generation) {
    std::vector<model::PoolName> pools;
    for (const auto& [name, slot] : s.pools_.slots())
      if (slot.row.pool.node_class == e.node_class.ref) pools.push_back(name);
    for (const model::PoolName& name : pools)
      s.pools_.edit(name, [](PoolRow& row) { row.registrations.clear(); });
  }
  s.node_classes_.edit(e.node_class.ref, [&](NodeClassRow& row) {
    if (row.node_class.uid != e.node_class.uid) row = {};  // another class of that name
    row.node_class = e.node_class;
    row.position = at.position;
  });
}
void Apply::operator()(const events::NodeClassGone& e) const {
  s.node_classes_.erase(e.ref);
  s.told_.erase(model::status_subject(e.ref.kind, {}, e.ref.name));
}

void Apply::operator()(const events::DaemonSetObserved& e) const {
  const DaemonSetRow* before = s.daemon_sets_.find(e.daemon_set.uid);
  const model::ShapeHash old_shape =
      before == nullptr ? model::ShapeHash{} : before->daemon_set.shape;
  const bool known = before != nullptr;
  if (!known || old_shape != e.daemon_set.shape) use_shape(e.daemon_set.shape);
  s.daemon_sets_.edit(e.daemon_set.uid, [&](DaemonSetRow& row) {
    row.daemon_set = e.daemon_set;
    row.position = at.position;
  });
  if (known && old_shape != e.daemon_set.shape) release_shape(old_shape);
}
void Apply::operator()(const events::DaemonSetGone& e) const {
  const DaemonSetRow* row = s.daemon_sets_.find(e.uid);
  if (row == nullptr) return;
  const model::ShapeHash shape = row->daemon_set.shape;
  s.daemon_sets_.erase(e.uid);
  release_shape(shape);
}

void Apply::operator()(const events::ObjectObserved& e) const {
  const model::ObjectKey key = model::key_of(e.object);
  const ObjectRow* before = s.objects_.find(key);
  const std::optional<model::ShapeHash> new_shape = model::shape_of(e.object);
  const std::optional<model::ShapeHash> old_shape =
      before == nullptr ? std::nullopt : model::shape_of(before->object);
  const bool other_shape = new_shape != old_shape;
  if (other_shape && new_shape) use_shape(*new_shape);
  s.objects_.edit(key, [&](ObjectRow& row) {
    row.object = e.object;
    row.position = at.position;
  });
  if (other_shape && old_shape) release_shape(*old_shape);
}
void Apply::operator()(const events::ObjectGone& e) const {
  const ObjectRow* row = s.objects_.find(e.key);
  if (row == nullptr) return;
  const std::optional<model::ShapeHash> shape = model::shape_of(row->object);
  s.objects_.erase(e.key);
  const std::string subject = model::status_subject(e.key.kind, e.key.namespace_name, e.key.name);
  s.told_.erase(subject);
  forget_subject(subject);
  if (shape) release_shape(*shape);
}

void Apply::operator()(const events::ListStarted& e) const {
  s.sources_.edit(e.kind, [](SourceRow& row) { row.listing = true; });
}
void Apply::operator()(const events::ListEnded& e) const {
  s.sources_.edit(e.kind, [&](SourceRow& row) {
    row.listed = true;
    row.listing = false;
    row.version = e.version;
    row.beat_at = now;
  });
}
void Apply::operator()(const events::SourceBeat& e) const {
  s.sources_.edit(e.source, [&](SourceRow& row) {
    row.version = e.version;
    row.beat_at = now;
  });
}
void Apply::operator()(const events::InputRefused&) const {}  // for the record only

void Apply::operator()(const model::Verdict& e) const {
  s.verdicts_.edit({e.subject, e.rule}, [&](VerdictRow& row) {
    row.verdict = e;
    row.position = at.position;
  });
}

void Apply::operator()(const model::Nomination& e) const {
  for (const model::PodUid& uid : e.pods)
    s.pods_.expect(uid.str(), e.claim, e.node, LogTime(e.until_millis));
}

void Apply::operator()(const events::ProvisioningHeld& e) const {
  s.held_at_ = now;
  s.held_until_ = LogTime(e.until_millis);
}

void Apply::operator()(const events::LogCreated& e) const {
  s.log_id_ = e.id;
}

// What was listed and what was sent are as uncertain as after a stop: lists are waited for anew,
// and open commands are looked after.
void Apply::begin_anew() const {
  std::vector<std::string> kinds;
  for (const auto& [kind, slot] : s.sources_.slots()) kinds.push_back(kind);
  for (const std::string& kind : kinds)
    s.sources_.edit(kind, [](SourceRow& row) {
      row.listed = false;
      row.listing = false;
    });
  std::vector<Position> open;
  for (const auto& [position, slot] : s.commands_.slots()) open.push_back(position);
  for (const Position position : open)
    s.commands_.edit(position, [&](CommandRow& row) {
      row.state = CommandState::kUnclear;
      row.unclear_at = now;
    });
}

void Apply::operator()(const events::DaemonStarted& e) const {
  s.config_ = e.config;
  // A new process looks at disk and clock with its own eyes, and says itself if it must win a
  // lease.
  s.log_space_low_ = false;
  s.wall_clock_wrong_ = false;
  s.leadership_lost_ = false;
  begin_anew();
}

void Apply::operator()(const events::RoundClosed&) const {
  ++s.rounds_;
  s.last_round_ = at.position;
}
void Apply::operator()(const events::EpochOpened& e) const {
  s.epoch_ = e.epoch;
  s.leadership_lost_ = false;
  // Another replica may have acted meanwhile, also on the removals that were open here.
  begin_anew();
  std::vector<model::ClaimName> candidates;
  for (const model::ClaimName& name : s.restless_)
    if (s.claims_.find(name)->candidate) candidates.push_back(name);
  for (const model::ClaimName& name : candidates)
    s.edit_claim(name, [](ClaimRow& row) { row.candidate = false; });
}
void Apply::operator()(const events::LeadershipLost& e) const {
  s.leadership_lost_ = s.leadership_lost_ || e.epoch >= s.epoch_;
}
void Apply::operator()(const events::WallClockJumped& e) const {
  s.wall_clock_wrong_ =
      e.offset_millis > kWallOffsetMaxMillis || e.offset_millis < -kWallOffsetMaxMillis;
}
void Apply::operator()(const events::LogSpaceLow& e) const {
  s.log_space_low_ = e.low;
}

}  // namespace karst::projections
