// Credentials from a program, as kubeconfig's `exec` asks for them: the client authentication API
// of Kubernetes, client.authentication.k8s.io/v1 and v1beta1
// (kubernetes.io/docs/reference/access-authn-authz/authentication, "client-go credential plugins").
// What goes to the program and what its answer means is pure; run_plugin() is the one that runs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace karst::kube {

inline constexpr std::int64_t kPluginMillisMax = 60'000;      // then it is killed
inline constexpr std::size_t kPluginBytesMax = 1u << 20;      // of its answer
inline constexpr std::size_t kPluginComplaintMax = 4 * 1024;  // of what it says on stderr

struct ExecPlugin {
  std::string api_version;
  std::string command;  // a name for PATH, or a path
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;  // besides our own environment
  std::string install_hint;
  bool provide_cluster_info = false;
  std::string cluster_config;  // JSON: the cluster's extension client.authentication.k8s.io/exec
  std::string place;           // "FILE: users[0].user.exec", for messages
};

// The cluster as a plugin may be told of it.
struct PluginCluster {
  std::string server;
  std::string tls_server_name;
  bool insecure = false;
  std::string ca_pem;
  std::string proxy_url;
};

struct PluginAnswer {
  std::string token;
  std::string certificate_pem;
  std::string key_pem;
  std::optional<std::int64_t> expires_wall_millis;  // unix
};

// The value of KUBERNETES_EXEC_INFO. Never interactive: nobody sits in front of a daemon.
std::string plugin_request(const ExecPlugin& plugin, const PluginCluster& cluster);

// What the program printed. Errors: kInvalid, with what was expected; nothing of a token is shown.
base::Result<PluginAnswer> read_plugin_answer(const ExecPlugin& plugin, std::string_view output);

// Runs the program once and returns what it printed. Blocks for up to kPluginMillisMax, or until
// `give_up`, asked a few times a second, says so: not on a thread that anybody waits for. Errors:
// kDenied in one line, with the install hint if the file has one.
base::Result<std::string> run_plugin(const ExecPlugin& plugin, const std::string& request,
                                     const base::Clock& clock,
                                     const std::function<bool()>& give_up = {});

}  // namespace karst::kube
