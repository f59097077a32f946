// One API server as its callers see it: paths instead of URLs, credentials and identity filled in.
// Any thread; answers come on the transport's thread. Keeps no state but
// a pause that the server asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "http/transport.h"
#include "kube/access.h"
#include "kube/credentials.h"

namespace karst::kube {

inline constexpr std::string_view kJson = "application/json";
inline constexpr std::string_view kMergePatch = "application/merge-patch+json";
inline constexpr std::string_view kJsonPatch = "application/json-patch+json";

struct Call {
  http::Method method = http::Method::kGet;
  std::string path;  // with query, e.g. /api/v1/nodes/a
  std::string body;
  std::string_view content_type = kJson;
  std::string audit_id;  // goes out as Audit-ID, so that the cluster's audit log and ours join
  std::int64_t timeout_millis = 30'000;
  std::int64_t idle_millis = 0;
  std::size_t response_bytes_max = http::kResponseBytesDefault;
  std::function<bool(std::string_view)> on_chunk;
  bool urgent = false;  // not held back while the server wants a pause
  // Of a write: asked when it is about to go; empty: the client's guard of when it is sent.
  std::function<bool()> may_leave;
};

// A server that answers 429 with Retry-After gets that pause from this client, at most so long.
inline constexpr int kRetryAfterSecondsMax = 30;
inline constexpr std::size_t kHeldCallsMax = 20'000;  // during one pause

class Client {
 public:
  // `transport`: its callbacks reach for the client, so destroy it first, and call nothing here
  // after that. `user_agent`: karst/VERSION.
  Client(http::Transport& transport, std::string server, std::shared_ptr<Credentials> credentials,
         std::string user_agent);
  // With what `access` holds inline, for ever.
  Client(http::Transport& transport, const ServerAccess& access, std::string user_agent)
      : Client(transport, access.server, std::make_shared<Credentials>(access),
               std::move(user_agent)) {}

  // Writes leave only while `guard()` gives a function that says so: it is taken when a call is
  // sent, and asked again when its bytes are about to go (http::Request::may_leave). Before the
  // first send.
  void guard_writes(std::function<std::function<bool()>()> guard) { guard_ = std::move(guard); }

  // A 401 did nothing: once the credentials were renewed, the call is sent a second time. 0 for a
  // call that waits for the end of a pause.
  http::RequestId send(Call call, http::Transport::Done done);
  void cancel(http::RequestId id) { transport_.cancel(id); }
  void after(std::int64_t millis, std::function<void()> action) {
    transport_.after(millis, std::move(action));
  }

 private:
  struct Sent;
  http::RequestId send(const std::shared_ptr<Sent>& sent);
  http::RequestId send_now(const std::shared_ptr<Sent>& sent);
  void note_pause(const Sent& sent, const http::Response& response);
  http::Request request_of(const Sent& sent) const;
  void refused(const std::shared_ptr<Sent>& sent, http::Response response);
  void send_again(const std::shared_ptr<Sent>& sent);

  http::Transport& transport_;
  const std::string server_;
  const std::shared_ptr<Credentials> credentials_;
  const std::string user_agent_;
  std::function<std::function<bool()>()> guard_;
  struct Pause {
    std::mutex mutex;
    bool on = false;
    std::vector<std::shared_ptr<Sent>> held;
  };
  const std::shared_ptr<Pause> pause_ = std::make_shared<Pause>();
};

// A path segment or query value with everything but unreserved characters escaped.
std::string escaped(std::string_view text);

// What an answer that is not a success says, for people: the Status message of the API server, or
// the transport's error.
std::string failure_text(const http::Response& response);

}  // namespace karst::kube
