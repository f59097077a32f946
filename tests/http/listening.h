// A socket that listens on a free port of 127.0.0.1, for what a well-behaved server never does.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <string>

#include "base/descriptor.h"

namespace karst::http {

class Listening {
 public:
  Listening() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(socket_.get(), 64), 0);
    socklen_t size = sizeof address;
    ::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  int get() const { return socket_.get(); }
  int port() const { return port_; }
  // The next connection, or -1 once it was stopped.
  int accept() const { return ::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC); }
  void stop() const { ::shutdown(socket_.get(), SHUT_RDWR); }

 private:
  base::Descriptor socket_;
  int port_ = 0;
};

}  // namespace karst::http
