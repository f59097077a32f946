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

}  // namespace karst::daemon
