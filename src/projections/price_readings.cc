#include "projections/price_readings.h"

#include <algorithm>

#include "model/find_type.h"

namespace karst::projections {
namespace {

// Whether a price of spot, or else of what is not, is another one than `before` had, or new.
bool changed(const model::Catalogue& before, const model::Catalogue& sold, bool spot) {
  for (const model::InstanceType& type : sold.types) {
    const model::InstanceType* known = model::find_type(before.types, type.name);
    for (const model::Offering& offering : type.offerings) {
      if ((offering.capacity_type == "spot") != spot) continue;
      if (known == nullptr) return true;
      const bool same = std::any_of(
          known->offerings.begin(), known->offerings.end(), [&](const model::Offering& one) {
            return one.zone == offering.zone && one.capacity_type == offering.capacity_type &&
                   one.reservation == offering.reservation &&
                   one.price_nanos_per_hour == offering.price_nanos_per_hour;
          });
      if (!same) return true;
    }
  }
  return false;
}

}  // namespace

void take_prices(model::Catalogue& catalogue, const std::vector<model::Offer>& prices) {
  for (const model::Offer& price : prices)
    for (model::InstanceType& type : catalogue.types) {
      if (type.name != price.instance_type) continue;
      for (model::Offering& offering : type.offerings)
        if (offering.zone == price.zone && offering.capacity_type == price.capacity_type)
          offering.price_nanos_per_hour = price.price_nanos_per_hour;
    }
}

void PriceReadings::see_catalogue(const model::Catalogue& before, const model::Catalogue& sold,
                                  base::LogTime now) {
  if (!told) {
    on_demand_at = spot_at = now;
    return;
  }
  if (changed(before, sold, false)) on_demand_at = {};
  if (changed(before, sold, true)) spot_at = {};
}

void PriceReadings::see_reading(bool on_demand, bool spot, base::LogTime now) {
  if (!told) on_demand_at = spot_at = {};
  told = true;
  if (on_demand) on_demand_at = now;
  if (spot) spot_at = now;
}

}  // namespace karst::projections
