// A transport for tests: requests are kept, the test answers them by hand, time moves when the test
// says so. One thread.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "http/transport.h"
#include "ports/fact.h"

namespace karst::testing_kube {

class FakeTransport : public http::Transport {
 public:
  struct Sent {
    http::RequestId id = 0;
    http::Request request;
    Done done;
  };

  http::RequestId send(http::Request request, Done done) override {
    open.push_back({++last_id_, std::move(request), std::move(done)});
    return last_id_;
  }
  void cancel(http::RequestId) override {}
  void after(std::int64_t millis, std::function<void()> action) override {
    timers_.emplace(now_millis_ + millis, std::move(action));
  }

  // Answers the oldest open request and returns it.
  http::Request answer(http::Response response) {
    Sent sent = take();
    sent.done(std::move(response));
    return sent.request;
  }
  http::Request answer(int status, std::string body) {
    http::Response response;
    response.status = status;
    response.body = std::move(body);
    return answer(std::move(response));
  }
  http::Request fail(http::Failure failure) {
    http::Response response;
    response.failure = failure;
    response.error = "the line is cut";
    return answer(std::move(response));
  }
  // Moves time on and runs what is due, in order.
  void advance(std::int64_t millis) {
    const std::int64_t until = now_millis_ + millis;
    while (!timers_.empty() && timers_.begin()->first <= until) {
      now_millis_ = timers_.begin()->first;
      auto action = std::move(timers_.begin()->second);
      timers_.erase(timers_.begin());
      action();
    }
    now_millis_ = until;
  }
  Sent take() {
    if (open.empty()) return {};
    Sent sent = std::move(open.front());
    open.pop_front();
    return sent;
  }

  std::deque<Sent> open;

 private:
  http::RequestId last_id_ = 0;
  std::int64_t now_millis_ = 0;
  std::multimap<std::int64_t, std::function<void()>> timers_;
};

class FakeSink final : public ports::FactSink {
 public:
  bool offer(ports::Fact fact) override {
    if (closed) return false;
    facts.push_back(std::move(fact));
    return true;
  }
  template <class T>
  std::vector<T> all() const {
    std::vector<T> found;
    for (const ports::Fact& fact : facts)
      if (const T* body = std::get_if<T>(&fact.body)) found.push_back(*body);
    return found;
  }
  // Which facts came, by type name, in order.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const ports::Fact& fact : facts)
      names.emplace_back(events::event_type_name(events::type_of(fact.body)));
    return names;
  }
  std::vector<ports::Fact> facts;
  bool closed = false;
};

class FakeClock final : public base::Clock {
 public:
  std::int64_t monotonic_millis() const override { return now_millis; }
  base::WallTime wall() const override { return base::WallTime(1'000'000 + now_millis); }
  std::int64_t now_millis = 0;
};

}  // namespace karst::testing_kube
