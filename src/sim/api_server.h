// The simulated API server: the objects as they really are, with uids, finalizers and deletion
// timestamps. Every change is told to the watches (what karst sees, later) and to the observers
// (the cluster's own controllers, at once). One thread. Observers must not change objects from
// within a notification: they plan work with Core::after.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "events/body.h"
#include "model/cluster.h"
#include "model/pod.h"
#include "sim/core.h"

namespace karst::sim {

// What one watch brings. All of model::kNamedKinds share one.
enum class Kind { kPod, kNode, kNodeClaim, kNodePool, kNodeClass, kDaemonSet, kNamed };
inline constexpr std::size_t kKinds = 7;
std::string_view kind_name(Kind kind);
// The lists that the watch begins with.
std::span<const std::string_view> listed_kinds(Kind kind);

struct PodEntry {
  model::Pod pod;
  const model::PodShape* shape = nullptr;
  std::string workload;         // who made it and will replace it
  std::int64_t run_millis = 0;  // 0: until deleted
};

struct NodeEntry {
  model::Node node;
  model::ClaimUid owner;       // goes with this claim
  model::Resources used;       // by bound pods that are not terminal
  std::set<std::string> pods;  // uids of bound pods
};

class ApiObserver {
 public:
  virtual ~ApiObserver() = default;
  virtual void pod_changed(const PodEntry&) {}
  virtual void pod_removed(const PodEntry&) {}
  virtual void node_changed(const NodeEntry&) {}
  virtual void node_removed(const NodeEntry&) {}
  virtual void claim_removed(const model::NodeClaim&) {}
};

class ApiServer {
 public:
  explicit ApiServer(Core& core) : core_(core) {}

  void observe(ApiObserver& observer) { observers_.push_back(&observer); }
  void on_event(std::function<void(Kind, std::vector<events::Body>)> watch) {
    watch_ = std::move(watch);
  }

  const model::PodShape* add_shape(const model::PodShape& shape);
  const model::PodShape* shape_of(const model::ShapeHash& hash) const;

  // Pods. `pod` needs namespace, name, labels and owner; the rest is filled in. Returns the uid.
  std::string create_pod(model::Pod pod, const model::PodShape* shape, std::string workload,
                         std::int64_t run_millis);
  bool update_pod(const std::string& uid, const std::function<void(model::Pod&)>& change);
  // Sets the deletion timestamp; an unbound pod goes at once.
  bool delete_pod(const std::string& uid, std::int64_t grace_seconds);
  void remove_pod(const std::string& uid);
  const PodEntry* pod(const std::string& uid) const;
  const std::map<std::string, PodEntry>& pods() const { return pods_; }
  const std::set<std::string>& unbound() const { return unbound_; }

  // Nodes, by name.
  void create_node(model::Node node);
  bool update_node(const std::string& name,
                   const std::function<void(model::Node&, model::ClaimUid& owner)>& change);
  bool delete_node(const std::string& name);  // waits for the finalizer
  const NodeEntry* node(const std::string& name) const;
  const NodeEntry* node_of(const model::ProviderId& id) const;
  const std::map<std::string, NodeEntry>& nodes() const { return nodes_; }

  // Claims, by name. create_claim returns nullptr when the name is taken.
  const model::NodeClaim* create_claim(model::NodeClaim claim);
  bool update_claim(const std::string& name, const std::function<void(model::NodeClaim&)>& change);
  bool delete_claim(const std::string& name);
  const model::NodeClaim* claim(const std::string& name) const;
  const std::map<std::string, model::NodeClaim>& claims() const { return claims_; }

  void put_pool(model::NodePool pool);
  bool update_pool(const std::string& name, const std::function<void(model::NodePool&)>& change);
  // An object of the named kinds; its shape, if it has one, was added before.
  void put_object(model::NamedObject object);
  void remove_object(const model::ObjectKey& key);
  void put_node_class(model::NodeClass node_class);
  void put_daemon_set(model::DaemonSet daemon_set);
  const std::map<std::string, model::NodePool>& pools() const { return pools_; }
  const std::map<std::string, model::DaemonSet>& daemon_sets() const { return daemon_sets_; }

  // Every object of the kind as a fact, shapes before their first user. `listed`: one of
  // listed_kinds(kind).
  std::vector<events::Body> list(Kind kind, std::string_view listed) const;

 private:
  void link(const PodEntry& entry);
  void unlink(const PodEntry& entry);
  void remove_node(const std::string& name);
  void remove_claim(const std::string& name);
  void tell_watch(Kind kind, std::vector<events::Body> bodies) {
    if (watch_) watch_(kind, std::move(bodies));
  }

  Core& core_;
  std::vector<ApiObserver*> observers_;
  std::function<void(Kind, std::vector<events::Body>)> watch_;
  std::map<model::ShapeHash, model::PodShape> shapes_;
  std::map<std::string, PodEntry> pods_;
  std::set<std::string> unbound_;  // active pods without a node
  std::map<std::string, NodeEntry> nodes_;
  std::map<std::string, std::string> node_by_provider_id_;
  std::map<std::string, model::NodeClaim> claims_;
  std::map<std::string, model::NodePool> pools_;
  std::vector<model::NodeClass> node_classes_;
  std::map<std::string, model::DaemonSet> daemon_sets_;
  std::map<model::ObjectKey, model::NamedObject> objects_;
};

}  // namespace karst::sim
