#include "reconcilers/offered.h"

#include "scheduling/overlay.h"

namespace karst::reconcilers {

Offered::Offered(const ClusterState& state, const Context& context)
    : plain_(catalogue(state, context).types) {
  std::vector<model::NodeOverlay> overlays;
  if (state.config().node_overlay)
    state.for_each<model::NodeOverlay>(
        [&](const model::NodeOverlay& overlay, const auto&) { overlays.push_back(overlay); });
  if (overlays.empty()) return;
  std::vector<scheduling::PoolTypes> pools;
  for (const auto& [name, slot] : state.pools().slots())
    if (context.provider.understands(slot.row.pool.node_class))
      pools.push_back({&slot.row.pool, plain_});
  (void)scheduling::apply_overlays(std::move(overlays), pools);  // those in conflict do nothing
  for (scheduling::PoolTypes& pool : pools)
    overlaid_.emplace(pool.pool->name, std::move(pool.types));
}

}  // namespace karst::reconcilers
