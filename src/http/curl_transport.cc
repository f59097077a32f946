#include "http/curl_transport.h"

#include <curl/curl.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "base/check.h"
#include "http/curl_exchange.h"

namespace karst::http {
namespace {

constexpr int kPollMillisMax = 60'000;

using SteadyClock = std::chrono::steady_clock;

void init_curl_once() {
  static const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
  KARST_CHECK(code == CURLE_OK, "libcurl starts");
}

}  // namespace

class CurlTransport::Loop {
 public:
  explicit Loop(TlsOptions tls) : own_{std::move(tls), {}} {
    init_curl_once();
    multi_ = curl_multi_init();
    KARST_CHECK(multi_ != nullptr, "memory for a libcurl multi handle");
    curl_multi_setopt(multi_, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    thread_ = std::thread([this] { run(); });
  }
  ~Loop() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    curl_multi_wakeup(multi_);
    thread_.join();
    curl_multi_cleanup(multi_);
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  RequestId send(Request request, Done done) {
    RequestId id = 0;
    {
      std::lock_guard lock(mutex_);
      id = next_id_++;
      waiting_.push_back(std::make_unique<Exchange>(id, std::move(request), std::move(done)));
    }
    curl_multi_wakeup(multi_);
    return id;
  }
  void cancel(RequestId id) {
    {
      std::lock_guard lock(mutex_);
      cancelled_.push_back(id);
    }
    curl_multi_wakeup(multi_);
  }
  void after(std::int64_t millis, std::function<void()> action) {
    {
      std::lock_guard lock(mutex_);
      KARST_CHECK(timers_.size() < kTimersMax, "timers of a transport are bounded");
      timers_.emplace(SteadyClock::now() + std::chrono::milliseconds(millis), std::move(action));
    }
    curl_multi_wakeup(multi_);
  }

 private:
  void run() {
    for (;;) {
      if (take_in()) break;
      run_due_timers();
      int running = 0;
      curl_multi_perform(multi_, &running);
      finish_complete();
      curl_multi_poll(multi_, nullptr, 0, poll_millis(), nullptr);
    }
    end_all();
  }

  // Starts what waits, ends what was cancelled. True when stopping.
  bool take_in() {
    std::vector<RequestId> cancelled;
    std::deque<std::unique_ptr<Exchange>> starting;
    std::deque<std::unique_ptr<Exchange>> refused;
    {
      std::lock_guard lock(mutex_);
      if (stopping_) return true;
      cancelled.swap(cancelled_);
      while (!waiting_.empty() && open_.size() + starting.size() < kTransportInFlightMax) {
        starting.push_back(std::move(waiting_.front()));
        waiting_.pop_front();
      }
      while (waiting_.size() > kTransportWaitingMax) {
        refused.push_back(std::move(waiting_.back()));
        waiting_.pop_back();
      }
      for (const RequestId id : cancelled) {
        const auto at = std::find_if(waiting_.begin(), waiting_.end(),
                                     [&](const auto& one) { return one->id == id; });
        if (at == waiting_.end()) continue;
        refused.push_back(std::move(*at));
        refused.back()->stopped = Failure::kCancelled;
        waiting_.erase(at);
      }
    }
    for (auto& exchange : starting) start(std::move(exchange));
    for (const RequestId id : cancelled) end(id);
    for (auto& exchange : refused) {
      exchange->response.failure = exchange->stopped.value_or(Failure::kNotSent);
      exchange->response.error =
          exchange->stopped ? "cancelled" : "too many requests wait to be sent";
      exchange->done(std::move(exchange->response));
    }
    return false;
  }

  void start(std::unique_ptr<Exchange> exchange) {
    set_up(*exchange, own_);
    curl_multi_add_handle(multi_, exchange->easy);
    open_.emplace(exchange->id, std::move(exchange));
  }

  void end(RequestId id) {
    const auto at = open_.find(id);
    if (at == open_.end()) return;
    at->second->stopped = Failure::kCancelled;
    complete(*at->second, CURLE_ABORTED_BY_CALLBACK);
  }

  void finish_complete() {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      const CURLcode code = message->data.result;
      Exchange* exchange = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &exchange);
      complete(*exchange, code);
    }
  }

  void complete(Exchange& finished, CURLcode code) {
    curl_multi_remove_handle(multi_, finished.easy);
    const auto exchange = std::move(open_.at(finished.id));
    open_.erase(exchange->id);
    conclude(*exchange, code);
    exchange->done(std::move(exchange->response));
  }

  void run_due_timers() {
    for (;;) {
      std::function<void()> action;
      {
        std::lock_guard lock(mutex_);
        if (timers_.empty() || timers_.begin()->first > SteadyClock::now()) return;
        action = std::move(timers_.begin()->second);
        timers_.erase(timers_.begin());
      }
      action();
    }
  }

  int poll_millis() {
    std::lock_guard lock(mutex_);
    if (stopping_ || (!waiting_.empty() && open_.size() < kTransportInFlightMax)) return 0;
    if (timers_.empty()) return kPollMillisMax;
    const auto wait =
        std::chrono::ceil<std::chrono::milliseconds>(timers_.begin()->first - SteadyClock::now())
            .count();
    return static_cast<int>(std::clamp<std::int64_t>(wait, 0, kPollMillisMax));
  }

  void end_all() {
    while (!open_.empty()) end(open_.begin()->first);
    std::deque<std::unique_ptr<Exchange>> waiting;
    {
      std::lock_guard lock(mutex_);
      waiting.swap(waiting_);
    }
    for (auto& exchange : waiting) {
      exchange->response.failure = Failure::kCancelled;
      exchange->response.error = "cancelled";
      exchange->done(std::move(exchange->response));
    }
  }

  const Connection own_;
  CURLM* multi_ = nullptr;
  std::map<RequestId, std::unique_ptr<Exchange>> open_;  // the thread's own

  std::mutex mutex_;  // guards what follows
  bool stopping_ = false;
  RequestId next_id_ = 1;
  std::deque<std::unique_ptr<Exchange>> waiting_;
  std::vector<RequestId> cancelled_;
  std::multimap<SteadyClock::time_point, std::function<void()>> timers_;
  std::thread thread_;
};

CurlTransport::CurlTransport(TlsOptions tls) : loop_(std::make_unique<Loop>(std::move(tls))) {}
CurlTransport::~CurlTransport() = default;
RequestId CurlTransport::send(Request request, Done done) {
  return loop_->send(std::move(request), std::move(done));
}
void CurlTransport::cancel(RequestId id) {
  loop_->cancel(id);
}
void CurlTransport::after(std::int64_t millis, std::function<void()> action) {
  loop_->after(millis, std::move(action));
}

}  // namespace karst::http
