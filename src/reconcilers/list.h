// The reconcile function of every reconciler; each lives in a file of its name. Internal to
// reconcilers.
#pragma once

#include "reconcilers/reconciler.h"

namespace karst::reconcilers {

// Commands without a clear answer: sent again (launches and creates: same id, same bytes), searched
// for, or abandoned.
void reconcile_retry(const projections::ClusterState& state, const Context& context, Plan& plan);
// Machines that are about to be taken: taint at once, give the claim up, so that replacement starts
// at notice time.
void reconcile_interruption(const projections::ClusterState& state, const Context& context,
                            Plan& plan);
// Nodes that have been unhealthy for too long are given up.
void reconcile_repair(const projections::ClusterState& state, const Context& context, Plan& plan);
// A claim's way up: launch, registration, initialization, and the timeouts that end it.
void reconcile_lifecycle(const projections::ClusterState& state, const Context& context,
                         Plan& plan);
// A claim's way down: taint, drain, read-back, terminate, proof of absence, finalizers.
void reconcile_termination(const projections::ClusterState& state, const Context& context,
                           Plan& plan);
// Instances without a claim, and claims without an instance.
void reconcile_orphans(const projections::ClusterState& state, const Context& context, Plan& plan);
// Voluntary removal of nodes that nothing needs, within budgets.
void reconcile_emptiness(const projections::ClusterState& state, const Context& context,
                         Plan& plan);
// Pools with `replicas` have that many nodes, whatever pods there are.
void reconcile_static_pools(const projections::ClusterState& state, const Context& context,
                            Plan& plan);
// Pending pods become claims and nominations.
void reconcile_provisioning(const projections::ClusterState& state, const Context& context,
                            Plan& plan);
// NodeClaim status and labels as the state has them.
void reconcile_mirror(const projections::ClusterState& state, const Context& context, Plan& plan);
// Which claims are no longer what their pool and class say: condition Drifted.
void reconcile_drift(const projections::ClusterState& state, const Context& context, Plan& plan);
// NodePool status and drift hash.
void reconcile_pools(const projections::ClusterState& state, const Context& context, Plan& plan);
// Node classes: what their selectors find, and their status.
void reconcile_node_classes(const projections::ClusterState& state, const Context& context,
                            Plan& plan);
// NodeOverlays: which are applied, and their status.
void reconcile_overlays(const projections::ClusterState& state, const Context& context, Plan& plan);
// CapacityBuffers' status.
void reconcile_buffers(const projections::ClusterState& state, const Context& context, Plan& plan);
// Beside the product that acts: whatever the others asked for ends as not sent.
void reconcile_shadow(const projections::ClusterState& state, const Context& context, Plan& plan);

}  // namespace karst::reconcilers
