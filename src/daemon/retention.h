// How long events stay: at hand in the log, and after that in its archive. Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace karst::daemon {

// Three months and twelve, whichever months these are: the longest three in a row have 92 days (and
// a day of a clock's zone), twelve have 366.
inline constexpr std::int64_t kStandardDays = 93;
inline constexpr std::int64_t kStandardArchiveDays = 366;

struct Retention {
  std::int64_t at_hand_millis = 0;
  std::int64_t archived_millis = 0;  // since the event, not since it was archived; 0: for ever
};

// "90d", "2160h30m": days, or as Go writes durations. Errors: kInvalid.
base::Result<std::int64_t> parse_span_millis(std::string_view text);
// "standard" (3 months at hand, 12 in the archive), "AT_HAND" (and the archive for ever) or
// "AT_HAND/ARCHIVED". Errors: kInvalid says what was expected.
base::Result<Retention> parse_retention(std::string_view text);

}  // namespace karst::daemon
