#include "daemon/stop_signal.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <utility>

#include "base/check.h"
#include "base/time.h"

namespace karst::daemon {
namespace {

constexpr int kEndSignal = SIGUSR1;  // to the watching thread alone: nobody waits any more
constexpr std::int64_t kForEverMillis = 365 * 24 * base::kMillisPerHour;

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, kEndSignal);
  return set;
}

}  // namespace

void block_stop_signals() {
  sigset_t set = stop_signals();
  sigaddset(&set, SIGPIPE);
  KARST_CHECK(pthread_sigmask(SIG_BLOCK, &set, nullptr) == 0, "signals cannot be blocked");
}

bool stop_signal_came() {
  sigset_t came;
  sigemptyset(&came);
  sigpending(&came);
  return sigismember(&came, SIGINT) == 1 || sigismember(&came, SIGTERM) == 1;
}

StopWatch::StopWatch(std::int64_t for_millis, std::function<void()> stop)
    : thread_([for_millis, stop = std::move(stop)]() noexcept {
        const sigset_t set = stop_signals();
        const std::int64_t millis = for_millis == 0 ? kForEverMillis : for_millis;
        const timespec wait{static_cast<time_t>(millis / base::kMillisPerSecond),
                            static_cast<long>(millis % base::kMillisPerSecond * 1'000'000)};
        int signal = 0;
        do {
          signal = sigtimedwait(&set, nullptr, &wait);
        } while (signal < 0 && errno == EINTR);
        if (signal != kEndSignal) stop();
      }) {}

StopWatch::~StopWatch() {
  pthread_kill(thread_.native_handle(), kEndSignal);
  thread_.join();
}

}  // namespace karst::daemon
