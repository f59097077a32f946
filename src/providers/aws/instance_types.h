// EC2's own word on what it sells, instead of the embedded table: DescribeInstanceTypes,
// DescribeInstanceTypeOfferings, spot prices and the price list, page by page, as facts and as the
// catalogue that is logged (class_types.h). What EC2 does not say (branch interfaces, the network
// bandwidth of Karpenter's label) is the table's. Bounded; pages may repeat. One owner, one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/cloud.h"
#include "providers/aws/request.h"
#include "providers/aws/table.h"

namespace karst::providers::aws {

inline constexpr std::size_t kTypesMax = 10'000;
inline constexpr std::size_t kTypeOfferingsMax = 200'000;

// The calls; all are paged.
Request ask_types();
Request ask_offerings();
// Prices as they are now. `now_millis`: unix.
Request ask_spot_prices(std::int64_t now_millis);
// GetProducts, of shared machines and of bare metal.
std::vector<Request> ask_on_demand_prices(const std::string& region);
// Where the price list of a region is served.
std::string price_list_region(std::string_view region);

class DiscoveredTypes {
 public:
  DiscoveredTypes() = default;
  DiscoveredTypes(const DiscoveredTypes&) = delete;
  DiscoveredTypes& operator=(const DiscoveredTypes&) = delete;

  // One page each. Errors: kInvalid; nothing of the page counts.
  base::Status add_types(std::string_view xml);
  base::Status add_offerings(std::string_view xml);
  base::Status add_spot_prices(std::string_view xml);
  base::Status add_on_demand_prices(std::string_view json);
  // The prices of a catalogue that was told before, of the kinds that are known.
  void know_prices(const model::Catalogue& told, bool on_demand, bool spot);
  // After a read that failed: what `before` knew of the prices that this has not.
  void fill_spot_prices(const DiscoveredTypes& before);
  void fill_on_demand_prices(const DiscoveredTypes& before);
  // After a read that failed half-way, and none before: a zone without a price would count as one
  // without spot.
  void forget_spot_prices() { spot_.clear(); }

  // By name; views live as long as this.
  const std::map<std::string_view, TypeFacts>& facts() const { return facts_; }

  // Types that are offered in a zone and have a price. A spot price is its zone's; before any is
  // known it is the on-demand price, after that a zone without one has no spot. An on-demand price
  // that is not known is the embedded table's.
  model::Catalogue catalogue(const std::string& region) const;
  // Whether any price of that kind is the account's own word.
  bool has_on_demand_prices() const { return !on_demand_.empty(); }
  bool has_spot_prices() const { return !spot_.empty(); }
  // Where its prices come from, in words.
  std::string on_demand_source() const;
  std::string spot_source() const;

 private:
  struct SpotPrice {
    std::int64_t nanos = 0;
    std::int64_t at_millis = 0;
  };

  std::string_view keep(std::string text);
  std::optional<std::int64_t> on_demand_price(const TypeFacts& facts) const;

  std::deque<std::string> texts_;
  std::map<std::string_view, TypeFacts> facts_;
  std::map<std::pair<std::string, std::string>, bool> offered_;    // type and zone
  std::map<std::pair<std::string, std::string>, SpotPrice> spot_;  // type and zone
  std::map<std::string, std::int64_t> on_demand_;                  // nano-dollars per hour
};

// Dollars per hour such as "0.0960000000" as nano-dollars; digits beyond the ninth are cut.
std::optional<std::int64_t> nanos_of(std::string_view dollars);

}  // namespace karst::providers::aws
