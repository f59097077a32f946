// Questions about the state that several reconcilers ask. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "projections/cluster_state.h"
#include "reconcilers/reconciler.h"

namespace karst::reconcilers {

using base::LogTime;
using model::Position;
using projections::ClaimRow;
using projections::ClusterState;
using projections::NodeRow;

// A claim whose node goes, for whatever cause.
inline bool leaves(const ClaimRow& row) {
  return row.leaving() || row.interrupted_at.value() != 0 || row.gone_at.value() != 0;
}

// Of a pod without a place: in the arguments of its verdict, for what no pool is to blame for.
inline constexpr std::string_view kEveryPool = "*";

inline std::string claim_subject(const model::ClaimName& name) {
  return "nodeclaim/" + name.str();
}
inline std::string pool_subject(const model::PoolName& name) {
  return "nodepool/" + name.str();
}
inline std::string node_subject(const model::NodeName& name) {
  return "node/" + name.str();
}

// Claims of a node class that this provider understands; others belong to another product.
inline bool ours(const ClaimRow& row, const Context& context) {
  return context.provider.understands(row.claim.node_class);
}

// Whether a command of that kind about that subject may be issued now: none is open and no back-off
// holds. Asks for a wake-up when the back-off ends.
bool may_issue(const ClusterState& state, const Context& context, Plan& plan,
               const std::string& subject, model::CommandKind kind);

// Whether a claim of the pool may be made now. While the API server refuses them, the pool waits
// for the end of a back-off; a verdict says so.
bool may_make_claim(const ClusterState& state, const Context& context, Plan& plan,
                    const model::PoolName& pool);

// Asks for the claim's deletion unless that is under way. `why` becomes ClaimRow::delete_reason.
void request_delete(const ClusterState& state, const Context& context, Plan& plan,
                    const ClaimRow& row, std::string_view why, std::vector<Position> evidence,
                    Position root);

// Taints the claim's node with karpenter.sh/disrupted:NoSchedule, or takes the taint off, unless it
// is so already.
void set_disrupted(const ClusterState& state, const Context& context, Plan& plan,
                   const ClaimRow& row, const NodeRow& node, bool add, std::string_view why,
                   std::vector<Position> evidence, Position root);

// A read-back that a destructive step may rest on: after the taint's echo, and young enough.
bool read_back_is_fresh(const ClusterState& state, LogTime now, const NodeRow& node);
// Asks for one.
void request_read_back(const ClusterState& state, const Context& context, Plan& plan,
                       const NodeRow& node, std::string_view why, Position root);

// Every object kind that says what can be bought has been listed since the start.
bool offers_listed(const ClusterState& state);
// And every other one that provisioning and voluntary removal rest on.
bool all_listed(const ClusterState& state);

// The largest capacity that an unlaunched claim may turn out to have, per resource; a launched
// claim's own.
model::Resources reserved_capacity(const ClusterState& state, const ClaimRow& row);

// The catalogue that decisions use: the observed one, else the embedded one.
const model::Catalogue& catalogue(const ClusterState& state, const Context& context);

// Why a claim is deleted whose node is repaired: its pods have no time.
inline constexpr std::string_view kUnhealthy = "unhealthy";

// When the pods of a claim that goes must have left, in unix milliseconds: what its annotation
// says, else terminationGracePeriod after its deletion, and when that was asked for if its node is
// unhealthy; nullopt: no such time. That a machine is
// about to be taken away is no such time: it does not bypass a disruption budget.
std::optional<std::int64_t> forced_deadline_millis(const ClaimRow& row);
inline bool drain_is_overdue(const ClaimRow& row, LogTime now) {
  const auto deadline = forced_deadline_millis(row);
  return deadline && now.value() >= *deadline;
}

// More than one node carries the provider id of the claim's machine: nobody knows which is its own.
inline bool several_nodes(const ClusterState& state, const ClaimRow& row) {
  return row.launched() && state.nodes_by_provider_id(row.instance.provider_id).size() > 1;
}

// The labels that a machine brings by its type and offer; none before it is launched.
model::Labels machine_labels(const ClusterState& state, const Context& context,
                             const ClaimRow& row);

}  // namespace karst::reconcilers
