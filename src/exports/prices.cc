#include "exports/prices.h"

#include "events/codec.h"

namespace karst::exports {

void Prices::begin(const projections::ClusterState& state) {
  const auto* row = state.catalogues().find(state.config().provider);
  if (row == nullptr) return;
  catalogue_ = row->catalogue;
  read_ = row->read;
  for (const model::InstanceType& type : catalogue_.types)
    for (const model::Offering& o : type.offerings)
      prices_[{type.name, o.zone, o.capacity_type, o.reservation}] = {o.price_nanos_per_hour, {}};
}

void Prices::see(const events::Event& event) {
  const events::Envelope& at = event.envelope;
  if (at.type == events::EventType::kCatalogueObserved)
    see_catalogue(at, std::get<events::CatalogueObserved>(events::decode_body(event)).catalogue);
  else if (at.type == events::EventType::kPricesObserved)
    see_reading(at, std::get<events::PricesObserved>(events::decode_body(event)));
}

void Prices::see_catalogue(const events::Envelope& at, const model::Catalogue& catalogue) {
  if (catalogue.provider != catalogue_.provider) {
    catalogue_ = {};
    prices_.clear();
    read_ = {};
  }
  read_.see_catalogue(catalogue_, catalogue, at.log_time);
  std::map<OfferKey, Price> now;
  for (const model::InstanceType& type : catalogue.types)
    for (const model::Offering& o : type.offerings) {
      OfferKey key{type.name, o.zone, o.capacity_type, o.reservation};
      const auto known = prices_.find(key);
      const bool same =
          known != prices_.end() && known->second.nanos_per_hour == o.price_nanos_per_hour;
      now[std::move(key)] = {o.price_nanos_per_hour, same ? known->second.position : at.position};
    }
  prices_ = std::move(now);
  catalogue_ = catalogue;
}

void Prices::see_reading(const events::Envelope& at, const events::PricesObserved& reading) {
  if (reading.update.provider != catalogue_.provider) return;
  read_.see_reading(reading.on_demand_read, reading.spot_read, at.log_time);
  projections::take_prices(catalogue_, reading.update.prices);
  for (const model::Offer& o : reading.update.prices) {
    const auto known = prices_.find({o.instance_type, o.zone, o.capacity_type, o.reservation});
    if (known == prices_.end() || known->second.nanos_per_hour == o.price_nanos_per_hour) continue;
    known->second = {o.price_nanos_per_hour, at.position};
  }
}

// The price of what is reserved follows from the on-demand one, which is in the catalogue.
const Prices::Price* Prices::find(const model::Offer& offer) const {
  auto at = prices_.find({offer.instance_type, offer.zone, offer.capacity_type, offer.reservation});
  if (at == prices_.end() && offer.capacity_type == "reserved")
    at = prices_.find({offer.instance_type, offer.zone, "on-demand", ""});
  return at == prices_.end() ? nullptr : &at->second;
}

Prices::Source Prices::source_of(const model::Offer& offer) const {
  const Price* price = find(offer);
  if (price == nullptr) return {};
  const base::LogTime known_at = read_.at(offer.capacity_type);
  if (known_at == base::LogTime()) return {price->position, std::nullopt};
  return {price->position, known_at};
}

}  // namespace karst::exports
