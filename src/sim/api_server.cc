#include "sim/api_server.h"

namespace karst::sim {

namespace {

constexpr std::string_view kNames[] = {"Pod",       "Node",      "NodeClaim", "NodePool",
                                       "NodeClass", "DaemonSet", "Named"};

}  // namespace

std::string_view kind_name(Kind kind) {
  return kNames[static_cast<std::size_t>(kind)];
}

std::span<const std::string_view> listed_kinds(Kind kind) {
  if (kind == Kind::kNamed) return model::kNamedKinds;
  return {&kNames[static_cast<std::size_t>(kind)], 1};
}

const model::PodShape* ApiServer::add_shape(const model::PodShape& shape) {
  return &shapes_.emplace(model::hash_of(shape), shape).first->second;
}

const model::PodShape* ApiServer::shape_of(const model::ShapeHash& hash) const {
  const auto at = shapes_.find(hash);
  return at == shapes_.end() ? nullptr : &at->second;
}

// Pods

void ApiServer::link(const PodEntry& entry) {
  if (entry.pod.node.empty()) {
    if (entry.pod.active()) unbound_.insert(entry.pod.uid.str());
    return;
  }
  const auto node = nodes_.find(entry.pod.node.str());
  if (node == nodes_.end()) return;
  node->second.pods.insert(entry.pod.uid.str());
  if (!entry.pod.terminal()) node->second.used += entry.shape->requests;
}

void ApiServer::unlink(const PodEntry& entry) {
  unbound_.erase(entry.pod.uid.str());
  const auto node = nodes_.find(entry.pod.node.str());
  if (node == nodes_.end() || node->second.pods.erase(entry.pod.uid.str()) == 0) return;
  if (!entry.pod.terminal()) node->second.used -= entry.shape->requests;
}

std::string ApiServer::create_pod(model::Pod pod, const model::PodShape* shape,
                                  std::string workload, std::int64_t run_millis) {
  const std::string uid = core_.fresh_uid("p");
  pod.uid = model::PodUid(uid);
  pod.shape = model::hash_of(*shape);
  pod.creation_millis = core_.now();
  const PodEntry& entry =
      pods_.emplace(uid, PodEntry{std::move(pod), shape, std::move(workload), run_millis})
          .first->second;
  link(entry);
  tell_watch(Kind::kPod,
             {events::ShapeRecorded{entry.pod.shape, *shape}, events::PodObserved{entry.pod}});
  for (ApiObserver* observer : observers_) observer->pod_changed(entry);
  return uid;
}

bool ApiServer::update_pod(const std::string& uid, const std::function<void(model::Pod&)>& change) {
  const auto at = pods_.find(uid);
  if (at == pods_.end()) return false;
  PodEntry changed = at->second;
  change(changed.pod);
  if (changed.pod == at->second.pod) return true;
  unlink(at->second);
  at->second = std::move(changed);
  link(at->second);
  tell_watch(Kind::kPod, {events::PodObserved{at->second.pod}});
  for (ApiObserver* observer : observers_) observer->pod_changed(at->second);
  return true;
}

bool ApiServer::delete_pod(const std::string& uid, std::int64_t grace_seconds) {
  const PodEntry* entry = pod(uid);
  if (entry == nullptr) return false;
  if (entry->pod.node.empty() || entry->pod.terminal() || grace_seconds == 0) {
    remove_pod(uid);
    return true;
  }
  const std::int64_t deletion = core_.now() + grace_seconds * 1000;
  return update_pod(uid, [&](model::Pod& pod) {
    if (pod.deletion_millis == 0 || deletion < pod.deletion_millis) pod.deletion_millis = deletion;
  });
}

void ApiServer::remove_pod(const std::string& uid) {
  const auto at = pods_.find(uid);
  if (at == pods_.end()) return;
  unlink(at->second);
  const PodEntry gone = std::move(at->second);
  pods_.erase(at);
  tell_watch(Kind::kPod, {events::PodGone{gone.pod.uid, gone.pod.namespace_name, gone.pod.name}});
  for (ApiObserver* observer : observers_) observer->pod_removed(gone);
}

const PodEntry* ApiServer::pod(const std::string& uid) const {
  const auto at = pods_.find(uid);
  return at == pods_.end() ? nullptr : &at->second;
}

// Nodes

void ApiServer::create_node(model::Node node) {
  node.uid = model::NodeUid(core_.fresh_uid("n"));
  node.creation_millis = core_.now();
  const std::string name = node.name.str();
  node_by_provider_id_[node.provider_id.str()] = name;
  NodeEntry& entry = nodes_[name];
  entry = NodeEntry{};
  entry.node = std::move(node);
  tell_watch(Kind::kNode, {events::NodeObserved{entry.node}});
  for (ApiObserver* observer : observers_) observer->node_changed(entry);
}

bool ApiServer::update_node(const std::string& name,
                            const std::function<void(model::Node&, model::ClaimUid&)>& change) {
  const auto at = nodes_.find(name);
  if (at == nodes_.end()) return false;
  model::Node node = at->second.node;
  change(node, at->second.owner);
  if (node == at->second.node) return true;
  at->second.node = std::move(node);
  if (at->second.node.deletion_millis != 0 && !at->second.node.has_finalizer) {
    remove_node(name);
    return true;
  }
  tell_watch(Kind::kNode, {events::NodeObserved{at->second.node}});
  for (ApiObserver* observer : observers_) observer->node_changed(at->second);
  return true;
}

bool ApiServer::delete_node(const std::string& name) {
  return update_node(name, [&](model::Node& node, model::ClaimUid&) {
    if (node.deletion_millis == 0) node.deletion_millis = core_.now();
  });
}

void ApiServer::remove_node(const std::string& name) {
  const auto at = nodes_.find(name);
  if (at == nodes_.end()) return;
  const NodeEntry gone = std::move(at->second);
  nodes_.erase(at);
  node_by_provider_id_.erase(gone.node.provider_id.str());
  tell_watch(Kind::kNode, {events::NodeGone{gone.node.uid, gone.node.name}});
  for (ApiObserver* observer : observers_) observer->node_removed(gone);
}

const NodeEntry* ApiServer::node(const std::string& name) const {
  const auto at = nodes_.find(name);
  return at == nodes_.end() ? nullptr : &at->second;
}

const NodeEntry* ApiServer::node_of(const model::ProviderId& id) const {
  const auto at = node_by_provider_id_.find(id.str());
  return at == node_by_provider_id_.end() ? nullptr : node(at->second);
}

// Claims

const model::NodeClaim* ApiServer::create_claim(model::NodeClaim claim) {
  if (claims_.contains(claim.name.str())) return nullptr;
  claim.uid = model::ClaimUid(core_.fresh_uid("c"));
  claim.creation_millis = core_.now();
  const std::string name = claim.name.str();
  const model::NodeClaim& stored = claims_.emplace(name, std::move(claim)).first->second;
  core_.history.claims[stored.uid.str()] =
      ClaimRecord{stored.uid, stored.name, stored.pool, core_.now(), -1, -1};
  tell_watch(Kind::kNodeClaim, {events::NodeClaimObserved{stored}});
  return &stored;
}

bool ApiServer::update_claim(const std::string& name,
                             const std::function<void(model::NodeClaim&)>& change) {
  const auto at = claims_.find(name);
  if (at == claims_.end()) return false;
  model::NodeClaim claim = at->second;
  change(claim);
  if (claim == at->second) return true;
  at->second = std::move(claim);
  if (at->second.deletion_millis != 0 && !at->second.has_finalizer) {
    remove_claim(name);
    return true;
  }
  tell_watch(Kind::kNodeClaim, {events::NodeClaimObserved{at->second}});
  return true;
}

bool ApiServer::delete_claim(const std::string& name) {
  const model::NodeClaim* found = claim(name);
  if (found == nullptr) return false;
  ClaimRecord& record = core_.history.claims[found->uid.str()];
  if (record.deleting_at < 0) record.deleting_at = core_.now();
  return update_claim(name, [&](model::NodeClaim& claim) {
    if (claim.deletion_millis == 0) claim.deletion_millis = core_.now();
  });
}

void ApiServer::remove_claim(const std::string& name) {
  const auto at = claims_.find(name);
  if (at == claims_.end()) return;
  const model::NodeClaim gone = std::move(at->second);
  claims_.erase(at);
  core_.history.claims[gone.uid.str()].removed_at = core_.now();
  tell_watch(Kind::kNodeClaim, {events::NodeClaimGone{gone.uid, gone.name}});
  for (ApiObserver* observer : observers_) observer->claim_removed(gone);
}

const model::NodeClaim* ApiServer::claim(const std::string& name) const {
  const auto at = claims_.find(name);
  return at == claims_.end() ? nullptr : &at->second;
}

// The rest

void ApiServer::put_pool(model::NodePool pool) {
  tell_watch(Kind::kNodePool, {events::NodePoolObserved{pool}});
  const std::string name = pool.name.str();
  pools_[name] = std::move(pool);
}

bool ApiServer::update_pool(const std::string& name,
                            const std::function<void(model::NodePool&)>& change) {
  const auto at = pools_.find(name);
  if (at == pools_.end()) return false;
  model::NodePool pool = at->second;
  change(pool);
  if (pool == at->second) return true;
  at->second = std::move(pool);
  tell_watch(Kind::kNodePool, {events::NodePoolObserved{at->second}});
  return true;
}

void ApiServer::put_object(model::NamedObject object) {
  std::vector<events::Body> bodies;
  if (const auto hash = model::shape_of(object))
    bodies.push_back(events::ShapeRecorded{*hash, *shape_of(*hash)});
  bodies.push_back(events::ObjectObserved{object});
  tell_watch(Kind::kNamed, std::move(bodies));
  objects_.insert_or_assign(model::key_of(object), std::move(object));
}

void ApiServer::remove_object(const model::ObjectKey& key) {
  if (objects_.erase(key) > 0) tell_watch(Kind::kNamed, {events::ObjectGone{key}});
}

void ApiServer::put_node_class(model::NodeClass node_class) {
  tell_watch(Kind::kNodeClass, {events::NodeClassObserved{node_class}});
  node_classes_.push_back(std::move(node_class));
}

void ApiServer::put_daemon_set(model::DaemonSet daemon_set) {
  tell_watch(Kind::kDaemonSet,
             {events::ShapeRecorded{daemon_set.shape, *shape_of(daemon_set.shape)},
              events::DaemonSetObserved{daemon_set}});
  const std::string uid = daemon_set.uid;
  daemon_sets_[uid] = std::move(daemon_set);
}

std::vector<events::Body> ApiServer::list(Kind kind, std::string_view listed) const {
  std::vector<events::Body> bodies;
  std::set<model::ShapeHash> told;
  const auto tell_shape = [&](const model::ShapeHash& hash) {
    if (told.insert(hash).second) bodies.push_back(events::ShapeRecorded{hash, *shape_of(hash)});
  };
  switch (kind) {
    case Kind::kPod:
      for (const auto& [uid, entry] : pods_) {
        tell_shape(entry.pod.shape);
        bodies.push_back(events::PodObserved{entry.pod});
      }
      break;
    case Kind::kNode:
      for (const auto& [name, entry] : nodes_) bodies.push_back(events::NodeObserved{entry.node});
      break;
    case Kind::kNodeClaim:
      for (const auto& [name, claim] : claims_) bodies.push_back(events::NodeClaimObserved{claim});
      break;
    case Kind::kNodePool:
      for (const auto& [name, pool] : pools_) bodies.push_back(events::NodePoolObserved{pool});
      break;
    case Kind::kNodeClass:
      for (const model::NodeClass& node_class : node_classes_)
        bodies.push_back(events::NodeClassObserved{node_class});
      break;
    case Kind::kDaemonSet:
      for (const auto& [uid, daemon_set] : daemon_sets_) {
        tell_shape(daemon_set.shape);
        bodies.push_back(events::DaemonSetObserved{daemon_set});
      }
      break;
    case Kind::kNamed:
      for (const auto& [key, object] : objects_) {
        if (key.kind != listed) continue;
        if (const auto hash = model::shape_of(object)) tell_shape(*hash);
        bodies.push_back(events::ObjectObserved{object});
      }
      break;
  }
  return bodies;
}

}  // namespace karst::sim
