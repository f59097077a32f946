// How fast one service of one account and region may be asked: a token bucket like the service's
// own, which all our calls to it share. It keeps back a share for what must never wait behind the
// rest: launching leaves 40 % of the bucket alone, reading 10 %, removing nothing. A throttled
// answer halves the rate, at most once a second, and answers that are none bring it back; what the
// service's Retry-After says holds for everything. Pure; integers in thousandths of a call.
#pragma once

#include <cstdint>
#include <optional>

#include "cloud/aws/request.h"

namespace karst::cloud::aws {

struct Limits {
  std::int64_t burst = 100;      // calls at once out of a full bucket
  std::int64_t per_second = 20;  // refilled
};
inline constexpr std::int64_t kSlowDownGapMillis = 1000;
inline constexpr std::int64_t kPauseMillisMax = 60'000;  // of a Retry-After

class Budget {
 public:
  Budget(Limits limits, std::int64_t now_millis);

  // 0: one call is taken out, send it. Otherwise: so many milliseconds until asking again makes
  // sense. `now_millis` never steps back.
  std::int64_t take(Purpose purpose, std::int64_t now_millis);
  void throttled(std::int64_t now_millis, std::optional<std::int64_t> retry_after_millis);
  void answered();  // with anything but a throttle

  std::int64_t per_second_millis() const { return rate_; }  // thousandths of a call a second

 private:
  const std::int64_t full_;      // thousandths of a call
  const std::int64_t rate_max_;  // and a second
  std::int64_t rate_;
  std::int64_t tokens_;
  std::int64_t filled_millis_;
  std::int64_t paused_until_millis_ = 0;
  std::optional<std::int64_t> slowed_millis_;
};

}  // namespace karst::cloud::aws
