// The machine's clocks: the only place where real time enters. Both clocks may be used from any
// thread.
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace karst::daemon {

// CLOCK_BOOTTIME (keeps counting over suspend) and CLOCK_REALTIME.
class SystemClock final : public base::Clock {
 public:
  std::int64_t monotonic_millis() const override;
  base::WallTime wall() const override;
};

// A clock for a world that runs `speed` times as fast as this one: 1 to kSpeedMax. Its wall time
// starts at `wall_start` and never jumps.
inline constexpr std::int64_t kSpeedMax = 1000;
class ScaledClock final : public base::Clock {
 public:
  ScaledClock(const base::Clock& real, std::int64_t speed, base::WallTime wall_start);
  std::int64_t monotonic_millis() const override;
  base::WallTime wall() const override;

 private:
  const base::Clock& real_;
  const std::int64_t speed_;
  const std::int64_t real_start_millis_;
  const base::WallTime wall_start_;
};

}  // namespace karst::daemon
