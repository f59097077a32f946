#include "reconcilers/claim_status.h"

#include <algorithm>

#include "reconcilers/drain.h"

namespace karst::reconcilers {
namespace {

using model::ConditionStatus;

constexpr std::string_view kLaunched = "Launched";
constexpr std::string_view kRegistered = "Registered";
constexpr std::string_view kInitialized = "Initialized";
constexpr std::string_view kDrained = "Drained";
constexpr std::string_view kVolumesDetached = "VolumesDetached";
constexpr std::string_view kInstanceTerminating = "InstanceTerminating";
constexpr std::string_view kConsistentStateFound = "ConsistentStateFound";
constexpr std::string_view kDisruptionReason = "DisruptionReason";
constexpr std::int64_t kDeletedGeneration = 2;

bool has_taint(const model::Node& node, const model::Taint& wanted) {
  return std::any_of(node.taints.begin(), node.taints.end(), [&](const model::Taint& taint) {
    return taint.key == wanted.key && taint.effect == wanted.effect;
  });
}

std::string taint_text(const model::Taint& taint) {
  return taint.key + (taint.value.empty() ? "" : "=" + taint.value) + ":" +
         std::string(taint_effect_name(taint.effect));
}

// The first resource that the claim asked for and the node does not have; empty: none.
std::string unregistered_resource(const ClaimRow& row, const model::Node& node) {
  for (const char* name : {"cpu", "memory", "ephemeral-storage"})
    if (row.claim.requests.amount(name) > 0 && node.allocatable.amount(name) == 0) return name;
  for (const auto& [name, amount] : row.claim.requests.extended)
    if (amount > 0 && node.allocatable.amount(name) == 0) return name;
  return {};
}

void set_launched(Conditions& conditions, const ClaimRow& row, LogTime created) {
  if (row.launched()) return conditions.set_true(kLaunched, row.launched_at);
  const bool failed = row.launch_refused && row.launch_code != model::RefusalCode::kCapacity;
  if (!failed) return conditions.set_waiting(kLaunched, created);
  std::string reason = row.launch_reason.empty() ? "LaunchFailed" : row.launch_reason;
  std::string message = row.launch_message;
  if (row.launch_reason.empty() && message.size() >= projections::kLaunchMessageMax)
    message += "...";
  conditions.set(kLaunched, ConditionStatus::kUnknown, std::move(reason), std::move(message),
                 created);
}

void set_way_up(Conditions& conditions, const ClusterState& state, const ClaimRow& row,
                const NodeRow* node) {
  const LogTime created(row.claim.creation_millis);
  set_launched(conditions, row, created);
  if (row.registered_at.value() != 0)
    conditions.set_true(kRegistered, row.registered_at);
  else if (several_nodes(state, row))
    conditions.set(kRegistered, ConditionStatus::kFalse, "MultipleNodesFound",
                   "Invariant violated, matched multiple nodes", created);
  else if (row.launched())
    conditions.set(kRegistered, ConditionStatus::kUnknown, "NodeNotFound",
                   "Node not registered with cluster", created);
  else
    conditions.set_waiting(kRegistered, created);
  if (row.initialized_at.value() != 0) {
    conditions.set_true(kInitialized, row.initialized_at);
  } else if (row.registered_at.value() == 0) {
    conditions.set_waiting(kInitialized, created);
  } else if (node == nullptr) {
    conditions.set(kInitialized, ConditionStatus::kUnknown, "NodeNotFound",
                   "Node not registered with cluster", created);
  } else {
    NotInitialized why = not_initialized(row, node->node);
    if (why.reason.empty())  // the label is on its way
      conditions.set_waiting(kInitialized, created);
    else
      conditions.set(kInitialized, ConditionStatus::kUnknown, std::move(why.reason),
                     std::move(why.message), created);
  }
}

// A machine that is smaller than what the cloud sold by more than a tenth.
void set_consistent(Conditions& conditions, const ClaimRow& row, const NodeRow& node) {
  const model::Resources& expected = row.instance.capacity;
  std::string missing;
  for (const char* name : {"cpu", "memory", "pods", "ephemeral-storage"})
    if (row.claim.requests.amount(name) > 0 &&
        node.node.capacity.amount(name) < expected.amount(name) - expected.amount(name) / 10)
      missing += (missing.empty() ? "" : ", ") + std::string(name);
  if (missing.empty())
    conditions.set_true(kConsistentStateFound, row.initialized_at);
  else
    conditions.set(
        kConsistentStateFound, ConditionStatus::kFalse, "ConsistencyCheckFailed",
        "Consistency Check Failed: the node has less than 90% of the claim's capacity of " +
            missing,
        row.initialized_at);
}

void set_way_down(Conditions& conditions, const ClusterState& state, const Context& context,
                  const ClaimRow& row, const NodeRow* node) {
  const bool terminating = row.terminate_requested_at.value() != 0;
  const LogTime now = context.now;
  if (!terminating && (node == nullptr || node->tainted_at == Position())) return;
  if (!terminating && !is_drained(state, row, *node, now)) {
    // An empty node gets no condition that is over before anybody can read it.
    if (!leaving_pods(state, node->node.name, now).empty())
      conditions.set(kDrained, ConditionStatus::kUnknown, "Draining", "Draining", now);
    return;
  }
  conditions.set_true(kDrained, now);
  const bool overdue = drain_is_overdue(row, now);
  if (node != nullptr && !attached_volumes(state, *node, now).empty() && !terminating) {
    if (overdue)
      conditions.set(kVolumesDetached, ConditionStatus::kFalse, "TerminationGracePeriodElapsed",
                     "TerminationGracePeriodElapsed", now);
    else
      conditions.set(kVolumesDetached, ConditionStatus::kUnknown, "AwaitingVolumeDetachment",
                     "AwaitingVolumeDetachment", now);
  } else if (const auto* known = conditions.find(kVolumesDetached);
             known == nullptr || known->status != ConditionStatus::kFalse) {
    conditions.set_true(kVolumesDetached, now);
  }
  if (terminating) conditions.set_true(kInstanceTerminating, row.terminate_requested_at);
}

}  // namespace

NotInitialized not_initialized(const ClaimRow& row, const model::Node& node) {
  if (!node.ready) return {"NodeNotReady", "Node status is NotReady"};
  for (const model::Taint& taint : row.claim.startup_taints)
    if (has_taint(node, taint))
      return {"StartupTaintsExist", "StartupTaint \"" + taint_text(taint) + "\" still exists"};
  for (const model::Taint& taint : node.taints)
    if (model::is_known_ephemeral(taint))
      return {"KnownEphemeralTaintsExist",
              "KnownEphemeralTaint \"" + taint_text(taint) + "\" still exists"};
  if (const std::string name = unregistered_resource(row, node); !name.empty())
    return {"ResourceNotRegistered", "Resource \"" + name + "\" was requested but not registered"};
  return {};
}

bool is_drained(const ClusterState& state, const ClaimRow& row, const NodeRow& node, LogTime now) {
  if (row.terminate_requested_at.value() != 0) return true;
  if (node.tainted_at == Position() || !leaving_pods(state, node.node.name, now).empty())
    return false;
  return node.read_back_position < node.tainted_at || !read_back_waits(state, node, now);
}

Conditions claim_conditions(const ClusterState& state, const Context& context,
                            const ClaimRow& row) {
  const bool leaves = row.claim.deletion_millis != 0;
  const NodeRow* node = state.node_of(row);
  Conditions conditions(row.claim.conditions, leaves ? kDeletedGeneration : kClaimGeneration);
  if (leaves) {
    set_way_down(conditions, state, context, row, node);
    return conditions;
  }
  set_way_up(conditions, state, row, node);
  if (row.initialized_at.value() != 0 && node != nullptr) set_consistent(conditions, row, *node);
  if (row.candidate)
    conditions.set(kDisruptionReason, ConditionStatus::kTrue, "Empty", "Empty", context.now);
  else
    conditions.clear(kDisruptionReason);  // a removal that was called off, or left over
  conditions.set_root({kLaunched, kRegistered, kInitialized}, context.now);
  return conditions;
}

}  // namespace karst::reconcilers
