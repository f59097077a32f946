// karst's own time line (docs/decisions/0007-log-time.md): runs with the monotonic clock, anchored
// to the best word on what time it is, never steps back. Behind the anchor it steps forward; ahead
// of it, it runs at half speed until it is caught up with. Engine thread; plain arithmetic, no
// clock of its own.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"
#include "projections/cluster_state.h"

namespace karst::daemon {

using projections::kWallOffsetMaxMillis;
inline constexpr std::int64_t kAnchorNoiseMillis = 2 * base::kMillisPerSecond;

class LogTimeline {
 public:
  // A new log starts at `wall`; an old one goes on at the larger of `wall` and its last log time.
  LogTimeline(std::optional<base::LogTime> last, base::WallTime wall,
              std::int64_t monotonic_millis);

  // What a better clock (the API server's Date, in whole seconds) said at that moment. Less than
  // kAnchorNoiseMillis from what we believe changes nothing.
  void anchor(base::WallTime date, std::int64_t monotonic_millis);

  // Never earlier than what it returned before.
  base::LogTime now(std::int64_t monotonic_millis);

  // Holds the machine's wall clock against log time. The difference (wall minus log time), when it
  // has just left or come back into ±kWallOffsetMaxMillis, or has changed by more than that while
  // outside; otherwise nothing.
  std::optional<std::int64_t> jump(base::WallTime wall, std::int64_t monotonic_millis);

 private:
  std::int64_t truth_offset_millis_;   // what we believe: unix time minus monotonic time
  std::int64_t log_millis_;            // log time at ...
  std::int64_t at_monotonic_millis_;   // ... this moment
  std::int64_t told_jump_millis_ = 0;  // 0: the wall clock was last told to be right
};

}  // namespace karst::daemon
