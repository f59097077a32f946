// Writes lines to file descriptors from a thread of its own, so that a reader who does not read
// never holds up a decision. Lines beyond kLinesWaitingMax are dropped and counted: notices are
// best effort. write() may be called from any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "base/bounded_queue.h"

namespace karst::daemon {

inline constexpr std::size_t kLinesWaitingMax = 10'000;
inline constexpr std::size_t kLinesAtOnceMax = 256;

class LineWriter {
 public:
  // Each line goes to each of them. Does not own them.
  explicit LineWriter(std::vector<int> descriptors);
  explicit LineWriter(int descriptor) : LineWriter(std::vector<int>{descriptor}) {}
  // Writes what waits, if the reader takes it, and stops.
  ~LineWriter();
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  void write(std::string line);  // without its end of line; never blocks
  std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  void run() noexcept;

  const std::vector<int> descriptors_;
  base::BoundedQueue<std::string> lines_{kLinesWaitingMax};
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace karst::daemon
