#include "http/local_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "base/descriptor.h"
#include "base/system_error.h"

namespace karst::http {
namespace {

constexpr std::size_t kReadBytes = 4096;
constexpr int kPortMax = 65535;
constexpr int kOutOfFilesWaitMillis = 100;

std::int64_t now_millis() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::string_view reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    default:
      return status < 400 ? "OK" : "Error";
  }
}

struct Client {
  base::Descriptor socket;
  std::string in;
  std::string out;
  bool close_after = false;
  std::int64_t active_millis = 0;
};

struct RequestLine {
  std::string_view method;
  std::string_view target;
  bool keep_alive = true;
  bool has_body = false;
};

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

// nullopt-like: an empty method when it is not a request.
RequestLine parse_head(std::string_view head) {
  RequestLine request;
  const auto line_end = head.find("\r\n");
  const std::string_view line = head.substr(0, line_end);
  const auto first = line.find(' ');
  const auto second = line.find(' ', first == std::string_view::npos ? first : first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos) return request;
  const std::string_view version = line.substr(second + 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return request;
  request.keep_alive = version == "HTTP/1.1";
  request.target = line.substr(first + 1, second - first - 1);
  for (std::size_t at = line_end; at != std::string_view::npos && at + 2 < head.size();) {
    const auto end = head.find("\r\n", at + 2);
    const std::string_view header =
        head.substr(at + 2, end == std::string_view::npos ? end : end - at - 2);
    at = end;
    const auto colon = header.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view name = header.substr(0, colon);
    std::string_view value = header.substr(colon + 1);
    value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
    if (equals_ignoring_case(name, "connection") && equals_ignoring_case(value, "close"))
      request.keep_alive = false;
    if (equals_ignoring_case(name, "transfer-encoding")) request.has_body = true;
    if (equals_ignoring_case(name, "content-length") && value != "0") request.has_body = true;
  }
  request.method = line.substr(0, first);
  return request;
}

std::string render(const Reply& reply, bool with_body, bool keep_alive) {
  std::string out = "HTTP/1.1 " + std::to_string(reply.status) + " " +
                    std::string(reason_of(reply.status)) +
                    "\r\nContent-Type: " + reply.content_type +
                    "\r\nContent-Length: " + std::to_string(reply.body.size()) +
                    "\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n";
  if (!keep_alive) out += "Connection: close\r\n";
  out += "\r\n";
  if (with_body) out += reply.body;
  return out;
}

using Resolved = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

base::Result<Resolved> resolve(const std::string& address) {
  const auto colon = address.rfind(':');
  const std::string wanted = "expected HOST:PORT such as 127.0.0.1:8080";
  if (colon == std::string::npos)
    return base::fail(base::Kind::kInvalid, "listen address \"" + address + "\": " + wanted);
  std::string host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  const std::string port = address.substr(colon + 1);
  const bool digits = !port.empty() && port.size() <= 5 &&
                      port.find_first_not_of("0123456789") == std::string::npos;
  if (!digits || std::stoi(port) > kPortMax)
    return base::fail(base::Kind::kInvalid, "listen address \"" + address + "\": " + wanted);
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.empty() ? nullptr : host.c_str(), port.c_str(), &hints, &found) != 0 ||
      found == nullptr)
    return base::fail(base::Kind::kInvalid, "listen address \"" + address + "\": " + wanted);
  return Resolved(found, &freeaddrinfo);
}

// 0, or errno.
int bind_to(const addrinfo& where, base::Descriptor& socket) {
  socket = base::Descriptor(::socket(
      where.ai_family, where.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, where.ai_protocol));
  if (socket.get() < 0) return errno;
  const int on = 1, off = 0;
  (void)setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (where.ai_family == AF_INET6)  // of "every address" IPv4's too
    (void)setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  const bool bound =
      bind(socket.get(), where.ai_addr, where.ai_addrlen) == 0 && ::listen(socket.get(), 64) == 0;
  return bound ? 0 : errno;
}

// IPv6 first, which for every address takes IPv4 along; IPv4 where there is no IPv6.
base::Result<base::Descriptor> open_listener(const std::string& address) {
  const base::Result<Resolved> resolved = resolve(address);
  if (!resolved) return base::fail(resolved.error());
  base::Descriptor socket;
  int error = EAFNOSUPPORT;
  for (const int family : {AF_INET6, AF_INET})
    for (const addrinfo* one = resolved->get(); one != nullptr; one = one->ai_next) {
      if (one->ai_family != family || error == EADDRINUSE) continue;
      error = bind_to(*one, socket);
      if (error == 0) return socket;
    }
  return base::fail(error == EADDRINUSE ? base::Kind::kTaken : base::Kind::kInvalid,
                    "cannot listen on " + address + ": " + std::strerror(error) +
                        "; choose another address with --listen");
}

}  // namespace

