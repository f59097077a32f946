#include "sim/controllers.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "sim/kube_scheduler.h"

namespace karst::sim {

namespace {
constexpr std::int64_t kFinishedPodMillis = 30'000;  // how long a succeeded Job pod stays
}

Controllers::Controllers(Core& core, ApiServer& api, const Scenario& scenario)
    : core_(core), api_(api), scenario_(scenario) {
  api_.observe(*this);
}

void Controllers::start() {
  for (const Workload& workload : scenario_.workloads) {
    Owner& owner = owners_[workload.namespace_name + "/" + workload.name];
    owner.workload = &workload;
    owner.shape = api_.add_shape(workload.shape);
    for (const ReplicaStep& step : workload.timeline)
      core_.after(step.at_millis, [this, &owner, replicas = step.replicas] {
        owner.wanted = is_job(owner) ? owner.wanted + replicas : replicas;
        if (core_.narrated())
          core_.tell(owner.workload->name + (is_job(owner) ? ": " : ": scaled to ") +
                     std::to_string(replicas) + (is_job(owner) ? " more runs" : ""));
        plan(owner);
      });
  }
  for (const DaemonWorkload& daemon : scenario_.daemon_sets) {
    daemons_[daemon.name] = api_.add_shape(daemon.shape);
    api_.put_daemon_set(
        {core_.fresh_uid("d"), "kube-system", daemon.name, model::hash_of(daemon.shape), 0});
  }
}

bool Controllers::may_evict(const PodEntry& entry) const {
  const auto at = owners_.find(entry.workload);
  if (at == owners_.end() || at->second.workload->min_available < 0 || !entry.pod.ready)
    return true;
  std::int64_t healthy = 0;
  for (const std::string& uid : at->second.pods) {
    const PodEntry* pod = api_.pod(uid);
    if (pod != nullptr && pod->pod.ready && pod->pod.active()) ++healthy;
  }
  return healthy - 1 >= at->second.workload->min_available;
}

void Controllers::pod_changed(const PodEntry& entry) {
  const auto at = owners_.find(entry.workload);
  if (at == owners_.end()) return;
  const std::string uid = entry.pod.uid.str();
  at->second.pods.insert(uid);
  if (entry.pod.phase == model::PodPhase::kSucceeded && counted_.insert(uid).second) {
    ++at->second.succeeded;
    core_.after(kFinishedPodMillis, [this, uid] { api_.remove_pod(uid); });
  }
  if (!entry.pod.active()) plan(at->second);
}

void Controllers::pod_removed(const PodEntry& entry) {
  const auto at = owners_.find(entry.workload);
  if (at == owners_.end()) {
    if (entry.shape->owner_kind == model::OwnerKind::kDaemonSet) plan_daemons();
    return;
  }
  at->second.pods.erase(entry.pod.uid.str());
  plan(at->second);
}

void Controllers::plan(Owner& owner) {
  if (owner.planned) return;
  owner.planned = true;
  core_.after(core_.delay(100, 1'000), [this, &owner] {
    owner.planned = false;
    reconcile(owner);
  });
}

void Controllers::reconcile(Owner& owner) {
  const bool stateful = owner.workload->shape.owner_kind == model::OwnerKind::kStatefulSet;
  std::int64_t present = 0;
  for (const std::string& uid : owner.pods) {
    const PodEntry* pod = api_.pod(uid);
    if (pod == nullptr || pod->pod.terminal()) continue;
    if (pod->pod.active() || stateful) ++present;  // a StatefulSet waits until the old pod is gone
  }
  const std::int64_t wanted = is_job(owner) ? owner.wanted - owner.succeeded : owner.wanted;
  for (; present < wanted; ++present) create(owner);
  if (present > wanted) shrink(owner, present - wanted);
}

void Controllers::create(Owner& owner) {
  model::Pod pod;
  pod.namespace_name = owner.workload->namespace_name;
  pod.name = owner.workload->name + "-" + std::to_string(++owner.made);
  pod.labels = owner.workload->labels;
  pod.owner_name = owner.workload->name;
  api_.create_pod(std::move(pod), owner.shape,
                  owner.workload->namespace_name + "/" + owner.workload->name,
                  owner.workload->run_millis);
}

// Unbound pods first, then the youngest.
void Controllers::shrink(Owner& owner, std::int64_t surplus) {
  std::vector<std::tuple<bool, std::int64_t, std::string>> order;
  for (const std::string& uid : owner.pods) {
    const PodEntry* pod = api_.pod(uid);
    if (pod != nullptr && pod->pod.active())
      order.emplace_back(!pod->pod.node.empty(), -pod->pod.creation_millis, uid);
  }
  std::sort(order.begin(), order.end());
  for (const auto& [bound, age, uid] : order) {
    if (surplus-- <= 0) break;
    api_.delete_pod(uid, owner.shape->grace_seconds);
  }
}

void Controllers::plan_daemons() {
  if (daemons_planned_ || daemons_.empty()) return;
  daemons_planned_ = true;
  core_.after(core_.delay(300, 800), [this] {
    daemons_planned_ = false;
    reconcile_daemons();
  });
}

void Controllers::reconcile_daemons() {
  for (const auto& [name, shape] : daemons_) {
    const std::string workload = "ds/" + name;
    std::vector<model::NodeName> missing;
    for (const auto& [node_name, entry] : api_.nodes()) {
      const bool present =
          std::any_of(entry.pods.begin(), entry.pods.end(), [&](const std::string& uid) {
            const PodEntry* pod = api_.pod(uid);
            return pod != nullptr && pod->workload == workload;
          });
      if (!present && selects(*shape, entry.node.labels) &&
          model::first_untolerated(entry.node.taints, shape->tolerations) == nullptr &&
          model::fits(entry.used + shape->requests, entry.node.allocatable))
        missing.push_back(entry.node.name);
    }
    for (const model::NodeName& node : missing) {
      model::Pod pod;
      pod.namespace_name = "kube-system";
      pod.name = name + "-" + node.str();
      pod.owner_name = name;
      pod.node = node;
      api_.create_pod(std::move(pod), shape, workload, 0);
    }
  }
}

void Controllers::claim_removed(const model::NodeClaim& claim) {
  core_.after(core_.delay(500, 2'000), [this, uid = claim.uid] {
    std::vector<std::string> owned;
    for (const auto& [name, entry] : api_.nodes())
      if (entry.owner == uid) owned.push_back(name);
    for (const std::string& name : owned) api_.delete_node(name);
  });
}

}  // namespace karst::sim
