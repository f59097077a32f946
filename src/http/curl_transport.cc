#include "http/curl_transport.h"

#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "base/check.h"

namespace karst::http {
namespace {

constexpr long kConnectTimeoutMillis = 10'000;
constexpr int kTcpUserTimeoutMillis =
    30'000;  // sent and not acknowledged for so long: the connection is dead
constexpr long kKeepAliveIdleSeconds = 15;
constexpr long kKeepAliveIntervalSeconds = 5;
constexpr long kConnectionAgeSecondsMax = 3600;  // a control plane that moved is followed
constexpr int kPollMillisMax = 60'000;
constexpr std::size_t kHeadersMax = 128;

using SteadyClock = std::chrono::steady_clock;

void init_curl_once() {
  static const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
  KARST_CHECK(code == CURLE_OK, "libcurl starts");
}

int set_user_timeout(void*, curl_socket_t socket, curlsocktype) {
  const int millis = kTcpUserTimeoutMillis;
  (void)setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &millis, sizeof millis);
  return CURL_SOCKOPT_OK;
}

// One request on the wire.
struct Exchange {
  RequestId id = 0;
  Request request;
  Transport::Done done;
  Response response;
  CURL* easy = nullptr;
  curl_slist* headers = nullptr;
  char error[CURL_ERROR_SIZE] = {};
  std::size_t header_bytes = 0;
  std::optional<Failure> stopped;  // why we ended it ourselves

  Exchange(RequestId number, Request what, Transport::Done then)
      : id(number), request(std::move(what)), done(std::move(then)) {}
  ~Exchange() {
    if (easy != nullptr) curl_easy_cleanup(easy);
    curl_slist_free_all(headers);
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
};

std::size_t on_body(char* data, std::size_t, std::size_t count, void* user) {
  auto& exchange = *static_cast<Exchange*>(user);
  long status = 0;
  curl_easy_getinfo(exchange.easy, CURLINFO_RESPONSE_CODE, &status);
  if (exchange.request.on_chunk && status == 200) {
    if (exchange.request.on_chunk({data, count})) return count;
    exchange.stopped = Failure::kCancelled;
    return 0;
  }
  if (exchange.response.body.size() + count > exchange.request.response_bytes_max) {
    exchange.stopped = Failure::kTooLarge;
    return 0;
  }
  exchange.response.body.append(data, count);
  return count;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
    text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.remove_suffix(1);
  return text;
}

std::size_t on_header(char* data, std::size_t, std::size_t count, void* user) {
  auto& exchange = *static_cast<Exchange*>(user);
  exchange.header_bytes += count;
  if (exchange.header_bytes > kHeaderBytesMax || exchange.response.headers.size() >= kHeadersMax) {
    exchange.stopped = Failure::kTooLarge;
    return 0;
  }
  const std::string_view line(data, count);
  if (line.starts_with("HTTP/"))
    exchange.response.headers.clear();  // an interim answer came before
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return count;
  std::string name(trimmed(line.substr(0, colon)));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  exchange.response.headers.emplace_back(std::move(name),
                                         std::string(trimmed(line.substr(colon + 1))));
  return count;
}

curl_blob blob_of(const std::string& text) {
  return curl_blob{const_cast<char*>(text.data()), text.size(), CURL_BLOB_COPY};
}

void set_tls(CURL* easy, const TlsOptions& tls) {
  curl_easy_setopt(easy, CURLOPT_SSLVERSION, long{CURL_SSLVERSION_TLSv1_2});
  if (!tls.ca_pem.empty()) {
    const curl_blob blob = blob_of(tls.ca_pem);
    curl_easy_setopt(easy, CURLOPT_CAINFO_BLOB, &blob);
  } else if (!tls.ca_file.empty()) {
    curl_easy_setopt(easy, CURLOPT_CAINFO, tls.ca_file.c_str());
  }
  if (tls.certificate_pem.empty()) return;
  const curl_blob certificate = blob_of(tls.certificate_pem);
  const curl_blob key = blob_of(tls.key_pem);
  curl_easy_setopt(easy, CURLOPT_SSLCERT_BLOB, &certificate);
  curl_easy_setopt(easy, CURLOPT_SSLCERTTYPE, "PEM");
  curl_easy_setopt(easy, CURLOPT_SSLKEY_BLOB, &key);
  curl_easy_setopt(easy, CURLOPT_SSLKEYTYPE, "PEM");
}

void set_connection(CURL* easy) {
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "https,http");
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_2TLS});
  curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, kConnectTimeoutMillis);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, kKeepAliveIdleSeconds);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, kKeepAliveIntervalSeconds);
  curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, set_user_timeout);
  curl_easy_setopt(easy, CURLOPT_MAXLIFETIME_CONN, kConnectionAgeSecondsMax);
}

void set_request(Exchange& exchange) {
  CURL* easy = exchange.easy;
  const Request& request = exchange.request;
  curl_easy_setopt(easy, CURLOPT_URL, request.url.c_str());
  if (request.method != Method::kGet) {
    if (!request.body.empty() || request.method == Method::kPost) {
      curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                       static_cast<curl_off_t>(request.body.size()));
      curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.c_str());
    }
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, std::string(method_name(request.method)).c_str());
  }
  exchange.headers = curl_slist_append(nullptr, "Expect:");  // one round trip, no interim answers
  for (const std::string& header : request.headers)
    exchange.headers = curl_slist_append(exchange.headers, header.c_str());
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, exchange.headers);
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout_millis));
  if (request.idle_millis > 0) {
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME,
                     static_cast<long>(std::max<std::int64_t>(1, request.idle_millis / 1000)));
  }
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, exchange.error);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &exchange);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, &exchange);
  curl_easy_setopt(easy, CURLOPT_PRIVATE, &exchange);
}

// Whether the request can have reached the server: libcurl had a connection and began to send.
bool may_have_left(CURL* easy) {
  curl_off_t began_micros = 0;
  curl_easy_getinfo(easy, CURLINFO_PRETRANSFER_TIME_T, &began_micros);
  return began_micros > 0;
}

Failure failure_of(const Exchange& exchange, CURLcode code) {
  if (exchange.stopped) return *exchange.stopped;
  if (code == CURLE_OK) return Failure::kNone;
  return may_have_left(exchange.easy) ? Failure::kUnclear : Failure::kNotSent;
}

}  // namespace

class CurlTransport::Loop {
 public:
  explicit Loop(TlsOptions tls) : tls_(std::move(tls)) {
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
    exchange->easy = curl_easy_init();
    KARST_CHECK(exchange->easy != nullptr, "memory for a libcurl handle");
    set_connection(exchange->easy);
    set_tls(exchange->easy, tls_);
    set_request(*exchange);
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
    Response& response = exchange->response;
    long status = 0;
    curl_easy_getinfo(exchange->easy, CURLINFO_RESPONSE_CODE, &status);
    response.status = static_cast<int>(status);
    response.failure = failure_of(*exchange, code);
    if (response.failure == Failure::kCancelled) response.error = "cancelled";
    if (response.failure == Failure::kTooLarge)
      response.error = "the answer is larger than allowed";
    if (response.error.empty() && response.failure != Failure::kNone)
      response.error = exchange->error[0] != '\0' ? exchange->error : curl_easy_strerror(code);
    exchange->done(std::move(response));
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

  const TlsOptions tls_;
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
