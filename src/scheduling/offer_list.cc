#include "scheduling/offer_list.h"

#include <algorithm>
#include <utility>

namespace karst::scheduling {

OfferList::OfferList(Catalogue catalogue, Bits chosen) {
  const std::size_t size = count_bits(chosen);
  body_ = std::make_shared<const Body>(Body{std::move(catalogue), std::move(chosen), size});
}

OfferList::OfferList(std::vector<model::Offer> offers) {
  Bits all(words_for(offers.size()), 0);
  for (std::size_t at = 0; at < offers.size(); ++at) set_bit(all, at);
  *this = OfferList(std::make_shared<const std::vector<model::Offer>>(std::move(offers)),
                    std::move(all));
}

bool operator==(const OfferList& a, const OfferList& b) {
  return a.body_ == b.body_ || std::equal(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace karst::scheduling
