// Node pools as the API server should show them: what their claims amount to, their conditions, and
// the hash of their template. Conditions and words are Karpenter's (v1.14).
#include <algorithm>

#include "model/pool_hash.h"
#include "reconcilers/claim_status.h"
#include "reconcilers/conditions.h"
#include "reconcilers/hash_versions.h"
#include "reconcilers/list.h"
#include "reconcilers/pool_rules.h"
#include "reconcilers/queries.h"

namespace karst::reconcilers {
namespace {

using model::ConditionStatus;

constexpr std::string_view kNodeClassReady = "NodeClassReady";
constexpr std::string_view kRegistrationHealthy = "NodeRegistrationHealthy";

std::int64_t class_generation(const ClusterState& state, const model::NodePool& pool) {
  const auto* row = state.node_classes().find(pool.node_class);
  return row == nullptr ? 0 : row->node_class.generation;
}

// Whether its nodes register: unhealthy when half of the last four claims did not, healthy as soon
// as one has. Unknown before a claim has told, and again after a change of the pool or its class;
// of a class that there is not, nothing is said.
void set_registration(Conditions& conditions, const ClusterState& state,
                      const projections::PoolRow& row, LogTime now) {
  const auto failures = std::count(row.registrations.begin(), row.registrations.end(), 'f');
  if (failures * 2 >= static_cast<std::int64_t>(projections::kRegistrationsMax))
    return conditions.set(kRegistrationHealthy, ConditionStatus::kFalse, "RegistrationFailed",
                          "Failed to register node", now);
  if (row.registrations.find('r') != std::string::npos)
    return conditions.set_true(kRegistrationHealthy, now);
  if (!state.node_classes().contains(row.pool.node_class)) return;
  const model::Condition* known = conditions.find(kRegistrationHealthy);
  if (known == nullptr || known->status == ConditionStatus::kUnknown ||
      known->observed_generation != row.pool.generation ||
      row.pool.node_class_observed_generation != class_generation(state, row.pool))
    conditions.set_waiting(kRegistrationHealthy, now);
}

Conditions pool_conditions(const ClusterState& state, const Context& context,
                           const projections::PoolRow& row) {
  const model::NodePool& pool = row.pool;
  Conditions conditions(pool.conditions, pool.generation);
  const LogTime now = context.now;
  if (std::string fault = invalid_pool(state, pool); fault.empty())
    conditions.set_true(kValidationSucceeded, now);
  else
    conditions.set(kValidationSucceeded, ConditionStatus::kFalse, "NodePoolValidationFailed",
                   std::move(fault), now);
  const model::Condition ready = node_class_ready(state, pool);
  conditions.set(kNodeClassReady, ready.status, ready.reason, ready.message, now);
  set_registration(conditions, state, row, now);
  conditions.set_root({kValidationSucceeded, kNodeClassReady}, now);
  return conditions;
}

// What is in use by resource, "nodes" among them, as Karpenter counts it.
model::Resources resources_of(const projections::PoolTotals& totals) {
  model::Resources resources = totals.capacity;
  resources.set_amount("nodes", totals.nodes);
  return resources;
}

// A pool whose hash was computed by another recipe says nothing of its claims. True when none is
// left that must take over the new one.
bool migrate_claims(const ClusterState& state, const Context& context, Plan& plan,
                    const model::NodePool& pool, const std::string& hash) {
  const HashVersion to{model::kPoolHashAnnotation, model::kPoolHashVersionAnnotation,
                       model::kPoolHashVersion, hash};
  bool done = true;
  for (const auto& [name, slot] : state.claims().slots())
    if (slot.row.claim.pool == pool.name &&
        !model::label_value(slot.row.claim.annotations, to.version_key).empty())
      done = migrate_claim(state, context, plan, slot.row, to) && done;
  return done;
}

}  // namespace

void reconcile_pools(const ClusterState& state, const Context& context, Plan& plan) {
  for (const std::string_view kind : {"NodePool", "NodeClass", "NodeClaim", "Node"})
    if (!state.listed(kind)) return;
  for (const auto& [name, slot] : state.pools().slots()) {
    if (plan.full()) return;
    const model::NodePool& pool = slot.row.pool;
    if (pool.deletion_millis != 0 || !context.provider.understands(pool.node_class)) continue;
    static const projections::PoolTotals kNone;
    const projections::PoolTotals* totals = state.totals_of(name);
    if (totals == nullptr) totals = &kNone;
    model::MirrorPool mirror;
    mirror.resources = resources_of(*totals);
    mirror.nodes = totals->nodes;
    mirror.node_class_observed_generation = class_generation(state, pool);
    const std::string hash = model::pool_hash(pool);
    const bool migrated = pool.hash_version.empty() ||
                          pool.hash_version == model::kPoolHashVersion ||
                          migrate_claims(state, context, plan, pool, hash);
    if (migrated && (pool.hash != hash || pool.hash_version != model::kPoolHashVersion)) {
      mirror.hash = hash;
      mirror.hash_version = model::kPoolHashVersion;
    }
    const Conditions conditions = pool_conditions(state, context, slot.row);
    const bool shown = mirror.hash.empty() && mirror.resources == pool.status_resources &&
                       mirror.nodes == pool.status_nodes &&
                       mirror.node_class_observed_generation == pool.node_class_observed_generation;
    if (shown && !conditions.differ() && conditions.same_generation()) continue;
    if (!may_issue(state, context, plan, pool_subject(name), model::CommandKind::kMirrorPool))
      continue;
    mirror.name = name;
    mirror.uid = pool.uid;
    mirror.conditions = conditions.said();
    plan.command(std::move(mirror), "status", {slot.row.position});
  }
}

}  // namespace karst::reconcilers
