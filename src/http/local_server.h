// A small HTTP/1.1 server for probes and metrics: GET and HEAD, bodies in one piece, keep-alive. A
// poll loop on a thread of its own, so that a probe never waits behind anything else. Everything is
// bounded: connections, header size, idle time; over a bound the connection is closed (and the
// oldest idle one makes room for a new one).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace karst::http {

inline constexpr std::size_t kServerConnectionsMax = 64;
inline constexpr std::size_t kServerHeaderBytesMax = 16 * 1024;
inline constexpr std::int64_t kServerIdleMillis = 30'000;

struct Reply {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
};

class LocalServer {
 public:
  // `target`: path and query, as sent. Runs on the server's thread; must not block and not throw.
  using Handler = std::function<Reply(std::string_view target)>;

  // Listens on "HOST:PORT" (an address, or localhost; no HOST: every address, of IPv4 and IPv6;
  // port 0 takes a free one). Errors: kInvalid for an address that is none, kTaken when somebody
  // listens there.
  static base::Result<std::unique_ptr<LocalServer>> listen(const std::string& address,
                                                           Handler handler);
  // Whether `address` is one, without listening. Errors: kInvalid.
  static base::Status check(const std::string& address);
  ~LocalServer();
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;

  int port() const;

 private:
  class Loop;
  explicit LocalServer(std::unique_ptr<Loop> loop);
  std::unique_ptr<Loop> loop_;
};

}  // namespace karst::http
