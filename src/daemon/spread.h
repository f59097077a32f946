// How long things took, for /metrics: counts by bounds (Histogram), and the quantiles of the latest
// ones (Summary). Milliseconds; no floating point. Plain values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace karst::daemon {

// Bounds are what Karpenter's histograms have (v1.14), in milliseconds.
inline constexpr std::int64_t kDurationBounds[] = {
    5,      10,     25,     50,     100,     150,     200,     250,     300,
    350,    400,    450,    500,    600,     700,     800,     900,     1'000,
    1'250,  1'500,  1'750,  2'000,  2'500,   3'000,   3'500,   4'000,   4'500,
    5'000,  6'000,  7'000,  8'000,  9'000,   10'000,  15'000,  20'000,  25'000,
    30'000, 40'000, 50'000, 60'000, 120'000, 150'000, 300'000, 450'000, 600'000};
inline constexpr std::int64_t kCallBounds[] = {5,   10,    25,    50,    100,   250,
                                               500, 1'000, 2'500, 5'000, 10'000};
inline constexpr std::int64_t kTerminationBounds[] = {1'000,   2'000,   4'000,     8'000,
                                                      16'000,  32'000,  64'000,    128'000,
                                                      256'000, 512'000, 1'024'000, 2'048'000};
inline constexpr std::int64_t kConditionBounds[] = {
    500,     1'000,   2'000,   4'000,     8'000,     16'000,    32'000,   64'000,
    128'000, 256'000, 512'000, 1'024'000, 2'048'000, 4'096'000, 8'192'000};
inline constexpr std::int64_t kMinute = 60'000, kHour = 60 * kMinute, kDay = 24 * kHour;
inline constexpr std::int64_t kLifetimeBounds[] = {
    15 * kMinute, 30 * kMinute, 45 * kMinute, kHour,      2 * kHour,  4 * kHour, 6 * kHour,
    8 * kHour,    10 * kHour,   12 * kHour,   16 * kHour, 20 * kHour, kDay,      2 * kDay,
    3 * kDay,     5 * kDay,     10 * kDay,    15 * kDay,  20 * kDay,  25 * kDay, 30 * kDay};

class Histogram {
 public:
  explicit Histogram(std::span<const std::int64_t> bounds = kDurationBounds)
      : bounds_(bounds), counts_(bounds.size() + 1, 0) {}
  void add(std::int64_t millis) {
    ++counts_[static_cast<std::size_t>(std::lower_bound(bounds_.begin(), bounds_.end(), millis) -
                                       bounds_.begin())];
    sum_ += millis;
    ++count_;
  }
  std::span<const std::int64_t> bounds() const { return bounds_; }
  // One a bound, and one for what is beyond the last.
  const std::vector<std::uint64_t>& counts() const { return counts_; }
  std::int64_t sum() const { return sum_; }
  std::uint64_t count() const { return count_; }

 private:
  std::span<const std::int64_t> bounds_;  // static
  std::vector<std::uint64_t> counts_;
  std::int64_t sum_ = 0;
  std::uint64_t count_ = 0;
};

class Summary {
 public:
  static constexpr std::size_t kRecentMax = 500;  // quantiles are of these
  void add(std::int64_t millis) {
    if (recent_.size() < kRecentMax)
      recent_.push_back(millis);
    else
      recent_[count_ % kRecentMax] = millis;
    sum_ += millis;
    ++count_;
  }
  // The value at or above that many of a hundred; 0 when there is none.
  std::int64_t quantile(std::size_t percent) const {
    if (recent_.empty()) return 0;
    std::vector<std::int64_t> sorted = recent_;
    std::sort(sorted.begin(), sorted.end());
    const std::size_t rank = (percent * sorted.size() + 99) / 100;
    return sorted[rank == 0 ? 0 : rank - 1];
  }
  std::int64_t sum() const { return sum_; }
  std::uint64_t count() const { return count_; }

 private:
  std::vector<std::int64_t> recent_;
  std::int64_t sum_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace karst::daemon
