// A start that waits for a cloud which takes connections and does not answer: SIGTERM ends it.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "tests/http/listening.h"
#include "tests/tools/program.h"

namespace karst::tests {
namespace {

constexpr int kAwaitMillis = 60'000;  // against a hang of the test; no case comes near it

class Listener : public http::Listening {
 public:
  bool was_called() const {
    pollfd one{get(), POLLIN, 0};
    return ::poll(&one, 1, kAwaitMillis) == 1;
  }
  const std::string url = "http://127.0.0.1:" + std::to_string(port());
};

// Says to every question what a good API server would, as far as a start asks.
class AgreeableServer {
 public:
  AgreeableServer() : thread_([this] { run(); }) {}
  ~AgreeableServer() {
    listener_.stop();
    thread_.join();
  }
  const std::string& url() const { return listener_.url; }

 private:
  void run() const {
    const std::string body =
        R"({"metadata":{"uid":"u"},"status":{"allowed":true},"major":"1","minor":"34",)"
        R"("resources":[{"name":"nodepools"},{"name":"nodeclaims"},{"name":"ec2nodeclasses"}]})";
    const std::string answer =
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) +
        "\r\n\r\n" + body;
    for (int connection = listener_.accept(); connection >= 0; connection = listener_.accept()) {
      hear(connection);
      (void)!::send(connection, answer.data(), answer.size(), MSG_NOSIGNAL);
      ::close(connection);
    }
  }
  // A whole request: one that is closed with bytes unread looks cut to its sender.
  static void hear(int connection) {
    std::string heard;
    std::size_t head = 0, length = 0;
    char buffer[4096];
    while (head == 0 || heard.size() < head + length) {
      const ssize_t count = ::recv(connection, buffer, sizeof buffer, 0);
      if (count <= 0) return;
      heard.append(buffer, static_cast<std::size_t>(count));
      if (const auto end = heard.find("\r\n\r\n"); head == 0 && end != heard.npos) {
        head = end + 4;
        const std::string name = "Content-Length: ";
        if (const auto at = heard.find(name); at < end)
          length = std::stoul(heard.substr(at + name.size()));
      }
    }
  }

  Listener listener_;
  std::thread thread_;
};

TEST(SilentCloud, SigtermEndsTheWaitForItAtTheStart) {
  struct Case {
    const char* waits_for;
    std::string variable;
  };
  for (const Case& test :
       {Case{"DescribeCluster", "AWS_REGION=us-east-1"}, Case{"the region", "AWS_REGION="}}) {
    const AgreeableServer api;
    const Listener cloud;
    const TempFolder folder;
    write_file(folder / "kubeconfig", "clusters: [{name: c, cluster: {server: '" + api.url() +
                                          "'}}]\nusers: [{name: u, user: {token: t}}]\n"
                                          "contexts: [{name: c, context: {cluster: c, user: u}}]\n"
                                          "current-context: c\n");
    Program daemon(
        folder,
        {"run", "--cloud", "aws", "--data", folder / "data", "--kubeconfig", folder / "kubeconfig",
         "--listen", "127.0.0.1:0"},
        {test.variable, "AWS_DEFAULT_REGION=", "CLUSTER_NAME=demo", "AWS_ACCESS_KEY_ID=a",
         "AWS_SECRET_ACCESS_KEY=s", "AWS_ENDPOINT_URL=" + cloud.url,
         "AWS_EC2_METADATA_SERVICE_ENDPOINT=" + cloud.url});
    EXPECT_TRUE(cloud.was_called()) << test.waits_for;
    daemon.send(SIGTERM);
    const Ended ended = daemon.wait();
    EXPECT_EQ(ended.code, 0) << test.waits_for << ": " << ended.err;
  }
}

}  // namespace
}  // namespace karst::tests
