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

// The same clock with a wall time that starts at `wall_start` and never jumps: of a made-up world,
// which goes on where its log ended.
class ShiftedClock final : public base::Clock {
 public:
  ShiftedClock(const base::Clock& real, base::WallTime wall_start)
      : real_(real), real_start_millis_(real.monotonic_millis()), wall_start_(wall_start) {}
  std::int64_t monotonic_millis() const override { return real_.monotonic_millis(); }
  base::WallTime wall() const override {
    return base::WallTime(wall_start_.value() + real_.monotonic_millis() - real_start_millis_);
  }

 private:
  const base::Clock& real_;
  const std::int64_t real_start_millis_;
  const base::WallTime wall_start_;
};

}  // namespace karst::daemon
