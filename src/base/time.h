// Time as data. LogTime is karst's own steady time line in milliseconds since the Unix epoch: it
// never steps back, and is anchored to the API server's Date (docs/decisions/0007-log-time.md).
// WallTime is what a clock on some machine said. The two do not convert into each other; durations
// are plain milliseconds with the unit in the name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/strong_id.h"

namespace karst::base {

using LogTime = StrongNumber<struct LogTimeTag, std::int64_t>;    // ms since 1970-01-01T00:00:00Z
using WallTime = StrongNumber<struct WallTimeTag, std::int64_t>;  // ms since 1970-01-01T00:00:00Z

inline constexpr std::int64_t kMillisPerSecond = 1000;
inline constexpr std::int64_t kMillisPerMinute = 60 * kMillisPerSecond;
inline constexpr std::int64_t kMillisPerHour = 60 * kMillisPerMinute;
inline constexpr std::int64_t kMillisPerDay = 24 * kMillisPerHour;

constexpr LogTime operator+(LogTime time, std::int64_t millis) {
  return LogTime(time.value() + millis);
}
constexpr std::int64_t operator-(LogTime a, LogTime b) {
  return a.value() - b.value();
}

// A day of the proleptic Gregorian calendar, from the days since 1970-01-01.
struct CivilDate {
  std::int64_t year = 1970;
  unsigned month = 1;  // 1 to 12
  unsigned day = 1;    // 1 to 31
};
CivilDate civil_from_days(std::int64_t days);

// RFC 3339 in UTC with milliseconds: 2026-11-21T10:17:51.042Z.
std::string format_rfc3339(std::int64_t unix_millis);
// The same into `to`, which has kRfc3339Max bytes. Returns how many it takes: 24, or more for years
// that have no four digits.
inline constexpr std::size_t kRfc3339Max = 48;
std::size_t write_rfc3339(std::int64_t unix_millis, char* to);

// The same in whole seconds, what is below them cut off, as Kubernetes writes its times.
std::string format_rfc3339_seconds(std::int64_t unix_millis);

// RFC 3339 with any offset and any number of fraction digits: what is below a millisecond is cut
// off, toward the past, before 1970 too. nullopt if it is not one.
std::optional<std::int64_t> parse_rfc3339(std::string_view text);

// Go's duration grammar without the sign: "720h", "1h30m", "300ms", "1.5s" (the fraction is cut to
// milliseconds). nullopt if it is not one.
std::optional<std::int64_t> parse_go_duration_millis(std::string_view text);

}  // namespace karst::base
