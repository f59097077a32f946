// The simulated cluster's owners of pods: ReplicaSets and StatefulSets follow their timeline, Jobs
// run to their end, DaemonSets keep one pod per node that takes it, and what a removed claim owned
// goes with it.
#pragma once

#include <map>
#include <set>
#include <string>

#include "sim/api_server.h"
#include "sim/core.h"
#include "sim/scenario.h"

namespace karst::sim {

class Controllers : public ApiObserver {
 public:
  Controllers(Core& core, ApiServer& api, const Scenario& scenario);

  void start();  // plans the timelines

  // Whether the PodDisruptionBudget of the pod's workload lets it go now.
  bool may_evict(const PodEntry& entry) const;

  void pod_changed(const PodEntry& entry) override;
  void pod_removed(const PodEntry& entry) override;
  void node_changed(const NodeEntry&) override { plan_daemons(); }
  void claim_removed(const model::NodeClaim& claim) override;

 private:
  struct Owner {
    const Workload* workload = nullptr;
    const model::PodShape* shape = nullptr;
    std::int64_t wanted = 0;     // replicas, or completions of a Job
    std::int64_t succeeded = 0;  // Job
    std::int64_t made = 0;
    bool planned = false;
    std::set<std::string> pods;
  };
  static bool is_job(const Owner& owner) {
    return owner.workload->shape.owner_kind == model::OwnerKind::kJob;
  }
  void plan(Owner& owner);
  void reconcile(Owner& owner);
  void create(Owner& owner);
  void shrink(Owner& owner, std::int64_t surplus);
  void plan_daemons();
  void reconcile_daemons();

  Core& core_;
  ApiServer& api_;
  const Scenario& scenario_;
  std::map<std::string, Owner> owners_;
  std::map<std::string, const model::PodShape*> daemons_;  // by name
  std::set<std::string> counted_;                          // succeeded pods of Jobs
  bool daemons_planned_ = false;
};

}  // namespace karst::sim
