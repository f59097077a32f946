// When to say that the log will fill its disk: long before it does (what happens then: daemon.h).
// Pure: sizes and times in, words out. One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "events/log_folder.h"

namespace karst::daemon {

inline constexpr std::int64_t kSizeSampleMillis = 60 * 60 * 1000;  // between two that are kept
inline constexpr std::size_t kSizeSamplesMax = 25;                 // growth is that of a day
inline constexpr int kFreePercentMin = 10;                         // less is an alarm
inline constexpr int kFreePercentGood = 15;                        // from here on it is over
inline constexpr std::int64_t kDaysLeftMin = 7;
inline constexpr std::int64_t kDaysLeftGood = 10;

struct SizeWord {
  bool alarm = false;  // false: what an alarm was about is over
  std::string text;
};

class SizeWatch {
 public:
  // What to say now: an alarm once, and once that it is over. `monotonic_millis` never steps back.
  std::optional<SizeWord> see(std::int64_t monotonic_millis, const events::LogSizes& sizes);

  // Of the log itself, over the last day or as long as was watched, at least an hour; negative when
  // it became smaller; nullopt: not known yet.
  std::optional<std::int64_t> growth_bytes_per_day() const { return growth_; }

 private:
  struct Sample {
    std::int64_t millis = 0;
    std::uint64_t bytes = 0;
  };
  void learn(std::int64_t now, std::uint64_t bytes);

  std::deque<Sample> samples_;
  std::optional<std::int64_t> growth_;
  bool alarmed_ = false;
};

}  // namespace karst::daemon
