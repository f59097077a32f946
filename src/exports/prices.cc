#include "exports/prices.h"

#include <algorithm>

#include "events/codec.h"

namespace karst::exports {

void Prices::begin(const projections::ClusterState& state) {
  const auto* row = state.catalogues().find(state.config().provider);
  if (row == nullptr) return;
  provider_ = row->catalogue.provider;
  read_ = row->read;
  for (const model::InstanceType& type : row->catalogue.types)
    for (const model::Offering& o : type.offerings)
      prices_[{type.name, o.zone, o.capacity_type, o.reservation}] = {
          o.price_nanos_per_hour, {}, {}};
}

void Prices::see(const events::Event& event) {
  const events::Envelope& at = event.envelope;
  if (at.type == events::EventType::kCatalogueObserved)
    see_catalogue(at, std::get<events::CatalogueObserved>(events::decode_body(event)).catalogue);
  else if (at.type == events::EventType::kPricesObserved)
    see_reading(at, std::get<events::PricesObserved>(events::decode_body(event)));
}

Prices::Price Prices::seen(const Price* known, std::int64_t nanos_per_hour,
                           const events::Envelope& at) {
  if (known == nullptr || known->nanos_per_hour != nanos_per_hour)
    return {nanos_per_hour, at.position, at.log_time};
  Price same = *known;
  if (same.position == model::Position()) same.position = at.position;  // the first one left
  return same;
}

void Prices::see_catalogue(const events::Envelope& at, const model::Catalogue& catalogue) {
  if (catalogue.provider != provider_) {
    provider_ = catalogue.provider;
    prices_.clear();
    read_ = {};
  }
  read_.see_catalogue(at.log_time);
  std::map<OfferKey, Price> now;
  for (const model::InstanceType& type : catalogue.types)
    for (const model::Offering& o : type.offerings) {
      OfferKey key{type.name, o.zone, o.capacity_type, o.reservation};
      const auto known = prices_.find(key);
      now[std::move(key)] =
          seen(known == prices_.end() ? nullptr : &known->second, o.price_nanos_per_hour, at);
    }
  prices_ = std::move(now);
}

void Prices::see_reading(const events::Envelope& at, const events::PricesObserved& reading) {
  if (reading.update.provider != provider_) return;
  read_.see_reading(reading.on_demand_read, reading.spot_read, at.log_time);
  for (const model::Offer& o : reading.update.prices) {
    const auto known = prices_.find({o.instance_type, o.zone, o.capacity_type, o.reservation});
    if (known != prices_.end()) known->second = seen(&known->second, o.price_nanos_per_hour, at);
  }
}

Prices::Source Prices::source_of(const model::Offer& offer) const {
  const auto at =
      prices_.find({offer.instance_type, offer.zone, offer.capacity_type, offer.reservation});
  if (at == prices_.end()) return {};
  const Price& price = at->second;
  const base::LogTime known = std::max(price.changed_at, read_.at(offer.capacity_type));
  if (known == base::LogTime()) return {price.position, std::nullopt};
  return {price.position, known};
}

}  // namespace karst::exports
