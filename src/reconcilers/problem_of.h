// The state as a scheduling problem: which pods ask, what could take them. Internal to
// provisioning.
#pragma once

#include <vector>

#include "reconcilers/queries.h"
#include "scheduling/problem.h"

namespace karst::reconcilers {

// Pods that ask for a place, grouped so that equal ones are one row: by shape, namespace and those
// labels that some selector asks for, in this order; pods of a group by uid. A pod with a claim
// that one pod alone may use is a group of its own.
struct Demand {
  std::vector<model::ShapeHash> shapes;  // by group; a shape may come more than once
  std::vector<model::Labels> labels;
  std::vector<std::vector<const projections::PodRow*>> pods;
  // What the batch window counts from: when the first and the last began to ask of those that came
  // after the last pass that left some without a place; 0: none has. One whose seat was taken by
  // another asks as long as its node fills up: who is left over is known when kube-scheduler
  // pauses.
  LogTime first_asked;
  LogTime last_asked;
};

// Pending pods that nothing covers, their twins that kube-scheduler has not come to (decision
// 0023), and pods of leaving nodes that have no other place yet. Of the twins one is enough where
// it keeps the window open.
Demand demand_of(const ClusterState& state, const Context& context, Plan& plan);

// When the batch window over the pods that the last pass has not seen closes: idle for a while, or
// open for too long. Those that it left without a place are looked at with them, or when there is
// time for it.
LogTime window_closes(const ClusterState& state, const Demand& demand);

// How long a node that is not initialized yet may still be counted on: registration and
// initialization each have that long.
LogTime comes_up_until(const ClusterState& state, const ClaimRow& row);

struct SupplyNode {
  model::NodeName node;    // empty for a claim whose node is not there yet
  model::ClaimName claim;  // empty for a node that karst did not make
  bool initialized = false;
};

// What could take pods of the demand now: nodes that stay, and launched claims on their way. Pods
// of other nodes still count for spreads and affinities. Nodes without room for the smallest pod
// are left out where nothing counts their pods.
struct Supply {
  std::vector<SupplyNode> nodes;
  std::vector<scheduling::Node> offers;     // same order
  std::vector<const NodeRow*> taking_none;  // every other node
};
// `all`: also nodes that have no room for anybody of the demand.
Supply supply_of(const ClusterState& state, const Context& context, const Demand& demand, bool all);

// Pods in the demand's order; then, if asked for, those that CapacityBuffers stand for (buffers.h).
// Reservations come with what pools offer (offered.h), less the machines that claims hold of them.
// Takes supply.offers over: every node of the cluster is copied once, not twice.
scheduling::Problem problem_of(const ClusterState& state, const Context& context,
                               const Demand& demand, Supply& supply, bool with_buffers = false);

}  // namespace karst::reconcilers
