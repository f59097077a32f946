// A pod's own credentials: found by the environment and the service account's folder, and read
// again when the kubelet has changed them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "kube/client.h"
#include "kube/credentials.h"
#include "tests/kube/fake_transport.h"

namespace karst::kube {
namespace {

using testing_kube::FakeClock;
using testing_kube::FakeTransport;

struct InCluster : ::testing::Test {
  InCluster() {
    std::filesystem::create_directories(folder);
    write("token", "one\n");
    write("ca.crt", "CA 1");
    write("namespace", "karpenter\n");
    ::setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
    ::setenv("KUBERNETES_SERVICE_PORT", "443", 1);
  }
  ~InCluster() override {
    ::unsetenv("KUBERNETES_SERVICE_HOST");
    ::unsetenv("KUBERNETES_SERVICE_PORT");
    std::filesystem::remove_all(folder);
  }
  // As the kubelet does it: never half a file.
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder + "/new") << text;
    std::filesystem::rename(folder + "/new", folder + "/" + name);
  }
  ServerAccess access() const {
    auto found = in_cluster_access(folder);
    EXPECT_TRUE(found) << found.error().message;
    return *found;
  }
  const std::string folder =
      std::filesystem::temp_directory_path() / ("karst-account-" + std::to_string(::getpid()));
  FakeClock clock;
};

TEST_F(InCluster, TheServerIsTheEnvironmentsAndTheRestIsInTheFolder) {
  EXPECT_EQ(access().server, "https://10.0.0.1:443");
  EXPECT_EQ(own_namespace(folder), "karpenter");
  EXPECT_EQ(own_namespace(folder + "/absent"), "");
  ::setenv("KUBERNETES_SERVICE_HOST", "fd00::1", 1);
  EXPECT_EQ(access().server, "https://[fd00::1]:443");
  ::unsetenv("KUBERNETES_SERVICE_PORT");
  EXPECT_FALSE(in_cluster_access(folder)) << "half of it is none";
}

TEST_F(InCluster, RequestsCarryTheTokenAndTrustTheCa) {
  auto credentials = open_credentials(access(), clock);
  ASSERT_TRUE(credentials) << credentials.error().message;
  FakeTransport transport;
  Client client(transport, access().server, *credentials, "karst/test");
  Call call;
  call.path = "/version";
  int status = 0;
  client.send(std::move(call), [&](const http::Response& response) { status = response.status; });
  const http::Request sent = transport.answer(200, "{}");
  EXPECT_EQ(status, 200);
  EXPECT_EQ(sent.url, "https://10.0.0.1:443/version");
  EXPECT_NE(std::find(sent.headers.begin(), sent.headers.end(), "Authorization: Bearer one"),
            sent.headers.end());
  ASSERT_NE(sent.connection, nullptr);
  EXPECT_EQ(sent.connection->tls.ca_pem, "CA 1");
  EXPECT_FALSE(sent.connection->tls.insecure);
}

// The kubelet writes a new token when a fifth of the old one's life is left: minutes at least.
TEST_F(InCluster, WhatTheKubeletChangesIsReadWithinAMinute) {
  CredentialReader reader(access(), clock, {});
  auto first = reader.read(false);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->headers, std::vector<std::string>{"Authorization: Bearer one"});
  write("token", "two\n");
  write("ca.crt", "CA 2");
  EXPECT_LE(reader.next_read_millis(), base::kMillisPerMinute);
  clock.now_millis += reader.next_read_millis();
  const auto second = reader.read(false);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->headers, std::vector<std::string>{"Authorization: Bearer two"});
  EXPECT_EQ(second->connection->tls.ca_pem, "CA 2");
}

TEST_F(InCluster, AnEmptyOrAbsentTokenIsToldWithItsFile) {
  write("token", "\n");
  const auto empty = open_credentials(access(), clock);
  ASSERT_FALSE(empty);
  EXPECT_NE(empty.error().message.find(folder + "/token holds no token"), std::string::npos)
      << empty.error().message;
  std::filesystem::remove(folder + "/token");
  const auto absent = open_credentials(access(), clock);
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().message,
            "the pod's service account.tokenFile: cannot read " + folder +
                "/token: No such file or directory; set automountServiceAccountToken: true in the "
                "pod and in its service account");
}

}  // namespace
}  // namespace karst::kube
