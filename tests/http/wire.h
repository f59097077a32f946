// What tests of the transport say and hear: one exchange at a time, and a server that breaks off.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <future>
#include <memory>
#include <string>
#include <thread>

#include "http/transport.h"
#include "tests/http/listening.h"

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
  explicit HangUpServer(std::string answer, Then then = Then::kHangsUp) {
    thread_ = std::thread([this, then, answer = std::move(answer)] {
      const int connection = listening.accept();
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
  }
  const Listening listening;
  const int port = listening.port();

 private:
  std::promise<void> ended_;
  std::thread thread_;
};

}  // namespace karst::http
