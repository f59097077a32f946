// A bit set over things that have numbers: bit i % 64 of word i / 64 is thing i.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace karst::scheduling {

using Bits = std::vector<std::uint64_t>;

inline std::size_t words_for(std::size_t things) {
  return (things + 63) / 64;
}
inline void set_bit(Bits& bits, std::size_t at) {
  bits[at / 64] |= std::uint64_t{1} << at % 64;
}
inline std::size_t count_bits(const Bits& bits) {
  std::size_t sum = 0;
  for (const std::uint64_t word : bits) sum += static_cast<std::size_t>(std::popcount(word));
  return sum;
}
// The first one that is set, from `from` on; 64 times the words: there is none.
inline std::size_t next_bit(const Bits& bits, std::size_t from) {
  std::size_t word = from / 64;
  if (word >= bits.size()) return bits.size() * 64;
  std::uint64_t left = bits[word] & (~std::uint64_t{0} << from % 64);
  while (left == 0 && ++word < bits.size()) left = bits[word];
  return left == 0 ? bits.size() * 64
                   : word * 64 + static_cast<std::size_t>(std::countr_zero(left));
}

}  // namespace karst::scheduling
