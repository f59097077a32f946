// Credentials: what a plugin is told and may answer, how it is run, and when files and plugin are
// asked again.
#include "kube/credentials.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "kube/client.h"
#include "tests/events/few_files.h"
#include "tests/kube/fake_transport.h"

namespace karst::kube {
namespace {

using testing_kube::FakeClock;
using testing_kube::FakeTransport;

constexpr const char* kV1 = "client.authentication.k8s.io/v1";

ExecPlugin plugin_of(std::string command, std::vector<std::string> args = {}) {
  ExecPlugin plugin;
  plugin.api_version = kV1;
  plugin.command = std::move(command);
  plugin.args = std::move(args);
  plugin.install_hint = "apt install\nplug";
  plugin.place = "F: users[0].user.exec";
  return plugin;
}
std::string answer_with(const std::string& status) {
  return R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":)" +
         status + "}";
}

TEST(ExecPlugin, IsToldOfTheClusterWhenItAsks) {
  ExecPlugin plugin = plugin_of("plug");
  EXPECT_EQ(plugin_request(plugin, {"https://s", "", false, "", ""}),
            R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",)"
            R"("spec":{"interactive":false}})");
  plugin.provide_cluster_info = true;
  plugin.cluster_config = R"({"a":1})";
  const auto told =
      nlohmann::json::parse(plugin_request(plugin, {"https://s", "name", true, "CA", "http://p"}));
  EXPECT_EQ(told["spec"]["cluster"],
            nlohmann::json::parse(
                R"({"server":"https://s","tls-server-name":"name","insecure-skip-tls-verify":true,)"
                R"("certificate-authority-data":"Q0E=","proxy-url":"http://p","config":{"a":1}})"));
}

TEST(ExecPlugin, AnswersGoodAndBad) {
  struct Case {
    const char* name;
    std::string output;
    const char* message;  // after "F: users[0].user.exec: the answer of plug: "; empty: it is good
  };
  const Case cases[] = {
      {"token", answer_with(R"({"token":"t","expirationTimestamp":"2026-11-21T10:17:51Z"})"), ""},
      {"certificate", answer_with(R"({"clientCertificateData":"c","clientKeyData":"k"})"), ""},
      {"nothing", "", "expected an ExecCredential as JSON on stdout, found 0 bytes"},
      {"text", "Error: log in first", "expected an ExecCredential as JSON on stdout"},
      {"kind", R"({"kind":"Pod"})", "kind: expected ExecCredential, found \"Pod\""},
      {"version",
       R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1"})",
       "apiVersion: expected client.authentication.k8s.io/v1 as the kubeconfig asks, found"},
      {"no status", R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1"})",
       "status: is missing"},
      {"empty", answer_with("{}"), "status: holds no token and no client certificate"},
      {"half", answer_with(R"({"clientKeyData":"k"})"),
       "status: clientCertificateData and clientKeyData are needed together"},
      {"time", answer_with(R"({"token":"t","expirationTimestamp":"soon"})"),
       "status.expirationTimestamp: expected a time such as"},
  };
  for (const Case& test : cases) {
    const auto answer = read_plugin_answer(plugin_of("plug"), test.output);
    EXPECT_EQ(answer.has_value(), *test.message == '\0') << test.name;
    if (answer) continue;
    EXPECT_EQ(answer.error().message.find(
                  std::string("F: users[0].user.exec: the answer of plug: ") + test.message),
              0u)
        << answer.error().message;
  }
}

TEST(ExecPlugin, RunsWithArgumentsEnvironmentAndNothingOnStdin) {
  FakeClock clock;
  ExecPlugin plugin = plugin_of(
      "sh", {"-c", "cat; echo \"$0 $A $KUBERNETES_EXEC_INFO\"; ls /proc/self/fd | wc -l", "zero"});
  plugin.env = {{"A", "b"}};
  const auto output = run_plugin(plugin, "{request}", clock);
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_EQ(*output, "zero b {request}\n4\n") << "0, 1, 2 and what ls opens";
}

// A clock that moves on with every look.
struct HastyClock final : base::Clock {
  std::int64_t monotonic_millis() const override { return now += kPluginMillisMax - 1; }
  base::WallTime wall() const override { return base::WallTime(0); }
  mutable std::int64_t now = 0;
};

TEST(ExecPlugin, FailuresAreOneLineWithTheHint) {
  struct Case {
    const char* name;
    ExecPlugin plugin;
    const char* message;
    bool hasty = false;
  };
  const Case cases[] = {
      {"absent", plugin_of("karst-no-such-program"),
       " karst-no-such-program cannot be run: No such file or directory; install it, or put it "
       "into PATH. Its install hint: apt install plug"},
      {"exit code", plugin_of("sh", {"-c", "echo first >&2; echo 'log in first' >&2; exit 3"}),
       " sh ended with exit code 3: log in first. Its install hint: apt install plug"},
      {"signal", plugin_of("sh", {"-c", "kill -9 $$"}),
       " sh was ended by signal 9. Its install hint: apt install plug"},
      {"flood", plugin_of("cat", {"/dev/zero"}),
       " cat printed more than 1048576 bytes and was ended. Its install hint: apt install plug"},
      {"hangs", plugin_of("sleep", {"1000"}),
       " sleep gave no credential within 60 s and was ended. Its install hint: apt install plug",
       true},
      {"hangs without its output", plugin_of("sh", {"-c", "exec >&- 2>&-; sleep 1000"}),
       " sh gave no credential within 60 s and was ended. Its install hint: apt install plug",
       true},
  };
  for (const Case& test : cases) {
    FakeClock clock;
    HastyClock hasty;
    const auto output =
        run_plugin(test.plugin, "{}", test.hasty ? static_cast<base::Clock&>(hasty) : clock);
    ASSERT_FALSE(output) << test.name;
    EXPECT_EQ(output.error().message, std::string("F: users[0].user.exec:") + test.message);
    EXPECT_EQ(output.error().kind, base::Kind::kDenied);
  }
}

TEST(ExecPlugin, WithoutDescriptorsItCannotBeRun) {
  FakeClock clock;
  for (const int more : {0, 2, 3}) {  // of the two pipes' four
    const events::testing::FewFiles limit(more);
    const auto output = run_plugin(plugin_of("true"), "{}", clock);
    ASSERT_FALSE(output);
    EXPECT_EQ(output.error().message.find(
                  "F: users[0].user.exec: true cannot be run: Too many open files"),
              0u)
        << output.error().message;
  }
  EXPECT_TRUE(run_plugin(plugin_of("true"), "{}", clock));
}

TEST(ExecPlugin, OneThatHangsIsEndedWhenNobodyWaitsForIt) {
  FakeClock clock;
  int asked = 0;
  const auto output =
      run_plugin(plugin_of("sleep", {"1000"}), "{}", clock, [&] { return ++asked > 2; });
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().message,
            "F: users[0].user.exec: sleep was ended: nobody waits for its credential any more. Its "
            "install hint: apt install plug");
}

struct ReaderTest : ::testing::Test {
  ReaderTest() { std::filesystem::create_directories(folder); }
  ~ReaderTest() override { std::filesystem::remove_all(folder); }
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder + "/" + name) << text;
    return folder + "/" + name;
  }
  std::unique_ptr<CredentialReader> reader(ServerAccess access) {
    access.user_place = "F: users[0].user";
    access.cluster_place = "F: clusters[0].cluster";
    return std::make_unique<CredentialReader>(
        std::move(access), clock,
        [this](const ExecPlugin&, const std::string&) -> base::Result<std::string> {
          ++runs;
          return answer_with(status);
        });
  }
  const std::string folder =
      std::filesystem::temp_directory_path() / ("karst-credentials-" + std::to_string(::getpid()));
  FakeClock clock;
  int runs = 0;
  std::string status;
};

TEST_F(ReaderTest, AStopDoesNotWaitForAPluginThatHangs) {
  const std::string once = folder + "/once", again = folder + "/again";
  ServerAccess access{"https://s"};
  access.exec = plugin_of(
      "sh", {"-c", "if [ -e " + once + " ]; then touch " + again + "; sleep 1000; fi; touch " +
                       once + "; echo '" + answer_with(R"({"token":"t"})") + "'"});
  const auto credentials = open_credentials(access, clock);
  ASSERT_TRUE(credentials) << credentials.error().message;
  (*credentials)->start({});
  bool renewed = true;
  EXPECT_EQ((*credentials)->renew((*credentials)->current(), [&](bool yes) { renewed = yes; }),
            Credentials::Renewal::kComing);
  while (!std::filesystem::exists(again)) std::this_thread::yield();
  (*credentials)->stop();
  EXPECT_FALSE(renewed);
}

TEST_F(ReaderTest, FilesAreReadAgainAndGoBeforeInlineTokens) {
  ServerAccess access{"https://s", {}, "inline", write("token", "one\n")};
  access.ca_file = write("ca", "CA1");
  access.certificate_file = write("cert", "C1");
  access.key_file = write("key", "K1");
  const auto files = reader(access);
  auto read = files->read(false);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->headers, std::vector<std::string>{"Authorization: Bearer one"});
  EXPECT_EQ(read->connection->tls.ca_pem, "CA1");
  EXPECT_EQ(read->connection->tls.certificate_pem + read->connection->tls.key_pem, "C1K1");
  EXPECT_EQ(files->next_read_millis(), kCredentialReadMillis);
  write("token", "two");
  write("ca", "CA2");
  read = files->read(false);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->headers, std::vector<std::string>{"Authorization: Bearer two"});
  EXPECT_EQ(read->connection->tls.ca_pem, "CA2");
  struct Case {
    const char *file, *text, *message;
  };
  for (const Case& bad : {Case{"token", "a\nb: c", "F: users[0].user.tokenFile: "},
                          Case{"token", "", "F: users[0].user.tokenFile: "},
                          Case{"ca", "", "F: clusters[0].cluster.certificate-authority: "}}) {
    write("token", "two");
    write(bad.file, bad.text);
    const auto failed = files->read(false);
    ASSERT_FALSE(failed) << bad.text;
    EXPECT_EQ(failed.error().message.find(bad.message), 0u) << failed.error().message;
  }
  std::filesystem::remove(folder + "/key");
  write("ca", "CA");
  const auto gone = files->read(false);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().message,
            "F: users[0].user.client-key: cannot read " + folder +
                "/key: No such file or directory; correct the path, or make the file");
}

