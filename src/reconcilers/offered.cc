#include "reconcilers/offered.h"

#include "reconcilers/pool_rules.h"
#include "scheduling/overlay.h"
#include "scheduling/pool_offers.h"

namespace karst::reconcilers {
namespace {

// Offerings that lately had no capacity are not for sale.
std::vector<model::Offer> exhausted_now(const ClusterState& state, const Context& context) {
  std::vector<model::Offer> offers;
  for (const auto& [offer, slot] : state.exhausted().slots())
    if (slot.row.until > context.now) offers.push_back(offer);
  return offers;
}

// Machines that claims have taken from reservations since their count was asked for. A claim that
// is not launched yet may take from any that it names.
std::map<std::string, std::int64_t, std::less<>> taken_from_reservations(
    const ClusterState& state, const Context& context, const model::NodePool& pool) {
  std::map<std::string, std::int64_t, std::less<>> taken;
  const auto* node_class = state.node_classes().find(pool.node_class);
  if (context.provider.reservation_label().empty() || node_class == nullptr) return taken;
  for (const auto& [name, slot] : state.claims().slots()) {
    const ClaimRow& row = slot.row;
    if (row.gone_at.value() != 0) continue;
    if (row.launched() && row.launched_at > node_class->resolved_at &&
        !row.instance.offer.reservation.empty())
      ++taken[row.instance.offer.reservation];
    if (row.launched()) continue;
    for (const model::RequirementSpec& spec : row.claim.requirements)
      if (spec.key == context.provider.reservation_label())
        for (const std::string& id : spec.values) ++taken[id];
  }
  return taken;
}

void take(const SaleKey& key, std::vector<model::InstanceType>& types) {
  for (model::InstanceType& type : types)
    for (model::Offering& offering : type.offerings) {
      for (const model::Offer& offer : key.exhausted)
        if (offer.capacity_type == offering.capacity_type &&
            (offer.instance_type.empty() ||
             (offer.instance_type == type.name && offer.zone == offering.zone &&
              offer.reservation == offering.reservation)))
          offering.available = false;
      if (const auto at = key.taken.find(offering.reservation); at != key.taken.end()) {
        offering.reservation_count -= at->second;
        offering.available &= offering.reservation_count > 0;
      }
    }
}

}  // namespace

Offered::Offered(const ClusterState& state, const Context& context)
    : state_(state), context_(context) {
  std::vector<model::NodeOverlay> overlays;
  if (state.config().node_overlay)
    state.for_each<model::NodeOverlay>([&](const model::NodeOverlay& overlay, const auto&) {
      if (invalid_overlay(state, overlay).empty()) overlays.push_back(overlay);
    });
  if (overlays.empty()) return;
  std::vector<scheduling::PoolTypes> pools;
  for (const auto& [name, slot] : state.pools().slots())
    if (context.provider.understands(slot.row.pool.node_class))
      pools.push_back({&slot.row.pool, plain(slot.row.pool)});
  conflicts_ = scheduling::apply_overlays(std::move(overlays), pools);
  for (scheduling::PoolTypes& pool : pools)
    overlaid_.emplace(pool.pool->name, std::move(pool.types));
}

SaleKey Offered::key_of(const model::NodePool& pool) const {
  SaleKey key;
  key.types = types_version(state_, context_.provider, pool.node_class);
  key.ref = pool.node_class;
  key.requirements = pool.requirements;
  key.template_labels = pool.template_labels;
  key.exhausted = exhausted_now(state_, context_);
  key.taken = taken_from_reservations(state_, context_, pool);
  return key;
}

scheduling::TypeList Offered::on_sale(const model::NodePool& pool) const {
  SaleKey key = key_of(pool);
  const auto make = [&](const SaleKey& of) {
    std::vector<model::InstanceType> types = this->types(pool);
    take(of, types);
    std::vector<scheduling::InstanceType> sold = scheduling::instance_types_of(types);
    constexpr std::string_view kPlaces[] = {model::kZoneLabel};
    scheduling::fit_to_pool(pool, kPlaces, sold);
    return scheduling::TypeList(std::move(sold));
  };
  if (overlaid_.contains(pool.name)) return make(key);
  return context_.class_types.on_sale(state_, pool.name, std::move(key), make);
}

}  // namespace karst::reconcilers
