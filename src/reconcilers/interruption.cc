// Interruption: the machine will be taken. Taint first, so that nothing new lands there; give the
// claim up, so that the drain and the replacement start at notice time. Earliest deadline first.
// The end of a reserved block of capacity is known beforehand, and nobody sends a notice.
#include <algorithm>
#include <limits>
#include <tuple>

#include "reconcilers/list.h"
#include "reconcilers/queries.h"

namespace karst::reconcilers {

namespace {

// As Karpenter's provider for AWS: the class's own look at its reservations says when.
void leave_ending_reservations(const ClusterState& state, const Context& context, Plan& plan) {
  for (const auto& [ref, slot] : state.node_classes().slots()) {
    const projections::NodeClassRow& node_class = slot.row;
    const std::vector<std::string> ending =
        context.provider.ending_reservations(node_class.resolved);
    if (ending.empty()) continue;
    for (const auto& [name, claim] : state.claims().slots()) {
      const ClaimRow& row = claim.row;
      if (row.claim.node_class == ref && row.gone_at.value() == 0 && ours(row, context) &&
          std::binary_search(ending.begin(), ending.end(), row.instance.offer.reservation))
        request_delete(state, context, plan, row, "capacity_block_ends",
                       {node_class.resolved_position}, row.root);
    }
  }
}

// When the machine goes: at once if it stops already, and after all others if nobody has said when.
std::int64_t end_of(const ClaimRow& row) {
  if (row.deadline_millis != 0) return row.deadline_millis;
  const bool stops = row.interruption_kind == model::InterruptionKind::kInstanceStopping;
  return stops ? 0 : std::numeric_limits<std::int64_t>::max();
}

}  // namespace

void reconcile_interruption(const ClusterState& state, const Context& context, Plan& plan) {
  std::vector<const ClaimRow*> urgent;
  for (const model::ClaimName& name : state.restless()) {
    const ClaimRow& row = *state.claims().find(name);
    if (row.interrupted_at.value() != 0 && row.claim.deletion_millis == 0 &&
        row.gone_at.value() == 0 && ours(row, context))
      urgent.push_back(&row);
  }
  std::sort(urgent.begin(), urgent.end(), [](const ClaimRow* a, const ClaimRow* b) {
    return std::forward_as_tuple(end_of(*a), a->claim.name) <
           std::forward_as_tuple(end_of(*b), b->claim.name);
  });
  const auto reason_of = [](const ClaimRow& row) {
    return model::interruption_kind_name(row.interruption_kind);
  };
  for (const ClaimRow* row : urgent)
    if (const NodeRow* node = state.node_of(*row))
      set_disrupted(state, context, plan, *row, *node, true, reason_of(*row), {row->interruption},
                    row->interruption);
  for (const ClaimRow* row : urgent)
    request_delete(state, context, plan, *row, reason_of(*row), {row->interruption},
                   row->interruption);
  leave_ending_reservations(state, context, plan);
}

}  // namespace karst::reconcilers
