#include "reconcilers/offered.h"

#include "scheduling/overlay.h"

namespace karst::reconcilers {
namespace {

// Offerings that lately had no capacity are not for sale.
void drop_exhausted(const ClusterState& state, const Context& context,
                    std::vector<model::InstanceType>& types) {
  for (const auto& [offer, slot] : state.exhausted().slots()) {
    if (slot.row.until <= context.now) continue;
    for (model::InstanceType& type : types)
      if (type.name == offer.instance_type)
        for (model::Offering& offering : type.offerings)
          if (offering.zone == offer.zone && offering.capacity_type == offer.capacity_type &&
              offering.reservation == offer.reservation)
            offering.available = false;
  }
}

// Machines that claims have taken from reservations since their count was asked for. A claim that
// is not launched yet may take from any that it names.
void take_reserved(const ClusterState& state, const Context& context, const model::NodePool& pool,
                   std::vector<model::InstanceType>& types) {
  const auto* node_class = state.node_classes().find(pool.node_class);
  if (context.provider.reservation_label().empty() || node_class == nullptr) return;
  std::map<std::string, std::int64_t, std::less<>> taken;
  for (const auto& [name, slot] : state.claims().slots()) {
    const ClaimRow& row = slot.row;
    if (row.gone_at.value() != 0) continue;
    if (row.launched() && row.launched_at > node_class->resolved_at &&
        !row.instance.offer.reservation.empty())
      ++taken[row.instance.offer.reservation];
    for (const model::RequirementSpec& spec : row.claim.requirements)
      if (!row.launched() && spec.key == context.provider.reservation_label())
        for (const std::string& id : spec.values) ++taken[id];
  }
  for (model::InstanceType& type : types)
    for (model::Offering& offering : type.offerings)
      if (const auto at = taken.find(offering.reservation); at != taken.end()) {
        offering.reservation_count -= at->second;
        offering.available &= offering.reservation_count > 0;
      }
}

}  // namespace

Offered::Offered(const ClusterState& state, const Context& context)
    : state_(state), context_(context) {
  std::vector<model::NodeOverlay> overlays;
  if (state.config().node_overlay)
    state.for_each<model::NodeOverlay>(
        [&](const model::NodeOverlay& overlay, const auto&) { overlays.push_back(overlay); });
  if (overlays.empty()) return;
  std::vector<scheduling::PoolTypes> pools;
  for (const auto& [name, slot] : state.pools().slots())
    if (context.provider.understands(slot.row.pool.node_class))
      pools.push_back({&slot.row.pool, plain(slot.row.pool)});
  (void)scheduling::apply_overlays(std::move(overlays), pools);  // those in conflict do nothing
  for (scheduling::PoolTypes& pool : pools)
    overlaid_.emplace(pool.pool->name, std::move(pool.types));
}

std::vector<model::InstanceType> Offered::available_types(const model::NodePool& pool) const {
  std::vector<model::InstanceType> now = types(pool);
  drop_exhausted(state_, context_, now);
  take_reserved(state_, context_, pool, now);
  return now;
}

}  // namespace karst::reconcilers
