// kubeconfig files, good and bad: what is wrong is said with file and field.
#include "kube/access.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace karst::kube {
namespace {

base::Result<ServerAccess> read_one(const std::string& path) {
  return read_kubeconfig({path});
}

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
  auto access = read_one(
      write("a", config("server: 'https://h:1/', certificate-authority: ca.pem", "token: secret")));
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->server, "https://h:1");
  EXPECT_EQ(access->ca_file, folder + "/ca.pem");
  EXPECT_EQ(access->token, "secret");
  access = read_one(write(
      "b", config("server: 'https://h:1', certificate-authority-data: Q0E=", "tokenFile: token")));
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->tls.ca_pem, "CA");
  EXPECT_EQ(access->token_file, folder + "/token");
  access = read_one(write("c", config("server: 'https://h:1'",
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
      {"no yaml", "a: [",
       ": line 2: did not find expected node content; correct it there, or give --kubeconfig or "
       "KUBECONFIG another file"},
      {"empty", "",
       ": expected a kubeconfig, found nothing in it; give --kubeconfig or KUBECONFIG another "
       "file"},
      {"a list", "[]", ": expected a kubeconfig, found no mapping in it; give --kubeconfig or "},
      {"no context", "clusters: []\n",
       ": current-context: is missing; run kubectl config use-context NAME"},
      {"unknown context", "current-context: x\ncontexts: []\n",
       ": contexts: there is no entry named \"x\""},
      {"no server", config("", "token: t"),
       ": clusters[1].cluster.server: is missing; add https://HOST:PORT"},
      {"an empty server", config("server: ''", "token: t"),
       ": clusters[1].cluster.server: expected https://HOST:PORT, found \"\""},
      {"server, misspelt", config("sever: 'https://h'", "token: t"),
       ": clusters[1].cluster.server: is missing; add https://HOST:PORT; is it misspelt as "
       "\"sever\"?"},
      {"plain http", config("server: 'http://h'", "token: t"),
       ": clusters[1].cluster.server: expected https://HOST:PORT, found \"http://h\""},
      {"insecure beside a CA",
       config("server: 'https://h', insecure-skip-tls-verify: true, certificate-authority: c",
              "token: t"),
       ": clusters[1].cluster.insecure-skip-tls-verify: cannot be true beside a "},
      {"a text is a number", config("server: 'https://h'", "token: 12"),
       ": users[0].user.token: expected a text; put it in quotes"},
      {"a token that ends the header", config("server: 'https://h'", "token: \"a\\r\\nb: c\""),
       ": users[0].user.token: holds characters that no header may"},
      {"http to another machine", config("server: 'http://10.0.0.1:80'", "token: t"),
       ": clusters[1].cluster.server: expected https://HOST:PORT, found \"http://10.0.0.1:80\": "
       "without TLS only this machine"},
      {"proxy without a scheme", config("server: 'https://h', proxy-url: 'h:3128'", "token: t"),
       ": clusters[1].cluster.proxy-url: expected http://, https:// or socks5://HOST:PORT"},
      {"a proxy's password",
       config("server: 'https://h', proxy-url: 'socks4://me:secret@h:1'", "token: t"),
       ": clusters[1].cluster.proxy-url: expected http://, https:// or socks5://HOST:PORT, found "
       "\"socks4://...@h:1\""},
      {"a password, and no scheme", config("server: 'me:secret@h'", "token: t"),
       ": clusters[1].cluster.server: expected https://HOST:PORT, found \"...@h\""},
      {"twice", "current-context: c\ncontexts: [{name: c, context: {}}, {name: c, context: {}}]\n",
       ": contexts[1].name: \"c\" is there twice"},
      {"bad base64", config("server: 'https://h', certificate-authority-data: '!!'", "token: t"),
       ": clusters[1].cluster.certificate-authority-data: is not base64"},
      {"no credentials", config("server: 'https://h'", ""),
       ": users[0].user: has no credentials; add token, tokenFile, client-certificate or exec"},
      {"auth-provider", config("server: 'https://h'", "auth-provider: {name: gcp}"),
       ": users[0].user.auth-provider: was removed from Kubernetes in 1.26; use the exec plugin"},
      {"half a certificate", config("server: 'https://h'", "client-certificate-data: QQ=="),
       ": users[0].user.client-key: is missing"},
      {"token and password", config("server: 'https://h'", "token: t, username: a, password: b"),
       ": users[0].user: has token and username: which one is meant?"},
      {"password alone", config("server: 'https://h'", "password: b"),
       ": users[0].user.username: is missing beside password"},
      {"groups of nobody", config("server: 'https://h'", "token: t, as-groups: [a]"),
       ": users[0].user.as: is missing"},
      {"exec of 1.10",
       config("server: 'https://h'",
              "exec: {apiVersion: client.authentication.k8s.io/v1alpha1, "
              "command: a}"),
       ": users[0].user.exec.apiVersion: expected client.authentication.k8s.io/v1 or "},
      {"exec without a command",
       config("server: 'https://h'",
              "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}"),
       ": users[0].user.exec.command: is missing"},
      {"exec v1 without a mode",
       config("server: 'https://h'",
              "exec: {apiVersion: client.authentication.k8s.io/v1, command: a}"),
       ": users[0].user.exec.interactiveMode: expected Never, IfAvailable or Always, found"},
      {"exec that asks",
       config("server: 'https://h'",
              "exec: {apiVersion: client.authentication.k8s.io/v1, command: a, "
              "interactiveMode: Always}"),
       ": users[0].user.exec.interactiveMode: is Always, but nobody sits"},
      {"exec env",
       config("server: 'https://h'",
              "exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: a, "
              "env: [{value: b}]}"),
       ": users[0].user.exec.env[].name: is missing"},
  };
  for (const Case& test : cases) {
    const std::string path = write("config", test.text);
    const auto access = read_one(path);
    ASSERT_FALSE(access) << test.name;
    EXPECT_EQ(access.error().kind, base::Kind::kInvalid);
    EXPECT_EQ(access.error().message.substr(0, path.size() + std::string(test.message).size()),
              path + test.message)
        << test.name;
  }
  const auto absent = read_one(folder + "/absent");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().message, "kubeconfig: cannot read " + folder +
                                        "/absent: No such file or directory; correct the path, or "
                                        "make the file");
  const auto whole = read_one(folder);
  ASSERT_FALSE(whole);
  EXPECT_EQ(whole.error().message,
            "kubeconfig: cannot read " + folder + ": it is a folder; name the file in it");
}

