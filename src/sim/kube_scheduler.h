// The simulated cluster's own kube-scheduler: binds pending pods to ready nodes that fit, and says
// Unschedulable otherwise. Knows requests, taints, node selectors, required node affinity and
// cordons; prefers nothing clever. Own code, so that a mistake of src/scheduling cannot hide in
// both.
#pragma once

#include "model/pod.h"
#include "sim/api_server.h"
#include "sim/core.h"

namespace karst::sim {

// Whether the labels, taints and free resources of a node would take such a pod.
bool selects(const model::PodShape& shape, const model::Labels& labels);
bool matches(const model::RequirementSpec& expression, const model::Labels& labels);

class KubeScheduler : public ApiObserver {
 public:
  KubeScheduler(Core& core, ApiServer& api) : core_(core), api_(api) { api.observe(*this); }

  void pod_changed(const PodEntry& entry) override;
  void pod_removed(const PodEntry& entry) override;
  void node_changed(const NodeEntry&) override { kick(); }

 private:
  void kick();
  void pass();
  const NodeEntry* place(const PodEntry& entry) const;

  Core& core_;
  ApiServer& api_;
  bool planned_ = false;
};

}  // namespace karst::sim