class LocalServer::Loop {
 public:
  Loop(base::Descriptor listener, Handler handler)
      : listener_(std::move(listener)),
        wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        handler_(std::move(handler)) {
    thread_ = std::thread([this] { run(); });
  }
  ~Loop() {
    const std::uint64_t one = 1;
    (void)!::write(wake_.get(), &one, sizeof one);
    thread_.join();
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  int port() const {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    if (address.ss_family == AF_INET6)
      return ntohs(reinterpret_cast<sockaddr_in6*>(&address)->sin6_port);
    return ntohs(reinterpret_cast<sockaddr_in*>(&address)->sin_port);
  }

 private:
  void run() {
    for (;;) {
      std::vector<pollfd> watched{{wake_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
      for (const Client& connection : connections_)
        watched.push_back({connection.socket.get(),
                           static_cast<short>(connection.out.empty() ? POLLIN : POLLOUT), 0});
      (void)::poll(watched.data(), watched.size(), connections_.empty() ? -1 : 1000);
      if (watched[0].revents != 0) return;
      std::vector<bool> keep(connections_.size(), true);
      for (std::size_t i = 0; i < connections_.size(); ++i)
        keep[i] = serve(connections_[i], watched[i + 2].revents);
      std::vector<Client> kept;
      for (std::size_t i = 0; i < connections_.size(); ++i)
        if (keep[i]) kept.push_back(std::move(connections_[i]));
      connections_ = std::move(kept);
      if (watched[1].revents != 0) accept_one();
    }
  }

  void accept_one() {
    base::Descriptor socket(
        accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.get() < 0) {
      // It knocks on, and nothing can be done: without a pause that is a loop that takes a whole
      // core.
      pollfd wake{wake_.get(), POLLIN, 0};
      if (base::is_at_a_limit(errno)) (void)::poll(&wake, 1, kOutOfFilesWaitMillis);
      return;
    }
    if (connections_.size() >= kServerConnectionsMax) {
      const auto oldest = std::min_element(
          connections_.begin(), connections_.end(),
          [](const auto& a, const auto& b) { return a.active_millis < b.active_millis; });
      connections_.erase(oldest);
    }
    connections_.push_back({std::move(socket), {}, {}, false, now_millis()});
  }

  // False: the connection is to be closed.
  bool serve(Client& connection, short events) {
    if ((events & POLLIN) != 0 && !read(connection)) return false;
    answer(connection);
    if (!connection.out.empty() && !write(connection)) return false;
    if ((events & (POLLERR | POLLNVAL)) != 0) return false;
    if ((events & POLLHUP) != 0 && connection.out.empty()) return false;
    if (connection.out.empty() && connection.close_after) return false;
    return now_millis() - connection.active_millis < kServerIdleMillis;
  }

  static bool read(Client& connection) {
    char buffer[kReadBytes];
    const ssize_t count = recv(connection.socket.get(), buffer, sizeof buffer, 0);
    if (count <= 0) return count < 0 && (errno == EAGAIN || errno == EINTR);
    connection.in.append(buffer, static_cast<std::size_t>(count));
    return true;
  }

  // Idle time counts from the last complete request, so that a drip of single bytes does not hold a
  // place.
  void answer(Client& connection) {
    while (connection.out.empty() && !connection.close_after) {
      const auto end = connection.in.find("\r\n\r\n");
      if (end == std::string::npos) {
        if (connection.in.size() <= kServerHeaderBytesMax) return;
        connection.out = render({431, "text/plain", "the header is too large\n"}, true, false);
        connection.close_after = true;
        return;
      }
      const std::string head = connection.in.substr(0, end);
      connection.in.erase(0, end + 4);
      connection.active_millis = now_millis();
      const RequestLine request = parse_head(head);
      connection.close_after = !request.keep_alive || request.has_body || request.method.empty();
      connection.out = render(reply_to(request), request.method != "HEAD", !connection.close_after);
    }
  }

  Reply reply_to(const RequestLine& request) {
    if (request.method.empty()) return {400, "text/plain", "this is not HTTP/1.1\n"};
    if (request.method != "GET" && request.method != "HEAD")
      return {405, "text/plain", "only GET is answered here\n"};
    return handler_(request.target);
  }

  static bool write(Client& connection) {
    const ssize_t count =
        send(connection.socket.get(), connection.out.data(), connection.out.size(), MSG_NOSIGNAL);
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    connection.out.erase(0, static_cast<std::size_t>(count));
    return true;
  }

  base::Descriptor listener_;
  base::Descriptor wake_;
  Handler handler_;
  std::vector<Client> connections_;
  std::thread thread_;
};

LocalServer::LocalServer(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
LocalServer::~LocalServer() = default;
int LocalServer::port() const {
  return loop_->port();
}

base::Status LocalServer::check(const std::string& address) {
  const base::Result<Resolved> resolved = resolve(address);
  return resolved ? base::Status{} : base::fail(resolved.error());
}

base::Result<std::unique_ptr<LocalServer>> LocalServer::listen(const std::string& address,
                                                               Handler handler) {
  auto listener = open_listener(address);
  if (!listener) return base::fail(listener.error());
  return std::unique_ptr<LocalServer>(
      new LocalServer(std::make_unique<Loop>(std::move(*listener), std::move(handler))));
}

}  // namespace karst::http
