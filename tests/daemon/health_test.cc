#include "daemon/health.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "daemon/serve.h"

namespace karst::daemon {
namespace {

View view_of(bool recovered, bool full, bool pods_listed) {
  View view;
  view.recovered = recovered;
  view.disk_full = full;
  view.sources = {{"Node", true}, {"Pod", pods_listed}};
  return view;
}

TEST(Health, Readiness) {
  struct Case {
    std::string name;
    View view;
    int status;
    std::string line;  // of ?verbose
  };
  const std::vector<Case> cases = {
      {"all is well", view_of(true, false, true), 200, "[+]Pod ok\n"},
      {"a kind is not listed", view_of(true, false, false), 503, "[-]Pod is not listed yet\n"},
      {"the log is being read", view_of(false, false, true), 503, "[-]log is still being read\n"},
      {"the disk is full", view_of(true, true, true), 503, "[-]disk is full"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(health_answer(c.view, "/readyz").status, c.status) << c.name;
    const HealthAnswer verbose = health_answer(c.view, "/readyz?verbose");
    EXPECT_EQ(verbose.status, c.status) << c.name;
    EXPECT_NE(verbose.body.find(c.line), std::string::npos) << c.name << ": " << verbose.body;
    EXPECT_EQ(health_answer(c.view, "/healthz").status, 200) << c.name;
  }
  EXPECT_EQ(health_answer(View(), "/elsewhere").status, 404);
}

// One request over a real socket; everything that came back.
std::string get(int port, const std::string& target) {
  const int descriptor = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return "";
  const std::string request =
      "GET " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  EXPECT_EQ(send(descriptor, request.data(), request.size(), 0),
            static_cast<ssize_t>(request.size()));
  std::string answer;
  char buffer[4096];
  for (ssize_t count = 0; (count = recv(descriptor, buffer, sizeof buffer, 0)) > 0;)
    answer.append(buffer, static_cast<std::size_t>(count));
  close(descriptor);
  return answer;
}

TEST(Health, OverARealSocket) {
  ViewBoard board;
  auto server = serve_health("127.0.0.1:0", board);
  ASSERT_TRUE(server.has_value()) << server.error().message;
  const int port = (*server)->port();
  EXPECT_NE(get(port, "/readyz").find(" 503 "), std::string::npos) << "nothing is known yet";
  board.publish(std::make_shared<const View>(view_of(true, false, true)));
  EXPECT_NE(get(port, "/readyz").find(" 200 "), std::string::npos);
  EXPECT_NE(get(port, "/readyz?verbose").find("[+]Pod ok"), std::string::npos);
  EXPECT_NE(get(port, "/healthz").find(" 200 "), std::string::npos);
  EXPECT_NE(get(port, "/metrics").find("karst_ready 1\n"), std::string::npos);
}

TEST(Health, MetricsAndHealthOnPortsOfTheirOwn) {
  ViewBoard board;
  board.publish(std::make_shared<const View>(view_of(true, false, true)));
  const auto listeners = serve({"127.0.0.1:1", "127.0.0.1", 0, 0}, board);
  ASSERT_TRUE(listeners.has_value()) << listeners.error().message;
  ASSERT_NE(listeners->second, nullptr);
  const int metrics = listeners->first->port(), health = listeners->second->port();
  EXPECT_NE(get(metrics, "/metrics").find("karst_ready 1\n"), std::string::npos);
  EXPECT_NE(get(metrics, "/metrics").find("\nprocess_resident_memory_bytes "), std::string::npos);
  EXPECT_NE(get(metrics, "/readyz").find(" 404 "), std::string::npos);
  EXPECT_NE(get(health, "/readyz").find(" 200 "), std::string::npos);
  EXPECT_NE(get(health, "/metrics").find(" 404 "), std::string::npos);
}

TEST(Health, OneListenerWhereNoPortIsSet) {
  ViewBoard board;
  const auto listeners = serve({"127.0.0.1:0", "", {}, {}}, board);
  ASSERT_TRUE(listeners.has_value()) << listeners.error().message;
  EXPECT_EQ(listeners->second, nullptr);
  EXPECT_NE(get(listeners->first->port(), "/healthz").find(" 200 "), std::string::npos);
  EXPECT_NE(get(listeners->first->port(), "/metrics").find(" 200 "), std::string::npos);
  EXPECT_FALSE(check({"nowhere", "", {}, {}}).has_value());
  EXPECT_TRUE(check({"nowhere", "", 8080, {}}).has_value()) << "the address is not used";
}

}  // namespace
}  // namespace karst::daemon
