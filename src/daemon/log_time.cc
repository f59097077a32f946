#include "daemon/log_time.h"

#include <algorithm>
#include <cstdlib>

namespace karst::daemon {

LogTimeline::LogTimeline(std::optional<base::LogTime> last, base::WallTime wall,
                         std::int64_t monotonic_millis)
    : truth_offset_millis_(wall.value() - monotonic_millis),
      log_millis_(std::max(last ? last->value() : wall.value(), wall.value())),
      at_monotonic_millis_(monotonic_millis) {}

void LogTimeline::anchor(base::WallTime date, std::int64_t monotonic_millis) {
  const std::int64_t offset_millis = date.value() - monotonic_millis;
  if (std::llabs(offset_millis - truth_offset_millis_) < kAnchorNoiseMillis) return;
  now(monotonic_millis);  // what has passed until here passed under the old anchor
  truth_offset_millis_ = offset_millis;
}

base::LogTime LogTimeline::now(std::int64_t monotonic_millis) {
  const std::int64_t elapsed = std::max<std::int64_t>(0, monotonic_millis - at_monotonic_millis_);
  const std::int64_t truth = at_monotonic_millis_ + elapsed + truth_offset_millis_;
  const std::int64_t half_speed = log_millis_ + elapsed / 2;
  if (half_speed <= truth) {
    log_millis_ = truth;
    at_monotonic_millis_ += elapsed;
  } else {  // ahead: half speed; an odd millisecond waits for its other half
    log_millis_ = half_speed;
    at_monotonic_millis_ += elapsed / 2 * 2;
  }
  return base::LogTime(log_millis_);
}

std::optional<std::int64_t> LogTimeline::jump(base::WallTime wall, std::int64_t monotonic_millis) {
  const std::int64_t offset = wall.value() - now(monotonic_millis).value();
  const bool outside = std::llabs(offset) > kWallOffsetMaxMillis;
  const bool was_outside = told_jump_millis_ != 0;
  if (!outside && !was_outside) return std::nullopt;
  if (outside && was_outside && std::llabs(offset - told_jump_millis_) <= kWallOffsetMaxMillis)
    return std::nullopt;
  told_jump_millis_ = outside ? offset : 0;
  return offset;
}

}  // namespace karst::daemon
