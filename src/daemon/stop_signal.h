// SIGINT and SIGTERM as something to wait for. Block them before the first thread is made: threads
// inherit that.
#pragma once

#include <cstdint>
#include <functional>
#include <thread>

namespace karst::daemon {

// Blocks SIGINT, SIGTERM (for wait) and SIGPIPE (a reader that went is an error of write).
void block_stop_signals();

// Whether one has come that nobody has waited for yet. Before there is a StopWatch: what takes long
// asks this.
bool stop_signal_came();

// Calls `stop` once from a thread of its own: when a stop signal arrives, or after `for_millis` of
// real time (0: never).
class StopWatch {
 public:
  StopWatch(std::int64_t for_millis, std::function<void()> stop);
  ~StopWatch();  // ends the thread without calling
  StopWatch(const StopWatch&) = delete;
  StopWatch& operator=(const StopWatch&) = delete;

 private:
  std::thread thread_;
};

}  // namespace karst::daemon
