// What the API server does with each command, as src/model/command.h describes them.
#include <algorithm>
#include <map>
#include <utility>

#include "sim/hands.h"
#include "sim/refusal.h"

namespace karst::sim {

namespace {

constexpr std::int64_t kStuckMillis =
    60'000;  // a pod that should be gone for that long no longer holds a drain up
constexpr std::int64_t kBlockedFrom = 10'000;
constexpr std::int64_t kBlockedTo = 90'000;

model::Outcome gone(const std::string& what) {
  return refused(model::RefusalCode::kGone, what + " does not exist");
}

bool same(const model::Taint& a, const model::Taint& b) {
  return a.key == b.key && a.effect == b.effect;
}

void add_taint(model::Node& node, const model::Taint& taint) {
  std::erase_if(node.taints, [&](const model::Taint& have) { return same(have, taint); });
  node.taints.push_back(taint);
  std::sort(node.taints.begin(), node.taints.end());
}
void remove_taint(model::Node& node, const model::Taint& taint) {
  std::erase_if(node.taints, [&](const model::Taint& have) { return same(have, taint); });
}

model::Taint disrupted() {
  return {std::string(model::kDisruptedTaintKey), "", model::TaintEffect::kNoSchedule};
}

}  // namespace

model::Outcome Hands::create_claim(const model::CreateNodeClaim& command) {
  model::Outcome outcome;
  if (const model::NodeClaim* made = api_.create_claim(command.claim)) {
    core_.tell("claim " + made->name.str() + " is created");
    outcome.object_uid = made->uid.str();
    return outcome;
  }
  const model::NodeClaim* existing = api_.claim(command.claim.name.str());
  if (model::label_value(existing->annotations, model::kCommandIdAnnotation) !=
      model::label_value(command.claim.annotations, model::kCommandIdAnnotation))
    return refused(model::RefusalCode::kConflict,
                   "nodeclaim " + command.claim.name.str() + " exists and is not ours");
  outcome.object_uid = existing->uid.str();
  return outcome;
}

// Done either way; the code says when there was nothing to delete.
model::Outcome Hands::delete_object(const model::ObjectRef& object) {
  bool found = false;
  if (object.kind == model::ObjectKind::kPod) {
    const PodEntry* pod = api_.pod(object.uid);
    found = pod != nullptr;
    if (found) api_.delete_pod(object.uid, pod->shape->grace_seconds);
  } else if (object.kind == model::ObjectKind::kNode) {
    const NodeEntry* node = api_.node(object.name);
    found = node != nullptr && node->node.uid.str() == object.uid;
    if (found) api_.delete_node(object.name);
  } else {
    const model::NodeClaim* claim = api_.claim(object.name);
    found = claim != nullptr && claim->uid.str() == object.uid;
    if (found) api_.delete_claim(object.name);
  }
  model::Outcome outcome;
  if (!found) outcome.code = model::RefusalCode::kGone;
  return outcome;
}

model::Outcome Hands::taint(const model::TaintNode& command) {
  const NodeEntry* entry = api_.node(command.node.str());
  if (entry == nullptr || entry->node.uid != command.uid) return gone("node " + command.node.str());
  api_.update_node(command.node.str(), [&](model::Node& node, model::ClaimUid&) {
    command.add ? add_taint(node, command.taint) : remove_taint(node, command.taint);
  });
  return {};
}

model::Outcome Hands::evict(const model::EvictPod& command) {
  const PodEntry* entry = api_.pod(command.uid.str());
  if (entry == nullptr) return gone("pod " + command.namespace_name + "/" + command.name);
  const std::int64_t grace =
      command.grace_seconds < 0 ? entry->shape->grace_seconds : command.grace_seconds;
  if (!command.force && entry->pod.active()) {
    std::int64_t& blocked_until = blocked_until_[command.uid.str()];
    if (core_.faults.strikes(Fault::kEvictionBlocked))
      blocked_until = core_.now() + core_.faults.rng().between(kBlockedFrom, kBlockedTo);
    if (core_.now() < blocked_until || !controllers_.may_evict(*entry))
      return refused(model::RefusalCode::kBlocked,
                     "evicting the pod would violate its disruption budget");
  }
  core_.tell("pod " + entry->pod.name + " is evicted from " + entry->pod.node.str());
  api_.delete_pod(command.uid.str(), grace);
  return {};
}

model::Outcome Hands::set_finalizer(const model::SetFinalizer& command) {
  const std::string& name = command.object.name;
  if (command.object.kind == model::ObjectKind::kNode) {
    const NodeEntry* node = api_.node(name);
    if (node == nullptr || node->node.uid.str() != command.object.uid) return gone("node " + name);
    api_.update_node(
        name, [&](model::Node& changed, model::ClaimUid&) { changed.has_finalizer = command.add; });
    return {};
  }
  if (command.object.kind != model::ObjectKind::kNodeClaim)
    return refused(model::RefusalCode::kInvalid, "pods have no such finalizer");
  const model::NodeClaim* claim = api_.claim(name);
  if (claim == nullptr || claim->uid.str() != command.object.uid) return gone("nodeclaim " + name);
  if (command.add && claim->deletion_millis != 0)
    return refused(model::RefusalCode::kInvalid,
                   "no new finalizers can be added if the object is being deleted");
  api_.update_claim(name, [&](model::NodeClaim& changed) { changed.has_finalizer = command.add; });
  return {};
}

model::Outcome Hands::read_back(const model::ReadBackNode& command) const {
  model::Outcome outcome;
  model::NodeReadBack& back = outcome.read_back.emplace();
  const NodeEntry* entry = api_.node(command.node.str());
  if (entry == nullptr || entry->node.uid != command.uid) return outcome;
  back.exists = true;
  back.tainted =
      std::any_of(entry->node.taints.begin(), entry->node.taints.end(),
                  [](const model::Taint& taint) { return taint.key == model::kDisruptedTaintKey; });
  for (const std::string& uid : entry->pods) {
    const PodEntry& pod = *api_.pod(uid);
    model::ReadBackPod read;
    read.uid = pod.pod.uid;
    read.namespace_name = pod.pod.namespace_name;
    read.name = pod.pod.name;
    const bool stuck =
        pod.pod.deletion_millis != 0 && core_.now() > pod.pod.deletion_millis + kStuckMillis;
    read.drainable = !pod.pod.terminal() && !stuck &&
                     pod.shape->owner_kind != model::OwnerKind::kNode &&
                     !model::tolerates(pod.shape->tolerations, disrupted());
    read.daemon = pod.shape->owner_kind == model::OwnerKind::kDaemonSet;
    read.do_not_disrupt = pod.shape->do_not_disrupt == model::DoNotDisrupt::kForever;
    back.pods.push_back(std::move(read));
  }
  return outcome;
}

model::Outcome Hands::sync_node(const model::SyncNode& command) {
  const NodeEntry* entry = api_.node(command.node.str());
  if (entry == nullptr || entry->node.uid != command.uid) return gone("node " + command.node.str());
  if (command.add_finalizer && !entry->node.has_finalizer && entry->node.deletion_millis != 0)
    return refused(model::RefusalCode::kInvalid,
                   "no new finalizers can be added if the object is being deleted");
  api_.update_node(command.node.str(), [&](model::Node& node, model::ClaimUid& owner) {
    const bool registered = model::label_value(node.labels, model::kRegisteredLabel) == "true";
    for (const auto& [key, value] : command.labels) model::set_label(node.labels, key, value);
    for (const auto& [key, value] : command.annotations)
      model::set_label(node.annotations, key, value);
    if (!registered)
      for (const model::Taint& taint : command.add_taints) add_taint(node, taint);
    for (const model::Taint& taint : command.remove_taints) remove_taint(node, taint);
    if (command.add_finalizer) node.has_finalizer = true;
    if (!command.owner_uid.empty()) owner = command.owner_uid;
  });
  return {};
}

// What is said and what is cleared, of the conditions that are there; sorted as the source has
// them.
static void say(std::vector<model::Condition>& conditions,
                const std::vector<model::Condition>& said,
                const std::vector<std::string>& cleared) {
  std::map<std::string, model::Condition> by_type;
  for (model::Condition& one : conditions) by_type[one.type] = std::move(one);
  for (const std::string& type : cleared) by_type.erase(type);
  for (const model::Condition& one : said) by_type[one.type] = one;
  conditions.clear();
  for (auto& [type, one] : by_type) conditions.push_back(std::move(one));
}

model::Outcome Hands::mirror_claim(const model::MirrorClaim& command) {
  const model::NodeClaim* claim = api_.claim(command.name.str());
  if (claim == nullptr || claim->uid != command.uid) return gone("nodeclaim " + command.name.str());
  api_.update_claim(command.name.str(), [&](model::NodeClaim& changed) {
    for (const auto& [key, value] : command.labels) model::set_label(changed.labels, key, value);
    for (const auto& [key, value] : command.annotations)
      model::set_label(changed.annotations, key, value);
    if (!command.provider_id.empty()) changed.provider_id = command.provider_id;
    if (!command.node_name.empty()) changed.node_name = command.node_name;
    if (command.capacity != model::Resources()) changed.capacity = command.capacity;
    if (command.allocatable != model::Resources()) changed.allocatable = command.allocatable;
    say(changed.conditions, command.conditions, command.cleared);
  });
  return {};
}

model::Outcome Hands::mirror_pool(const model::MirrorPool& command) {
  const auto at = api_.pools().find(command.name.str());
  if (at == api_.pools().end() || at->second.uid != command.uid)
    return gone("nodepool " + command.name.str());
  api_.update_pool(command.name.str(), [&](model::NodePool& changed) {
    changed.status_resources = command.resources;
    changed.status_nodes = command.nodes;
    changed.node_class_observed_generation = command.node_class_observed_generation;
    say(changed.conditions, command.conditions, {});
    if (command.hash.empty()) return;
    changed.hash = command.hash;
    changed.hash_version = command.hash_version;
  });
  return {};
}

}  // namespace karst::sim
