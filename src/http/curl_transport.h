// The transport over one libcurl multi handle on a thread of its own: HTTP/2, all requests to one
// server share a connection, TLS verified unless told not to. Watches and writes take a transport
// each, so that a stalled stream cannot hold up a write. A response body that nobody reads fast
// enough is held back by the server (flow control): on_chunk may block, which stops every exchange
// of this transport and no other.
#pragma once

#include <memory>
#include <string>

#include "http/transport.h"

namespace karst::http {

inline constexpr std::size_t kTransportInFlightMax =
    64;  // at once on the wire (a server allows 100 streams); more wait
inline constexpr std::size_t kTransportWaitingMax = 20'000;  // more fail as kNotSent
inline constexpr std::size_t kTimersMax = 100'000;

class CurlTransport final : public Transport {
 public:
  explicit CurlTransport(TlsOptions tls);  // for requests that name no connection
  // Stops: open exchanges end as kCancelled, the thread is joined. Not from the transport's own
  // thread.
  ~CurlTransport() override;

  RequestId send(Request request, Done done) override;
  void cancel(RequestId id) override;
  void after(std::int64_t millis, std::function<void()> action) override;

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace karst::http
