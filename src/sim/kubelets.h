// The simulated machines' side of the cluster: a booted machine registers its Node, becomes Ready,
// starts and ends pods; a dead one stops reporting. With them the small controllers that look after
// nodes: taint manager, pod garbage collection, the agent that lifts startup taints, and, if the
// scenario has one, the cloud controller that removes dead machines' Nodes.
#pragma once

#include <cstdint>
#include <string>

#include "sim/api_server.h"
#include "sim/cloud.h"
#include "sim/core.h"
#include "sim/scenario.h"

namespace karst::sim {

class Kubelets : public ApiObserver {
 public:
  Kubelets(Core& core, ApiServer& api, Cloud& cloud, const Scenario& scenario);

  void pod_changed(const PodEntry& entry) override;
  void node_changed(const NodeEntry& entry) override;
  void node_removed(const NodeEntry& entry) override;

 private:
  void boot(const Machine& machine);
  void register_node(const std::string& provider_id, bool becomes_ready);
  void machine_gone(const model::ProviderId& id);
  void stop_reporting(const std::string& node);
  void start_pod(const std::string& uid);
  void end_pod(const std::string& uid);
  void evict_intolerant(const std::string& node);
  bool runs(const std::string& node) const;  // the machine behind it is alive

  Core& core_;
  ApiServer& api_;
  Cloud& cloud_;
  const Scenario& scenario_;
};

}  // namespace karst::sim
