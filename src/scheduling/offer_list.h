// Some of the offers of a catalogue, the cheapest first: a bit set over all that it has in that
// order. The thousands of claims of a large answer have a few hundred different lists of thousands
// of offers each; copies share one body, and so do lists the catalogue. Never changes. Compared by
// what it lists.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <vector>

#include "model/cloud.h"
#include "scheduling/bits.h"

namespace karst::scheduling {

class OfferList {
 public:
  using Catalogue = std::shared_ptr<const std::vector<model::Offer>>;

  OfferList() = default;
  // `chosen`: by place in the catalogue, as many bits as it takes.
  OfferList(Catalogue catalogue, Bits chosen);
  // All of these, which are in order.
  OfferList(std::vector<model::Offer> offers);
  OfferList(std::initializer_list<model::Offer> offers)
      : OfferList(std::vector<model::Offer>(offers)) {}

  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = model::Offer;
    using difference_type = std::ptrdiff_t;
    using pointer = const model::Offer*;
    using reference = const model::Offer&;

    Iterator() = default;
    Iterator(const OfferList* list, std::size_t at) : list_(list), at_(at) {}
    reference operator*() const { return (*list_->body_->catalogue)[at_]; }
    pointer operator->() const { return &**this; }
    Iterator& operator++() {
      at_ = next_bit(list_->body_->chosen, at_ + 1);
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const OfferList* list_ = nullptr;
    std::size_t at_ = 0;
  };

  Iterator begin() const { return {this, body_ == nullptr ? 0 : next_bit(body_->chosen, 0)}; }
  Iterator end() const { return {this, body_ == nullptr ? 0 : body_->chosen.size() * 64}; }
  std::size_t size() const { return body_ == nullptr ? 0 : body_->size; }
  bool empty() const { return size() == 0; }
  const model::Offer& front() const { return *begin(); }
  std::vector<model::Offer> items() const { return {begin(), end()}; }
  friend bool operator==(const OfferList& a, const OfferList& b);

 private:
  struct Body {
    Catalogue catalogue;
    Bits chosen;
    std::size_t size = 0;
  };
  std::shared_ptr<const Body> body_;
};

}  // namespace karst::scheduling
