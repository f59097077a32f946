// Interruption: the machine will be taken. Taint first, so that nothing new lands there; give the
// claim up, so that the drain and the replacement start at notice time. Earliest deadline first.
#include <algorithm>
#include <tuple>

#include "reconcilers/list.h"
#include "reconcilers/queries.h"

namespace karst::reconcilers {

void reconcile_interruption(const ClusterState& state, const Context& context, Plan& plan) {
  std::vector<const ClaimRow*> urgent;
  for (const model::ClaimName& name : state.restless()) {
    const ClaimRow& row = *state.claims().find(name);
    if (row.interrupted_at.value() != 0 && row.claim.deletion_millis == 0 &&
        row.gone_at.value() == 0 && ours(row, context))
      urgent.push_back(&row);
  }
  std::sort(urgent.begin(), urgent.end(), [](const ClaimRow* a, const ClaimRow* b) {
    return std::tie(a->deadline_millis, a->claim.name) <
           std::tie(b->deadline_millis, b->claim.name);
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
}

}  // namespace karst::reconcilers
