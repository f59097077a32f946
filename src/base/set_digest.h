// A digest of a set that is kept up to date in O(change): each element is hashed with XXH3-128, the
// set is the sum of its elements' hashes modulo 2^128. Order never shows, adding and removing
// commute, equal sets have equal digests. It finds differences; it does not resist an attacker (the
// Merkle tree over the log does that).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace karst::base {

struct Hash128 {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend bool operator==(const Hash128&, const Hash128&) = default;
};

Hash128 hash128(std::string_view bytes, std::uint64_t seed = 0);

// For look-up tables; never on disk.
struct FastHash {
  using is_avalanching = void;
  std::size_t operator()(std::string_view text) const;
};

class SetDigest {
 public:
  void add(Hash128 element) {
    const std::uint64_t low = sum_.low + element.low;
    sum_.high += element.high + (low < sum_.low ? 1 : 0);
    sum_.low = low;
  }
  void remove(Hash128 element) {
    const std::uint64_t low = sum_.low - element.low;
    sum_.high -= element.high + (low > sum_.low ? 1 : 0);
    sum_.low = low;
  }
  Hash128 value() const { return sum_; }

 private:
  Hash128 sum_;
};

}  // namespace karst::base
