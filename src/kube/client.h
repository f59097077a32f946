// One API server as its callers see it: paths instead of URLs, credentials and identity filled in.
// Any thread; answers come on the transport's thread. Keeps no state but the bearer token.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "http/transport.h"
#include "kube/access.h"

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
};

class Client {
 public:
  // `transport` outlives the client. `user_agent`: karst/VERSION.
  Client(http::Transport& transport, ServerAccess access, std::string user_agent);

  http::RequestId send(Call call, http::Transport::Done done);
  void cancel(http::RequestId id) { transport_.cancel(id); }
  void after(std::int64_t millis, std::function<void()> action) {
    transport_.after(millis, std::move(action));
  }

 private:
  std::string bearer_token();

  http::Transport& transport_;
  const ServerAccess access_;
  const std::string user_agent_;
  struct Token {
    std::mutex mutex;
    std::string text;
    bool fresh = false;
  };
  const std::shared_ptr<Token> token_ = std::make_shared<Token>();
};

// A path segment or query value with everything but unreserved characters escaped.
std::string escaped(std::string_view text);

// What an answer that is not a success says, for people: the Status message of the API server, or
// the transport's error.
std::string failure_text(const http::Response& response);

// What identifies a cluster, read once at the start: blocks the calling thread, which must not be
// the transport's.
struct ClusterIdentity {
  std::string uid;                      // of the namespace kube-system
  std::int64_t server_wall_millis = 0;  // the answer's Date, unix; 0: none was sent
};
base::Result<ClusterIdentity> read_cluster_identity(Client& client);

}  // namespace karst::kube
