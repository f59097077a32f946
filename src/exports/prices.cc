#include "exports/prices.h"

#include "events/codec.h"

namespace karst::exports {

void Prices::begin(const projections::ClusterState& state) {
  provider_ = state.config().provider;
  for (const auto& [provider, slot] : state.catalogues().slots()) {
    Known& known = known_[provider];
    known.catalogue = slot.row.catalogue;
    known.read = slot.row.read;
    for (const model::InstanceType& type : known.catalogue.types)
      for (const model::Offering& o : type.offerings)
        known.prices[{type.name, o.zone, o.capacity_type, o.reservation}] = {o.price_nanos_per_hour,
                                                                             {}};
  }
}

void Prices::see(const events::Event& event) {
  const events::Envelope& at = event.envelope;
  if (at.type == events::EventType::kDaemonStarted)
    provider_ = std::get<events::DaemonStarted>(events::decode_body(event)).config.provider;
  else if (at.type == events::EventType::kCatalogueObserved)
    see_catalogue(at, std::get<events::CatalogueObserved>(events::decode_body(event)).catalogue);
  else if (at.type == events::EventType::kPricesObserved)
    see_reading(at, std::get<events::PricesObserved>(events::decode_body(event)));
}

void Prices::see_catalogue(const events::Envelope& at, const model::Catalogue& catalogue) {
  Known& known = known_[catalogue.provider];
  known.read.see_catalogue(known.catalogue, catalogue, at.log_time);
  std::map<OfferKey, Price> now;
  for (const model::InstanceType& type : catalogue.types)
    for (const model::Offering& o : type.offerings) {
      OfferKey key{type.name, o.zone, o.capacity_type, o.reservation};
      const auto before = known.prices.find(key);
      const bool same =
          before != known.prices.end() && before->second.nanos_per_hour == o.price_nanos_per_hour;
      now[std::move(key)] = {o.price_nanos_per_hour, same ? before->second.position : at.position};
    }
  known.prices = std::move(now);
  known.catalogue = catalogue;
}

void Prices::see_reading(const events::Envelope& at, const events::PricesObserved& reading) {
  const auto of = known_.find(reading.update.provider);
  if (of == known_.end()) return;
  Known& known = of->second;
  known.read.see_reading(reading.on_demand_read, reading.spot_read, at.log_time);
  projections::take_prices(known.catalogue, reading.update.prices);
  for (const model::Offer& o : reading.update.prices) {
    const auto price = known.prices.find({o.instance_type, o.zone, o.capacity_type, o.reservation});
    if (price == known.prices.end() || price->second.nanos_per_hour == o.price_nanos_per_hour)
      continue;
    price->second = {o.price_nanos_per_hour, at.position};
  }
}

// The price of what is reserved follows from the on-demand one, which is in the catalogue.
const Prices::Price* Prices::find(const Known& known, const model::Offer& offer) {
  auto at =
      known.prices.find({offer.instance_type, offer.zone, offer.capacity_type, offer.reservation});
  if (at == known.prices.end() && offer.capacity_type == "reserved")
    at = known.prices.find({offer.instance_type, offer.zone, "on-demand", ""});
  return at == known.prices.end() ? nullptr : &at->second;
}

Prices::Source Prices::source_of(const model::Offer& offer) const {
  const auto known = known_.find(provider_);
  if (known == known_.end()) return {};
  const Price* price = find(known->second, offer);
  if (price == nullptr) return {};
  const base::LogTime known_at = known->second.read.at(offer.capacity_type);
  if (known_at == base::LogTime()) return {price->position, std::nullopt};
  return {price->position, known_at};
}

}  // namespace karst::exports
