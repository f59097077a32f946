// The engine's bounded inbox: what sources offer, in two lanes (ports/fact.h), each with the order
// in which it was offered. Sources block while their lane is full; nothing is dropped. Any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/bounded_queue.h"
#include "ports/fact.h"

namespace karst::daemon {

inline constexpr std::size_t kInboxMax = 20'000;  // facts in each lane

class Inbox final : public ports::FactSink {
 public:
  explicit Inbox(std::size_t capacity = kInboxMax) : queue_(capacity) {}

  bool offer(ports::Fact fact) override {
    const base::Lane lane = ports::lane_of(fact.body);
    fact.order = ++offered_;
    return queue_.push(std::move(fact), lane);
  }
  // Never blocks; false when the lane is full or the inbox closed. For the engine's own thread,
  // which must not wait for itself.
  bool try_offer(ports::Fact fact) {
    const base::Lane lane = ports::lane_of(fact.body);
    fact.order = ++offered_;
    return queue_.try_push(std::move(fact), lane);
  }
  std::vector<ports::Fact> take(std::size_t most, std::chrono::milliseconds wait) {
    return queue_.pop_some(most, wait);
  }
  void wait_urgent(std::chrono::milliseconds wait) { queue_.wait_urgent(wait); }
  bool has_urgent() const { return queue_.has_urgent(); }
  std::size_t size() const { return queue_.size(); }
  void wake() { queue_.wake(); }
  void close() { queue_.close(); }

 private:
  base::BoundedQueue<ports::Fact> queue_;
  std::atomic<std::uint64_t> offered_ = 0;
};

}  // namespace karst::daemon
