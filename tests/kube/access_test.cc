// kubeconfig files, good and bad: what is wrong is said with file and field.
#include "kube/access.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace karst::kube {
namespace {

struct AccessTest : ::testing::Test {
  AccessTest() { std::filesystem::create_directories(folder); }
  ~AccessTest() override { std::filesystem::remove_all(folder); }
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder + "/" + name) << text;
    return folder + "/" + name;
  }
  static std::string config(const std::string& cluster, const std::string& user) {
    return "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: "
           "{cluster: k, user: u}}]\n"
           "clusters: [{name: other, cluster: {}}, {name: k, cluster: {" +
           cluster + "}}]\nusers: [{name: u, user: {" + user + "}}]\n";
  }
  const std::string folder =
      std::filesystem::temp_directory_path() / ("karst-access-" + std::to_string(::getpid()));
};

TEST_F(AccessTest, ReadsServerCaAndCredentials) {
  write("ca.pem", "CA");
  write("token", "from-file\n");
  auto access = read_kubeconfig(
      write("a", config("server: 'https://h:1/', certificate-authority: ca.pem", "token: secret")));
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->server, "https://h:1");
  EXPECT_EQ(access->tls.ca_pem, "CA");
  EXPECT_EQ(access->token, "secret");
  access = read_kubeconfig(write(
      "b", config("server: 'https://h:1', certificate-authority-data: Q0E=", "tokenFile: token")));
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->tls.ca_pem, "CA");
  EXPECT_EQ(access->token_file, folder + "/token");
  access =
      read_kubeconfig(write("c", config("server: 'https://h:1'",
                                        "client-certificate-data: QQ==, client-key-data: Qg==")));
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->tls.certificate_pem, "A");
  EXPECT_EQ(access->tls.key_pem, "B");
}

TEST_F(AccessTest, SaysFileFieldAndCure) {
  struct Case {
    const char* name;
    std::string text;
    const char* message;  // after the file's name
  };
  const Case cases[] = {
      {"no yaml", "a: [", ": line "},
      {"empty", "", ": expected a kubeconfig, found no mapping"},
      {"no context", "clusters: []\n",
       ": current-context: is missing; run kubectl config use-context NAME"},
      {"unknown context", "current-context: x\ncontexts: []\n",
       ": contexts: there is no entry named \"x\""},
      {"no server", config("", "token: t"),
       ": clusters[1].cluster.server: expected https://HOST:PORT, found \"\""},
      {"plain http", config("server: 'http://h'", "token: t"),
       ": clusters[1].cluster.server: expected https://HOST:PORT, found \"http://h\""},
      {"insecure", config("server: 'https://h', insecure-skip-tls-verify: true", "token: t"),
       ": clusters[1].cluster.insecure-skip-tls-verify: is not supported"},
      {"no ca file", config("server: 'https://h', certificate-authority: none.pem", "token: t"),
       ": clusters[1].cluster.certificate-authority: cannot read "},
      {"bad base64", config("server: 'https://h', certificate-authority-data: '!!'", "token: t"),
       ": clusters[1].cluster.certificate-authority-data: is not base64"},
      {"no credentials", config("server: 'https://h'", ""),
       ": users[0].user: has no token, tokenFile or client certificate; add one"},
      {"exec", config("server: 'https://h'", "exec: {command: aws}"),
       ": users[0].user.exec: is not supported yet"},
      {"half a certificate", config("server: 'https://h'", "client-certificate-data: QQ=="),
       ": users[0].user.client-key: is missing"},
      {"no token file", config("server: 'https://h'", "tokenFile: none"),
       ": users[0].user.tokenFile: cannot read "},
  };
  for (const Case& test : cases) {
    const std::string path = write("config", test.text);
    const auto access = read_kubeconfig(path);
    ASSERT_FALSE(access) << test.name;
    EXPECT_EQ(access.error().kind, base::Kind::kInvalid);
    EXPECT_EQ(access.error().message.substr(0, path.size() + std::string(test.message).size()),
              path + test.message)
        << test.name;
  }
  const auto absent = read_kubeconfig(folder + "/absent");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().message,
            "kubeconfig: cannot read " + folder + "/absent: No such file or directory");
}

TEST_F(AccessTest, OutsideAClusterSaysSo) {
  ::unsetenv("KUBERNETES_SERVICE_HOST");
  const auto access = in_cluster_access();
  ASSERT_FALSE(access);
  EXPECT_NE(access.error().message.find("give --kubeconfig FILE"), std::string::npos);
}

}  // namespace
}  // namespace karst::kube
