// Where each price of the catalogue came from, and since when it is known to hold: when its kind
// was last read. Internal to exports.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "events/body.h"
#include "events/event.h"
#include "projections/cluster_state.h"

namespace karst::exports {

// Of the provider that karst was started with last; the others' are remembered. Memory: the offers
// of each.
class Prices {
 public:
  struct Source {
    model::Position position;               // of the event that the price came with; 0: not known
    std::optional<base::LogTime> known_at;  // none: nobody knows
  };

  // The state right before the first event: it has prices and readings, not where the first are
  // from.
  void begin(const projections::ClusterState& state);
  void see(const events::Event& event);
  // Neither is known of an offer that is not in the catalogue.
  Source source_of(const model::Offer& offer) const;

 private:
  using OfferKey = std::tuple<std::string, std::string, std::string, std::string>;
  struct Price {
    std::int64_t nanos_per_hour = 0;
    model::Position position;  // that it came with; 0: before the first event
  };
  struct Known {
    model::Catalogue catalogue;
    std::map<OfferKey, Price> prices;  // replaced with each catalogue
    projections::PriceReadings read;
  };
  void see_catalogue(const events::Envelope& at, const model::Catalogue& catalogue);
  void see_reading(const events::Envelope& at, const events::PricesObserved& reading);

  static const Price* find(const Known& known, const model::Offer& offer);

  std::map<std::string, Known> known_;  // by provider
  std::string provider_;
};

}  // namespace karst::exports
