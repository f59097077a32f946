// The bounded two-lane queue between threads: urgent elements leave first, each lane keeps its
// order. A mutex and two condition variables: a cluster's rate does not pay for lock-free code.
// Thread safety: every member may be called from any thread. Elements are owned by the queue until
// popped.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace karst::base {

enum class Lane { kUrgent, kOrdinary };

template <class T>
class BoundedQueue {
 public:
  // `capacity` holds for each lane apart, so that a flood of ordinary elements cannot keep an
  // urgent one out.
  explicit BoundedQueue(std::size_t capacity) : capacity_(capacity) {}

  // Blocks while the lane is full. False when the queue was closed: the element was not taken.
  bool push(T element, Lane lane) {
    std::unique_lock lock(mutex_);
    space_.wait(lock, [&] { return closed_ || lane_of(lane).size() < capacity_; });
    if (closed_) return false;
    lane_of(lane).push_back(std::move(element));
    ready_.notify_one();
    return true;
  }

  // Never blocks. False when the lane is full or the queue closed: the element was not taken.
  bool try_push(T element, Lane lane) {
    std::lock_guard lock(mutex_);
    if (closed_ || lane_of(lane).size() >= capacity_) return false;
    lane_of(lane).push_back(std::move(element));
    ready_.notify_one();
    return true;
  }

  // Waits until there is an element, the time is up, wake() was called or the queue was closed;
  // then takes at most `most` elements, urgent ones first. Empty when there was none.
  std::vector<T> pop_some(std::size_t most, std::chrono::milliseconds wait) {
    std::unique_lock lock(mutex_);
    ready_.wait_for(lock, wait,
                    [&] { return closed_ || woken_ || !urgent_.empty() || !ordinary_.empty(); });
    woken_ = false;
    std::vector<T> taken;
    for (auto* lane : {&urgent_, &ordinary_}) {
      while (taken.size() < most && !lane->empty()) {
        taken.push_back(std::move(lane->front()));
        lane->pop_front();
      }
    }
    if (!taken.empty()) space_.notify_all();
    return taken;
  }

  bool has_urgent() const {
    std::lock_guard lock(mutex_);
    return !urgent_.empty();
  }
  // Waits until an urgent element is there, the time is up, wake() was called or the queue was
  // closed; takes nothing.
  void wait_urgent(std::chrono::milliseconds wait) {
    std::unique_lock lock(mutex_);
    ready_.wait_for(lock, wait, [&] { return closed_ || woken_ || !urgent_.empty(); });
  }
  void wake() {
    std::lock_guard lock(mutex_);
    woken_ = true;
    ready_.notify_all();
  }
  void close() {
    std::lock_guard lock(mutex_);
    closed_ = true;
    ready_.notify_all();
    space_.notify_all();
  }
  std::size_t size() const {
    std::lock_guard lock(mutex_);
    return urgent_.size() + ordinary_.size();
  }

 private:
  std::deque<T>& lane_of(Lane lane) { return lane == Lane::kUrgent ? urgent_ : ordinary_; }

  const std::size_t capacity_;
  mutable std::mutex mutex_;
  std::condition_variable ready_;
  std::condition_variable space_;
  std::deque<T> urgent_;
  std::deque<T> ordinary_;
  bool closed_ = false;
  bool woken_ = false;
};

}  // namespace karst::base
