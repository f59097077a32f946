#include "kube/access.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "objects/yaml.h"

namespace karst::kube {
namespace {

std::string setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Empty parts and repeated files count once, as in client-go.
std::vector<std::string> paths_in(const std::string& list) {
  std::vector<std::string> paths;
  for (std::size_t from = 0; from <= list.size();) {
    const std::size_t end = std::min(list.find(':', from), list.size());
    std::string path = list.substr(from, end - from);
    if (!path.empty() && std::find(paths.begin(), paths.end(), path) == paths.end())
      paths.push_back(std::move(path));
    from = end + 1;
  }
  return paths;
}

tl::unexpected<base::Error> unreadable(const std::string& path, int code,
                                       const std::string& absent_cure) {
  const bool refused = code == EACCES || code == EPERM;
  return base::fail(
      base::Kind::kInvalid,
      "cannot read " + path + ": " + std::strerror(code) + "; " +
          (refused ? "let user " + std::to_string(geteuid()) + ", as whom karst runs, read it"
                   : absent_cure));
}

}  // namespace

base::Result<std::string> read_file(const std::string& path, std::size_t bytes_max,
                                    const std::string& absent_cure) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return unreadable(path, errno, absent_cure);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    return base::fail(base::Kind::kInvalid,
                      "cannot read " + path + ": it is a folder; name the file in it");
  std::string bytes(bytes_max + 1, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  if (file.bad())
    return base::fail(base::Kind::kInvalid,
                      "cannot read " + path + ": it is no ordinary file; give one");
  if (bytes.size() > bytes_max)
    return base::fail(base::Kind::kInvalid, path + ": larger than " + std::to_string(bytes_max) +
                                                " bytes; is it the file that was meant?");
  return bytes;
}

base::Result<ServerAccess> read_kubeconfig(const std::vector<std::string>& paths) {
  if (paths.size() > kKubeconfigsMax)
    return base::fail(
        base::Kind::kInvalid,
        "KUBECONFIG lists more than " + std::to_string(kKubeconfigsMax) + " files; name fewer");
  std::vector<KubeconfigText> files;
  std::optional<base::Error> absent;
  for (const std::string& path : paths) {
    std::error_code ignored;
    auto bytes = read_file(path, objects::kYamlBytesMax);
    if (bytes) {
      files.push_back({path, std::move(*bytes)});
    } else if (std::filesystem::exists(path, ignored) || ignored) {
      return base::fail(bytes.error().with_context("kubeconfig"));
    } else if (!absent) {
      absent = bytes.error().with_context("kubeconfig");
    }
  }
  if (files.empty() && absent) return base::fail(std::move(*absent));
  return merge_kubeconfigs(files);
}

base::Result<ServerAccess> find_access(const std::string& option) {
  if (!option.empty()) return read_kubeconfig({option});
  if (const auto paths = paths_in(setting("KUBECONFIG")); !paths.empty())
    return read_kubeconfig(paths);
  if (!setting("KUBERNETES_SERVICE_HOST").empty()) return in_cluster_access();
  const std::string usual = setting("HOME") + "/.kube/config";
  std::error_code ignored;
  if (!setting("HOME").empty() && std::filesystem::exists(usual, ignored))
    return read_kubeconfig({usual});
  return base::fail(base::Kind::kInvalid,
                    "there is no cluster to work for: this is no pod, KUBECONFIG is not set and "
                    "there is no ~/.kube/config; give --kubeconfig FILE, or --embedded for a "
                    "simulated cluster");
}

base::Result<ServerAccess> in_cluster_access(const std::string& account_folder) {
  const std::string host = setting("KUBERNETES_SERVICE_HOST");
  const std::string port = setting("KUBERNETES_SERVICE_PORT");
  if (host.empty() || port.empty())
    return base::fail(base::Kind::kInvalid,
                      "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: this is no "
                      "pod; give --kubeconfig FILE");
  ServerAccess access;
  access.server =
      "https://" + (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + port;
  access.token_file = account_folder + "/token";
  access.ca_file = account_folder + "/ca.crt";
  access.cluster_place = access.user_place = "the pod's service account";
  access.absent_cure =
      "set automountServiceAccountToken: true in the pod and in its service account";
  return access;
}

std::string own_namespace(const std::string& account_folder) {
  auto bytes = read_file(account_folder + "/namespace", kCredentialBytesMax);
  if (!bytes) return "";
  while (!bytes->empty() && std::isspace(static_cast<unsigned char>(bytes->back())))
    bytes->pop_back();
  return std::move(*bytes);
}

}  // namespace karst::kube
