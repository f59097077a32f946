// Which hosts a list of $NO_PROXY holds: the rules of Go's net/http, by table; and that the
// transport asks it of the right host.
#include "http/no_proxy.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <future>

#include "http/curl_transport.h"
#include "http/local_server.h"

namespace karst::http {
namespace {

TEST(NoProxy, HoldsWhatGoHolds) {
  const struct {
    const char* list;
    const char* host;
    bool want;
  } cases[] = {
      {"", "a.example.com", false},
      {"*", "a.example.com", true},
      {"example.com", "example.com", true},
      {"example.com", "a.example.com", true},
      {"example.com", "anexample.com", false},
      {"example.com", "example.com.evil", false},
      {".example.com", "a.b.example.com", true},
      {".example.com", "example.com", false},
      {"*.example.com", "a.example.com", true},
      {"*.example.com", "example.com", false},
      {"Example.COM", "a.eXample.com", true},
      {"example.com", "example.com.", true},
      {"a, b\tc ,,d", "c", true},
      {"a, b\tc ,,d", "d", true},
      {"a, b\tc ,,d", "e", false},
      {"example.com:443", "example.com", true},
      {"example.com:6443", "example.com", false},
      {"10.0.0.1", "10.0.0.1", true},
      {"10.0.0.1", "10.0.0.11", false},
      {"10.0.0.1:443", "10.0.0.1", true},
      {"10.0.0.1:80", "10.0.0.1", false},
      {"0.0.1", "10.0.0.1", false},
      {"10.0.0.0/8", "10.200.3.4", true},
      {"10.0.0.0/8", "11.0.0.1", false},
      {"192.168.4.0/22", "192.168.7.255", true},
      {"192.168.4.0/22", "192.168.8.0", false},
      {"0.0.0.0/0", "1.2.3.4", true},
      {"0.0.0.0/0", "fd00::1", false},
      {"::/0", "fd00::1", true},
      {"::/0", "10.0.0.1", false},
      {"::ffff:10.0.0.0/104", "10.0.0.1", true},
      {"10.0.0.0/8", "ten.example.com", false},
      {"10.0.0.0/33", "10.0.0.1", false},
      {"10.0.0.0/8x", "10.0.0.1", false},
      {"10.0.0.0/", "10.0.0.1", false},
      {"10.0.0.0/-90", "10.0.0.1", false},
      {"fd00::/8", "[fd12::1]", true},
      {"fd00::/8", "fe80::1", false},
      {"fd00::/129", "fd00::", false},
      {"::1:2", "[::1:2]", true},
      {"[::1:2]", "::1:2", true},
      {"[::1:2]:443", "::1:2", true},
      {"[::1:2]:80", "::1:2", false},
      {":", "a", false},
      {":443", "a", false},
      {".", "a", false},
      {"/", "1.2.3.4", false},
  };
  for (const auto& test : cases)
    EXPECT_EQ(no_proxy_holds(test.list, test.host, "443"), test.want)
        << '"' << test.list << "\" " << test.host;
}

TEST(NoProxy, AnEmptyListIsNone) {
  setenv("NO_PROXY", "upper", 1);
  setenv("no_proxy", "", 1);
  EXPECT_EQ(no_proxy_of_environment(), "upper");
  setenv("no_proxy", "lower", 1);
  EXPECT_EQ(no_proxy_of_environment(), "lower");
  unsetenv("NO_PROXY");
  unsetenv("no_proxy");
  EXPECT_EQ(no_proxy_of_environment(), "");
}

TEST(NoProxy, ThisMachineAndItsAgentsAreNeverAskedByProxy) {
  for (const char* host : {"localhost", "127.0.0.1", "127.9.8.7", "[::1]", "169.254.169.254",
                           "169.254.170.23", "[fd00:ec2::254]"})
    EXPECT_TRUE(never_by_proxy(host)) << host;
  for (const char* host : {"127.example.com", "169.254.example.com", "128.0.0.1", "169.253.0.1",
                           "localhost.example.com", "[fd00:ec3::254]", ""})
    EXPECT_FALSE(never_by_proxy(host)) << host;
}

// 0.0.0.0 is this machine and no loopback address.
TEST(NoProxy, IsAboutTheHostAndNotTheNameInItsPlace) {
  const auto server = LocalServer::listen(
      "127.0.0.1:0", [](std::string_view) { return Reply{200, "text/plain", "direct"}; });
  ASSERT_TRUE(server) << server.error().message;
  CurlTransport transport({});
  Request request;
  request.url = "http://0.0.0.0:" + std::to_string((*server)->port()) + "/";
  const auto reached = [&](const char* no_proxy) {
    setenv("no_proxy", no_proxy, 1);
    std::promise<bool> promise;
    transport.send(request, [&](const Response& response) { promise.set_value(response.ok()); });
    return promise.get_future().get();
  };
  setenv("http_proxy", "http://127.0.0.1:1", 1);  // nobody is there
  for (const bool renamed : {false, true}) {
    if (renamed) {
      Connection named;
      named.tls.server_name = "cluster.invalid";
      request.connection = std::make_shared<const Connection>(named);
    }
    EXPECT_FALSE(reached("cluster.invalid")) << renamed;
    EXPECT_FALSE(reached("")) << renamed;
    EXPECT_TRUE(reached("0.0.0.0")) << renamed;
    EXPECT_TRUE(reached("example.com, 0.0.0.0/8")) << renamed;
  }
  unsetenv("http_proxy");
  unsetenv("no_proxy");
}

}  // namespace
}  // namespace karst::http
