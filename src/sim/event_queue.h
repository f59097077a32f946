// What will happen, ordered by (time, sequence): two things at one time happen in the order in
// which they were planned. Plain value, one thread. Times are unix milliseconds of the simulated
// world.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

namespace karst::sim {

inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

class EventQueue {
 public:
  void at(std::int64_t millis, std::function<void()> work) {
    heap_.push_back({millis, ++sequence_, std::move(work)});
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  std::int64_t next_at() const { return heap_.empty() ? kNever : heap_.front().millis; }
  // Takes the first one out. REQUIRES: next_at() != kNever.
  std::pair<std::int64_t, std::function<void()>> pop() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    Item item = std::move(heap_.back());
    heap_.pop_back();
    return {item.millis, std::move(item.work)};
  }
  std::size_t size() const { return heap_.size(); }

 private:
  struct Item {
    std::int64_t millis;
    std::uint64_t sequence;
    std::function<void()> work;
  };
  static bool later(const Item& a, const Item& b) {
    return std::pair(a.millis, a.sequence) > std::pair(b.millis, b.sequence);
  }
  std::vector<Item> heap_;
  std::uint64_t sequence_ = 0;
};

}  // namespace karst::sim
