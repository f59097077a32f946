// When a budget's schedule fires: five fields (minute, hour, day of the month, month, day of the
// week) or @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly, in UTC. Read as the
// standard parser of robfig/cron v3 does, which is what Karpenter uses:
// - lists, ranges and steps; "N/step" runs to the end of the field; names jan-dec and sun-sat in
//   either case; Sunday is 0, and 7 is refused; "?" is "*".
// - Where both days are given, either is enough; where one is "*" (no step), both must hold.
// - "TZ=", "@every" and a field of seconds are refused.
// Pure values; time is an argument.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace karst::model {

inline constexpr int kScheduleYearsMax = 5;  // what does not fire within them never does

// A bit for each value of a field.
struct Schedule {
  std::uint64_t minutes = 0;   // 0 to 59
  std::uint64_t hours = 0;     // 0 to 23
  std::uint64_t days = 0;      // 1 to 31
  std::uint64_t months = 0;    // 1 to 12
  std::uint64_t weekdays = 0;  // 0 to 6
  bool any_day = false;        // the field is "*"
  bool any_weekday = false;
};

// kInvalid, with the field and what was expected, if it is not one.
base::Result<Schedule> parse_schedule(std::string_view text);

// The first time after `time` at which it fires; a whole minute. nullopt: not within
// kScheduleYearsMax years, such as the 30th of February.
std::optional<base::LogTime> next_after(const Schedule& schedule, base::LogTime time);

}  // namespace karst::model
