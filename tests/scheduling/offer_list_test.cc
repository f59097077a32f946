// Lists of offers as bit sets, beside lists written out; and a catalogue's order of offers.
#include "scheduling/offer_list.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <memory>
#include <tuple>
#include <vector>

#include "model/labels.h"
#include "tests/scheduling/build.h"
#include "tests/scheduling/random.h"

namespace karst::scheduling::test {
namespace {

TEST(OfferList, ListsWhatIsChosen) {
  EXPECT_TRUE(rc::check("chosen", [] {
    std::vector<model::Offer> all;
    for (std::int64_t i = 0, size = pick(0, 200); i < size; ++i)
      all.push_back({"m", "a", "spot", i, ""});
    Bits chosen(words_for(all.size()), 0);
    std::vector<model::Offer> want;
    for (std::size_t at = 0; at < all.size(); ++at) {
      if (!chance(pick(1, 20))) continue;
      set_bit(chosen, at);
      want.push_back(all[at]);
    }
    const OfferList list(std::make_shared<const std::vector<model::Offer>>(all), chosen);
    RC_ASSERT(list.items() == want);
    RC_ASSERT(list.size() == want.size());
    RC_ASSERT(list.empty() == want.empty());
    if (!want.empty()) RC_ASSERT(list.front() == want.front());
    RC_ASSERT(list == OfferList(want));
    RC_ASSERT((list == OfferList()) == want.empty());
    RC_ASSERT((list == OfferList(all)) == (want.size() == all.size()));
  }));
}

// Also of types that are not for sale now; every offering has its place.
TEST(OfferList, CatalogueIsInOrder) {
  const Pool one = pool();
  const OfferList::Catalogue offers = one.types.offers();
  EXPECT_TRUE(std::is_sorted(
      offers->begin(), offers->end(), [](const model::Offer& a, const model::Offer& b) {
        return std::tie(a.price_nanos_per_hour, a.instance_type, a.zone, a.capacity_type) <
               std::tie(b.price_nanos_per_hour, b.instance_type, b.zone, b.capacity_type);
      }));
  std::size_t count = 0;
  for (std::size_t type = 0; type < one.types.size(); ++type)
    for (std::size_t i = 0; i < one.types[type].offerings.size(); ++i, ++count) {
      const Offering& offering = one.types[type].offerings[i];
      EXPECT_EQ(
          (model::Offer{one.types[type].name, std::string(value_of(offering, model::kZoneLabel)),
                        std::string(value_of(offering, model::kCapacityTypeLabel)),
                        offering.price_nanos_per_hour, ""}),
          (*offers)[one.types.place(type, i)]);
    }
  EXPECT_EQ(count, offers->size());
}

}  // namespace
}  // namespace karst::scheduling::test