TEST_F(AccessTest, ReadsWhatClientGoReads) {
  auto access = read_one(write(
      "a", config("server: 'https://h:1', tls-server-name: other, proxy-url: 'socks5://p:1080', "
                  "insecure-skip-tls-verify: true",
                  "username: me, password: pw, as: boss, as-uid: u1, as-groups: [one, two], "
                  "as-user-extra: {'a b': [c]}")));
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->tls.server_name, "other");
  EXPECT_EQ(access->proxy_url, "socks5://p:1080");
  EXPECT_TRUE(access->tls.insecure);
  ASSERT_EQ(access->warnings.size(), 1u);
  EXPECT_NE(access->warnings[0].find("whoever answers at https://h:1 is believed"),
            std::string::npos);
  EXPECT_EQ(access->username + ":" + access->password, "me:pw");
  EXPECT_EQ(access->headers,
            (std::vector<std::string>{"Impersonate-User: boss", "Impersonate-Uid: u1",
                                      "Impersonate-Group: one", "Impersonate-Group: two",
                                      "Impersonate-Extra-a%20b: c"}));
  access = read_one(write(
      "b",
      config("server: 'https://h:1', extensions: [{name: client.authentication.k8s.io/exec, "
             "extension: {audience: z}}]",
             "exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: bin/plug, args: "
             "[get-token, '-x'], env: [{name: A, value: b}], installHint: get it, "
             "provideClusterInfo: true}")));
  ASSERT_TRUE(access) << access.error().message;
  ASSERT_TRUE(access->exec);
  EXPECT_EQ(access->exec->command, folder + "/bin/plug");
  EXPECT_EQ(access->exec->args, (std::vector<std::string>{"get-token", "-x"}));
  EXPECT_EQ(access->exec->env[0].first + "=" + access->exec->env[0].second, "A=b");
  EXPECT_EQ(access->exec->install_hint, "get it");
  EXPECT_EQ(access->exec->cluster_config, R"({"audience":"z"})");
  access = read_one(write("c",
                          "current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\n"
                          "clusters: [{name: k, cluster: {server: 'http://127.0.0.1:8001'}}]\n"));
  ASSERT_TRUE(access) << "kubectl proxy: " << access.error().message;
}

// As kubernetes.io has it under "Merging kubeconfig files": the first file with an entry counts.
TEST_F(AccessTest, MergesTheFilesOfKubeconfig) {
  const std::string one = write("one",
                                "current-context: ''\nclusters: [{name: k, cluster: {server: "
                                "'https://first'}}]\n");
  const std::string two = write(
      "two", config("server: 'https://second', tls-server-name: never-mixed-in", "tokenFile: tok"));
  const std::string three = write("three", "current-context: late\n");
  std::filesystem::create_directories(folder + "/sub");
  ::setenv("KUBECONFIG", (one + "::" + folder + "/absent:" + two + ":" + three).c_str(), 1);
  auto access = find_access("");
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->server, "https://first");
  EXPECT_EQ(access->tls.server_name, "");
  EXPECT_EQ(access->token_file, folder + "/tok");
  EXPECT_EQ(access->user_place, two + ": users[0].user");
  access = find_access(two);
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->server, "https://second") << "--kubeconfig stands alone";
  ::setenv("KUBECONFIG", (folder + "/x:" + folder + "/y").c_str(), 1);
  access = find_access("");
  ASSERT_FALSE(access);
  EXPECT_TRUE(access.error().message.starts_with("kubeconfig: cannot read " + folder + "/x: No "))
      << access.error().message;
  ::unsetenv("KUBECONFIG");
  ::unsetenv("KUBERNETES_SERVICE_HOST");
  ::setenv("HOME", folder.c_str(), 1);
  access = find_access("");
  ASSERT_FALSE(access);
  EXPECT_NE(access.error().message.find("give --kubeconfig FILE"), std::string::npos);
  std::filesystem::create_directories(folder + "/.kube");
  std::filesystem::rename(two, folder + "/.kube/config");
  access = find_access("");
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->server, "https://second");
}

TEST_F(AccessTest, OutsideAClusterSaysSo) {
  ::unsetenv("KUBERNETES_SERVICE_HOST");
  const auto access = in_cluster_access();
  ASSERT_FALSE(access);
  EXPECT_NE(access.error().message.find("give --kubeconfig FILE"), std::string::npos);
}

}  // namespace
}  // namespace karst::kube
