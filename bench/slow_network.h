// A network on which every answer takes the same time: requests are handed to `serve` on the
// network's own thread when their answer is due. What is still open at the end is dropped.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "http/transport.h"

namespace karst::bench {

class SlowNetwork final : public http::Transport {
 public:
  using Serve = std::function<http::Response(const http::Request&)>;
  SlowNetwork(std::int64_t answer_millis, Serve serve)
      : answer_millis_(answer_millis), serve_(std::move(serve)), thread_([this] { run(); }) {}
  ~SlowNetwork() override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

  http::RequestId send(http::Request request, Done done) override {
    after(answer_millis_,
          [this, request = std::move(request), done = std::move(done)] { done(serve_(request)); });
    return 1;
  }
  void cancel(http::RequestId) override {}
  void after(std::int64_t millis, std::function<void()> action) override {
    {
      const std::lock_guard lock(mutex_);
      due_.emplace(Clock::now() + std::chrono::milliseconds(millis), std::move(action));
    }
    changed_.notify_one();
  }

 private:
  using Clock = std::chrono::steady_clock;
  void run() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      if (due_.empty()) {
        changed_.wait(lock);
      } else if (const auto at = due_.begin()->first; at > Clock::now()) {
        changed_.wait_until(lock, at);
      } else {
        const auto action = std::move(due_.begin()->second);
        due_.erase(due_.begin());
        lock.unlock();
        action();
        lock.lock();
      }
    }
  }

  const std::int64_t answer_millis_;
  const Serve serve_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::multimap<Clock::time_point, std::function<void()>> due_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace karst::bench
