// The simulation's own random numbers: PCG-XSH-RR 64/32 (https://www.pcg-random.org, "minimal"
// variant restated). The same seed and stream give the same numbers on every machine. Plain value,
// one thread. Chances are integers: parts per 10,000.
#pragma once

#include <cstdint>

namespace karst::sim {

class Rng {
 public:
  // Streams of one seed are independent: faults may draw more numbers without moving the workload.
  Rng(std::uint64_t seed, std::uint64_t stream) : increment_((stream << 1) | 1) {
    next();
    state_ += seed * 0x9e3779b97f4a7c15ULL + 0x632be59bd9b4e019ULL;
    next();
  }
  std::uint32_t next() {
    const std::uint64_t old = state_;
    state_ = old * 6364136223846793005ULL + increment_;
    const auto shifted = static_cast<std::uint32_t>(((old >> 18) ^ old) >> 27);
    const auto rotation = static_cast<std::uint32_t>(old >> 59);
    return (shifted >> rotation) | (shifted << ((32 - rotation) & 31));
  }
  // 0 … count - 1; 0 when count is not positive.
  std::int64_t below(std::int64_t count) {
    return count <= 0 ? 0 : static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(count));
  }
  // Both ends included.
  std::int64_t between(std::int64_t low, std::int64_t high) { return low + below(high - low + 1); }
  bool chance(std::int64_t per_ten_thousand) { return below(10'000) < per_ten_thousand; }

 private:
  std::uint64_t state_ = 0;
  std::uint64_t increment_;
};

}  // namespace karst::sim
