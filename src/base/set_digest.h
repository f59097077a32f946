// A digest of a set that is kept up to date in O(change): each element is hashed with XXH3-128, the set is the sum of its
// elements' hashes modulo 2^128. Order never shows, adding and removing commute, equal sets have equal digests.
// It finds differences; it does not resist an attacker (the Merkle tree over the log does that).
#pragma once

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

// Collects the fields of one element as bytes, unambiguously: numbers are 8 bytes little-endian, strings are preceded by
// their length. Reused between elements so that hashing allocates nothing.
class FieldBytes {
 public:
  void clear() { bytes_.clear(); }
  FieldBytes& add(std::int64_t number) {
    char raw[8];
    const auto value = static_cast<std::uint64_t>(number);
    for (int i = 0; i < 8; ++i) raw[i] = static_cast<char>(value >> (8 * i));
    bytes_.append(raw, 8);
    return *this;
  }
  FieldBytes& add(std::string_view text) {
    add(static_cast<std::int64_t>(text.size()));
    bytes_.append(text);
    return *this;
  }
  std::string_view view() const { return bytes_; }
  Hash128 hash(std::uint64_t seed) const { return hash128(bytes_, seed); }

 private:
  std::string bytes_;
};

}  // namespace karst::base
