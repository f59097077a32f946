// What of a node's pods keeps it from being chosen for removal: one that asks not to be disrupted,
// or one that its disruption budgets do not let go now; daemons' pods as well as others.
// Karpenter's rules (v1.14, its candidates for graceful disruption). Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reconcilers/queries.h"

namespace karst::reconcilers {

struct PodHold {
  std::string_view code;  // of the verdict; empty: nothing holds the node
  std::string who;        // NAMESPACE/NAME of the pod, or of the budget; of several budgets "[A B]"
};

// Reads the budgets when the first node is asked about.
class PodHolds {
 public:
  // `state` outlives it.
  explicit PodHolds(const ClusterState& state) : state_(state) {}

  // Has the plan looked at again when an annotation's time is over.
  PodHold on(const model::NodeName& node, LogTime now, Plan& plan);

 private:
  const std::vector<model::DisruptionBudget>& budgets();

  const ClusterState& state_;
  std::optional<std::vector<model::DisruptionBudget>> budgets_;
};

}  // namespace karst::reconcilers
