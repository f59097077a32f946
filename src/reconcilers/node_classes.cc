// Node classes of clouds where selectors are asked of the account: what they find is asked for
// again and again, and shown in the status; zones that are to be left alone, by verdicts of pools.
#include "base/sha256.h"
#include "reconcilers/explained.h"
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

void show(const ClusterState& state, const Context& context, Plan& plan,
          const projections::NodeClassRow& row) {
  const model::NodeClass& node_class = row.node_class;
  providers::NodeClassStatus status = context.provider.status_of(node_class, row.resolved);
  model::MirrorStatus mirror;
  mirror.group = node_class.ref.group;
  mirror.kind = node_class.ref.kind;
  mirror.name = node_class.ref.name;
  mirror.uid = node_class.uid;
  mirror.fields_json = std::move(status.fields_json);
  const std::vector<model::Condition>& told = told_conditions(state, mirror);
  Conditions conditions(told, node_class.generation);
  for (const model::Condition& one : told) conditions.clear(one.type);  // but for what still holds
  for (const model::Condition& one : status.conditions)
    conditions.set(one.type, one.status, one.reason, one.message, context.now);
  const model::Condition* ready = conditions.find("Ready");
  const bool hidden = ready != nullptr && node_class.ready_condition.status != ready->status;
  explain_status(state, context, plan, std::move(mirror), conditions, row.position, hidden);
}

// Its pools say which zones they leave alone, and when that is over.
void tell_shifts(const ClusterState& state, const Context& context, Plan& plan,
                 const projections::NodeClassRow& row) {
  const std::vector<std::string> zones = context.provider.shifted_zones(row.resolved);
  for (const auto& [name, slot] : state.pools().slots()) {
    if (slot.row.pool.node_class != row.node_class.ref) continue;
    const std::string subject = pool_subject(name);
    if (!zones.empty()) plan.verdict(subject, "zonal_shift_active", zones, row.resolved_position);
    const auto* known = state.verdicts().find(std::pair(subject, std::string("node_classes")));
    if (zones.empty() && known != nullptr && known->verdict.code == "zonal_shift_active")
      plan.verdict(subject, "zonal_shift_cleared", known->verdict.args, row.resolved_position);
  }
}

}  // namespace

void reconcile_node_classes(const ClusterState& state, const Context& context, Plan& plan) {
  if (!state.listed("NodeClass") || !context.provider.depends_on_class()) return;
  for (const auto& [ref, slot] : state.node_classes().slots()) {
    const model::NodeClass& node_class = slot.row.node_class;
    if (plan.full()) return;
    if (!context.provider.understands(ref) || node_class.deletion_millis != 0) continue;
    resolve(state, context, plan, slot.row);
    tell_shifts(state, context, plan, slot.row);
    if (!state.config().shadow) show(state, context, plan, slot.row);
  }
}

}  // namespace karst::reconcilers
