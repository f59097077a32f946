#include "daemon/system_clock.h"

#include <time.h>

#include "base/check.h"

namespace karst::daemon {
namespace {

std::int64_t read_millis(clockid_t clock) {
  timespec now{};
  KARST_CHECK(clock_gettime(clock, &now) == 0, "the machine has no such clock");
  return static_cast<std::int64_t>(now.tv_sec) * base::kMillisPerSecond + now.tv_nsec / 1'000'000;
}

}  // namespace

std::int64_t SystemClock::monotonic_millis() const {
  return read_millis(CLOCK_BOOTTIME);
}

base::WallTime SystemClock::wall() const {
  return base::WallTime(read_millis(CLOCK_REALTIME));
}

ScaledClock::ScaledClock(const base::Clock& real, std::int64_t speed, base::WallTime wall_start)
    : real_(real),
      speed_(speed),
      real_start_millis_(real.monotonic_millis()),
      wall_start_(wall_start) {
  KARST_CHECK(speed >= 1 && speed <= kSpeedMax, "speed out of range");
}

std::int64_t ScaledClock::monotonic_millis() const {
  return (real_.monotonic_millis() - real_start_millis_) * speed_;
}

base::WallTime ScaledClock::wall() const {
  return base::WallTime(wall_start_.value() + monotonic_millis());
}

}  // namespace karst::daemon
