// Shadow: karst beside the product that acts. Every command that the others have decided ends in
// the same round, as not sent; no hand ever sees it, but for questions (asks_only). What it would
// have covered stays covered for a while (projections::kNotSentMillis), so that it is not decided
// again with every round, and the state keeps to what the world shows.
#include "reconcilers/list.h"

namespace karst::reconcilers {

void reconcile_shadow(const projections::ClusterState& state, const Context&, Plan& plan) {
  if (!state.config().shadow) return;
  for (const auto& [position, slot] : state.commands().slots()) {
    if (plan.full()) return;
    if (!asks_only(slot.row.command.spec)) plan.abandon(position, kNotSent, {});
  }
}

}  // namespace karst::reconcilers
