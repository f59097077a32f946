// Node classes of clouds where selectors are asked of the account: what they find is asked for
// again and again, and shown in the status; zones that are to be left alone, by verdicts of pools.
// A finalizer keeps a class that is being deleted until its claims are gone, and what was made for
// it in the account after them.
#include <algorithm>

#include "base/sha256.h"
#include "reconcilers/explained.h"
#include "reconcilers/hash_versions.h"
#include "reconcilers/list.h"
#include "reconcilers/queries.h"

namespace karst::reconcilers {
namespace {

// Subnets fill up and images are published: as often as Karpenter looks (v1.14, provider caches).
constexpr std::int64_t kResolveEveryMillis = 60'000;

void resolve(const ClusterState& state, const Context& context, Plan& plan,
             const projections::NodeClassRow& row) {
  const model::NodeClass& node_class = row.node_class;
  const bool current =
      row.resolved_at.value() != 0 && row.resolved_generation == node_class.generation;
  if (const LogTime next = row.resolved_at + kResolveEveryMillis; current && context.now < next)
    return plan.wake_at(next);
  if (!may_issue(state, context, plan, "nodeclass/" + node_class.ref.name,
                 model::CommandKind::kResolveNodeClass))
    return;
  std::string request = context.provider.encode_resolve(node_class);
  if (request.empty()) return;
  model::ResolveNodeClass command;
  command.ref = node_class.ref;
  command.uid = node_class.uid;
  command.generation = node_class.generation;
  command.request = std::move(request);
  if (!row.resolved.empty()) command.known = base::hex_lower(base::sha256(row.resolved));
  plan.command(std::move(command), current ? "again" : "changed", {row.position});
}

// Whether what is known was found for the spec that the class had before: what is written is said
// of the present one.
bool is_of_older(const std::vector<model::Condition>& conditions, std::int64_t generation) {
  return std::any_of(conditions.begin(), conditions.end(), [&](const model::Condition& one) {
    return one.observed_generation != 0 && one.observed_generation != generation;
  });
}

void show(const ClusterState& state, const Context& context, Plan& plan,
          const projections::NodeClassRow& row) {
  const model::NodeClass& node_class = row.node_class;
  const providers::NodeClassStatus& status =
      context.class_types.standing(state, context.provider, row).status;
  if (is_of_older(status.conditions, node_class.generation)) return;
  model::MirrorStatus mirror;
  mirror.group = node_class.ref.group;
  mirror.kind = node_class.ref.kind;
  mirror.name = node_class.ref.name;
  mirror.uid = node_class.uid;
  mirror.fields_json = status.fields_json;
  const std::vector<model::Condition>& told = told_conditions(state, mirror);
  Conditions conditions(told, node_class.generation);
  for (const model::Condition& one : told) conditions.clear(one.type);  // but for what still holds
  for (const model::Condition& one : status.conditions)
    conditions.set(one.type, one.status, one.reason, one.message, context.now);
  const model::Condition* ready = conditions.find("Ready");
  const model::Condition& shown = node_class.ready_condition;
  // Somebody else's word in the place of it, or an older one of ours.
  const bool hidden =
      ready != nullptr &&
      (shown.status != ready->status ||
       (shown.observed_generation != 0 && shown.observed_generation != node_class.generation));
  explain_status(state, context, plan, std::move(mirror), conditions, row.position, hidden);
}

// Its pools say which zones they leave alone, and when that is over.
void tell_shifts(const ClusterState& state, const Context& context, Plan& plan,
                 const projections::NodeClassRow& row) {
  const std::vector<std::string>& zones =
      context.class_types.standing(state, context.provider, row).shifted_zones;
  for (const auto& [name, slot] : state.pools().slots()) {
    if (slot.row.pool.node_class != row.node_class.ref) continue;
    const std::string subject = pool_subject(name);
    if (!zones.empty()) plan.verdict(subject, "zonal_shift_active", zones, row.resolved_position);
    const auto* known = state.verdicts().find(std::pair(subject, std::string("node_classes")));
    if (zones.empty() && known != nullptr && known->verdict.code == "zonal_shift_active")
      plan.verdict(subject, "zonal_shift_cleared", known->verdict.args, row.resolved_position);
  }
}

// For people, and no more than a line shows.
constexpr std::size_t kClaimsNamedMax = 5;

void set_finalizer(const ClusterState& state, const Context& context, Plan& plan,
                   const projections::NodeClassRow& row, bool add) {
  const model::NodeClass& node_class = row.node_class;
  if (!may_issue(state, context, plan, "nodeclass/" + node_class.ref.name,
                 model::CommandKind::kSyncNodeClass))
    return;
  model::SyncNodeClass command;
  command.ref = node_class.ref;
  command.uid = node_class.uid;
  command.add_finalizer = add;
  command.remove_finalizer = !add;
  plan.command(std::move(command), add ? "keep" : "released", {add ? row.position : row.released});
}

// Of claims that nobody has deleted yet, too: as Karpenter, a class outlives its machines.
std::vector<std::string> claims_of(const ClusterState& state, const model::NodeClassRef& ref) {
  std::vector<std::string> names;
  for (const auto& [name, slot] : state.claims().slots())
    if (slot.row.claim.node_class == ref && names.size() < kClaimsNamedMax)
      names.push_back(name.str());
  return names;
}

// As Karpenter: what changes of a class that carries this recipe's hash is told to the class alone,
// so that its claims differ from it. With another recipe's hash, or none, its claims take over the
// new one first: nothing has drifted because of who looks.
void stamp_hash(const ClusterState& state, const Context& context, Plan& plan,
                const projections::NodeClassRow& row) {
  const model::NodeClass& node_class = row.node_class;
  const std::string_view version = context.provider.class_hash_version();
  if (version.empty() || row.resolved_generation != node_class.generation) return;
  const std::string& hash = context.class_types.standing(state, context.provider, row).hash;
  const bool same_version = node_class.hash_version == version;
  if (hash.empty() || (same_version && node_class.hash == hash)) return;
  const model::NodeClassRef& ref = node_class.ref;
  const std::string key = model::class_hash_key(ref.group, ref.kind);
  const std::string version_key = model::class_hash_version_key(ref.group, ref.kind);
  bool migrated = true;
  for (const auto& [name, slot] : state.claims().slots())
    if (!same_version && slot.row.claim.node_class == ref)
      migrated = migrate_claim(state, context, plan, slot.row, {key, version_key, version, hash}) &&
                 migrated;
  if (!migrated ||
      !may_issue(state, context, plan, "nodeclass/" + ref.name, model::CommandKind::kSyncNodeClass))
    return;
  model::SyncNodeClass command;
  command.ref = ref;
  command.uid = node_class.uid;
  command.hash = hash;
  command.hash_version = version;
  plan.command(std::move(command), "hash", {row.position});
}

void release(const ClusterState& state, const Context& context, Plan& plan,
             const projections::NodeClassRow& row) {
  const model::NodeClass& node_class = row.node_class;
  if (!node_class.has_finalizer || !state.listed("NodeClaim")) return;
  if (row.released != Position()) return set_finalizer(state, context, plan, row, false);
  const std::string subject = "nodeclass/" + node_class.ref.name;
  if (std::vector<std::string> names = claims_of(state, node_class.ref); !names.empty())
    return plan.verdict(subject, "waiting_on_claims", std::move(names), row.position);
  if (!may_issue(state, context, plan, subject, model::CommandKind::kReleaseNodeClass)) return;
  plan.command(model::ReleaseNodeClass{node_class.ref, node_class.uid,
                                       context.provider.encode_release(node_class)},
               "deleted", {row.position});
}

// The class's finalizer and what follows from it; true while the class lives on.
bool lives(const ClusterState& state, const Context& context, Plan& plan,
           const projections::NodeClassRow& row) {
  const bool deleted = row.node_class.deletion_millis != 0;
  const bool keeps = !context.provider.encode_release(row.node_class).empty();
  if (state.config().shadow || !keeps) return !deleted;
  if (deleted) release(state, context, plan, row);
  if (!deleted && !row.node_class.has_finalizer) set_finalizer(state, context, plan, row, true);
  return !deleted;
}

}  // namespace

void reconcile_node_classes(const ClusterState& state, const Context& context, Plan& plan) {
  if (!state.listed("NodeClass") || !context.provider.depends_on_class()) return;
  for (const auto& [ref, slot] : state.node_classes().slots()) {
    if (plan.full()) return;
    if (!context.provider.understands(ref) || !lives(state, context, plan, slot.row)) continue;
    resolve(state, context, plan, slot.row);
    tell_shifts(state, context, plan, slot.row);
    if (state.config().shadow) continue;
    if (state.listed("NodeClaim")) stamp_hash(state, context, plan, slot.row);
    show(state, context, plan, slot.row);
  }
}

}  // namespace karst::reconcilers
