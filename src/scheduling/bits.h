// A set of small numbers as machine words. Sets that meet in an operation have the same size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace karst::scheduling {

class Bits {
 public:
  Bits() = default;
  explicit Bits(std::size_t size) : words_((size + 63) / 64, 0) {}

  void set(std::size_t at) { words_[at / 64] |= std::uint64_t{1} << (at % 64); }
  void clear(std::size_t at) { words_[at / 64] &= ~(std::uint64_t{1} << (at % 64)); }
  bool test(std::size_t at) const { return (words_[at / 64] >> (at % 64) & 1) != 0; }

  bool any() const {
    for (const std::uint64_t word : words_)
      if (word != 0) return true;
    return false;
  }
  bool intersects(const Bits& other) const {
    for (std::size_t i = 0; i < words_.size(); ++i)
      if ((words_[i] & other.words_[i]) != 0) return true;
    return false;
  }
  Bits& operator&=(const Bits& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
    return *this;
  }
  Bits& operator|=(const Bits& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
    return *this;
  }
  friend auto operator<=>(const Bits&, const Bits&) = default;

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace karst::scheduling
