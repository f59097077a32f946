// HTTP as values: a request goes out, one response comes back, on the transport's own thread. One
// request is one attempt: no retries, no redirects, no caching. The interface is what protocols are
// tested against; curl_transport.h is the real one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace karst::http {

enum class Method { kGet, kPost, kPut, kPatch, kDelete };
std::string_view method_name(Method method);

inline constexpr std::size_t kResponseBytesDefault = 4u << 20;
inline constexpr std::size_t kHeaderBytesMax = 16 * 1024;

struct TlsOptions {
  // These alone are trusted, and for a proxy the system's as well. Empty: the system's.
  std::string ca_pem;
  std::string certificate_pem;  // client certificate and its key
  std::string key_pem;
  std::string server_name;  // asked for and verified instead of the URL's host; empty: the host
  bool insecure = false;    // whoever answers is believed. Never the default
};

// How a server is reached and trusted. Requests with different ones share no connection.
struct Connection {
  TlsOptions tls;
  // http://, https:// or socks5://, with user:password@ if need be. Empty: HTTPS_PROXY and NO_PROXY
  // of the environment decide (no_proxy.h), and never for a loopback or link-local address.
  std::string proxy_url;
};

struct Request {
  Method method = Method::kGet;
  std::string url;
  std::vector<std::string> headers;  // "Name: value"
  std::string body;
  std::int64_t timeout_millis = 30'000;  // for the whole exchange; 0: none
  std::int64_t idle_millis = 0;          // ends the exchange after so long without a byte; 0: never
  std::size_t response_bytes_max =
      kResponseBytesDefault;  // of a body that is collected; a stream has no such end
  // With it a body of status 200 is not collected but handed over in pieces as it comes. False ends
  // the exchange.
  std::function<bool(std::string_view)> on_chunk;
  std::shared_ptr<const Connection> connection;  // none: the transport's own
  // Asked on the transport's thread when there is a connection and the request is about to go out
  // on it. False: it does not (kNotSent). Empty: it may.
  std::function<bool()> may_leave;
};

enum class Failure {
  kNone,       // there is a status, whatever it is
  kNotSent,    // the request did not leave: no address, no connection, no trust. It had no effect
  kUnclear,    // bytes may have left, and no complete answer came: it may or may not have had its
               // effect
  kTooLarge,   // the answer was larger than allowed. What was asked may have had its effect
  kCancelled,  // cancel(), stop(), or on_chunk said so
};

// What stood in the way of a request that was not sent, where that is known.
enum class Obstacle {
  kNone,
  kServerCertificate,  // it is not trusted
  kOwnCertificate,     // the client's certificate or key cannot be used
  kProxy,              // it has no address, or refuses
};

struct Response {
  int status = 0;                                            // 0 when failed before a status came
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;
  Failure failure = Failure::kNone;
  std::string error;  // for people, when failure is not kNone
  Obstacle obstacle = Obstacle::kNone;

  bool ok() const { return failure == Failure::kNone && status >= 200 && status < 300; }
  // The first value of that name (lower case); empty when absent.
  std::string_view header(std::string_view name) const;
};

using RequestId = std::uint64_t;  // 0 is none

class Transport {
 public:
  using Done = std::function<void(Response)>;
  virtual ~Transport() = default;
  // Any thread. Never blocks. `done` runs once, on the transport's thread, also after cancel().
  virtual RequestId send(Request request, Done done) = 0;
  // Any thread. Ends the exchange; its `done` gets kCancelled unless it was complete already.
  // Unknown ids are left alone.
  virtual void cancel(RequestId id) = 0;
  // Any thread. Runs `action` on the transport's thread after `millis` (0: as soon as possible);
  // never, once it has stopped.
  virtual void after(std::int64_t millis, std::function<void()> action) = 0;
};

}  // namespace karst::http
