// When the prices of a catalogue were last read, changed or not: what their age counts from. Never
// later than the truth: what was not read, or may stand in for something that was not, is not
// known.
#pragma once

#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/cloud.h"

namespace karst::projections {

// A catalogue counts as a reading of all its prices until a reading is told by itself: kwok's never
// is, nor are those of old logs. From the first one on, what was not told does not count.
struct PriceReadings {
  bool told = false;
  base::LogTime on_demand_at;  // zero: not known, as below
  base::LogTime spot_at;

  // Comes before the reading that it is of. A kind with a price that differs from `before`, the
  // catalogue of until now, is of no known age until that reading says that it was read: else the
  // price stands in for one.
  void see_catalogue(const model::Catalogue& before, const model::Catalogue& sold,
                     base::LogTime now);
  void see_reading(bool on_demand, bool spot, base::LogTime now);
  // Of what is not sold as spot the price is the on-demand one, or follows from it.
  base::LogTime at(std::string_view capacity_type) const {
    return capacity_type == "spot" ? spot_at : on_demand_at;
  }
};
template <class Archive>
void fields(Archive& a, PriceReadings& r) {
  a(r.told, r.on_demand_at, r.spot_at);
}

// Prices that came by themselves take the place of those that the catalogue had.
void take_prices(model::Catalogue& catalogue, const std::vector<model::Offer>& prices);

}  // namespace karst::projections
