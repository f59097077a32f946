// What tests of the transport say and hear: one exchange at a time, and a server that breaks off.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>
#include <memory>
#include <string>
#include <thread>

#include "http/transport.h"

namespace karst::http {

inline std::string url(int port, const std::string& path = "/") {
  return "http://127.0.0.1:" + std::to_string(port) + path;
}

inline Response exchange(Transport& transport, Request request) {
  auto promise = std::make_shared<std::promise<Response>>();
  auto answer = promise->get_future();
  transport.send(std::move(request),
                 [promise](Response response) { promise->set_value(std::move(response)); });
  return answer.get();
}
inline Request get(const std::string& where) {
  Request request;
  request.url = where;
  return request;
}

// Accepts one connection, hears a request head, says `answer`, and hangs up, or is silent until it
// goes.
class HangUpServer {
 public:
  enum class Then : char { kHangsUp, kIsSilent };
  explicit HangUpServer(std::string answer, Then then = Then::kHangsUp)
      : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_, 8), 0);
    socklen_t size = sizeof address;
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port = ntohs(address.sin_port);
    thread_ = std::thread([this, then, answer = std::move(answer)] {
      const int connection = ::accept(listener_, nullptr, nullptr);
      char buffer[4096];
      (void)!::recv(connection, buffer, sizeof buffer, 0);
      (void)!::send(connection, answer.data(), answer.size(), MSG_NOSIGNAL);
      if (then == Then::kIsSilent) ended_.get_future().wait();
      ::close(connection);
    });
  }
  ~HangUpServer() {
    ended_.set_value();
    thread_.join();
    ::close(listener_);
  }
  int port = 0;

 private:
  int listener_;
  std::promise<void> ended_;
  std::thread thread_;
};

}  // namespace karst::http