TEST_F(ReaderTest, BasicAuthentication) {
  ServerAccess access{"https://s"};
  access.username = "me";
  access.password = "pw";
  const auto read = reader(access)->read(false);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->headers, std::vector<std::string>{"Authorization: Basic bWU6cHc="});
}

TEST_F(ReaderTest, APluginIsAskedAgainAheadOfTheEndAndWhenRefused) {
  ServerAccess access{"https://s"};
  access.exec = plugin_of("plug");
  const auto plugin = reader(access);
  // FakeClock's wall begins at 1,000 s; this is good for five minutes.
  status = R"({"token":"a","expirationTimestamp":"1970-01-01T00:21:40Z"})";
  ASSERT_TRUE(plugin->read(false));
  EXPECT_EQ(plugin->next_read_millis(), kCredentialReadMillis);
  clock.now_millis = 230'000;
  ASSERT_TRUE(plugin->read(false));
  EXPECT_EQ(runs, 1) << "it is good for 70 s";
  EXPECT_EQ(plugin->next_read_millis(), 10'000) << "it is asked a minute before the end";
  clock.now_millis = 240'000;
  status = R"({"clientCertificateData":"C","clientKeyData":"K"})";
  const auto read = plugin->read(false);
  ASSERT_TRUE(read);
  EXPECT_EQ(runs, 2);
  EXPECT_TRUE(read->headers.empty());
  EXPECT_EQ(read->connection->tls.certificate_pem + read->connection->tls.key_pem, "CK");
  ASSERT_TRUE(plugin->read(false));
  EXPECT_EQ(runs, 2) << "this one never ends";
  ASSERT_TRUE(plugin->read(true));
  EXPECT_EQ(runs, 3) << "but the server has refused it";
}

TEST(ClientCredentials, AGuardedWriteAsksBeforeItLeavesAndReadsDoNot) {
  FakeTransport transport;
  Client client(transport, ServerAccess{"https://s", {}, "t", ""}, "karst/test");
  bool open = true;
  client.guard_writes([&open] { return [&open] { return open; }; });
  Call write;
  write.method = http::Method::kPatch;
  client.send(std::move(write), [](const http::Response&) {});
  client.send({}, [](const http::Response&) {});
  ASSERT_EQ(transport.open.size(), 2u);
  ASSERT_TRUE(transport.open[0].request.may_leave);
  EXPECT_TRUE(transport.open[0].request.may_leave());
  open = false;
  EXPECT_FALSE(transport.open[0].request.may_leave());
  EXPECT_FALSE(transport.open[1].request.may_leave);
}

TEST(ClientPause, GivesTheServerThePauseThatItAsksFor) {
  FakeTransport transport;
  Client client(transport, ServerAccess{"https://s", {}, "t", ""}, "karst/test");
  const auto send = [&](const char* path, bool urgent = false) {
    Call call;
    call.path = path;
    call.urgent = urgent;
    client.send(std::move(call), [](const http::Response&) {});
  };
  const auto throttle = [&](const char* path, const char* seconds) {
    send(path);
    http::Response response;
    response.status = 429;
    response.headers = {{"retry-after", seconds}};
    transport.answer(std::move(response));
  };
  struct Case {
    const char *path, *header;
    std::int64_t pause_millis;
  };
  for (const Case& test : {Case{"/a", "3", 3'000}, Case{"/a", "900", kRetryAfterSecondsMax * 1000},
                           Case{"/a", "", 0}, Case{"/a", "0", 0}, Case{"/a", "soon", 0},
                           Case{"/api/v1/namespaces/n/pods/p/eviction", "10", 0}}) {
    throttle(test.path, test.header);
    send("/b");
    if (test.pause_millis > 0) {
      EXPECT_TRUE(transport.open.empty()) << test.header;
      send("/lease", true);
      EXPECT_EQ(transport.open.size(), 1u) << "what is urgent is not held back";
      transport.answer(200, "{}");
      transport.advance(test.pause_millis - 1);
      EXPECT_TRUE(transport.open.empty()) << test.header;
      transport.advance(1);
    }
    ASSERT_EQ(transport.open.size(), 1u) << test.path << " " << test.header;
    EXPECT_EQ(transport.answer(200, "{}").url, "https://s/b");
  }
}

}  // namespace
}  // namespace karst::kube
