#include "kube/access.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "objects/yaml.h"

namespace karst::kube {
namespace {

using nlohmann::json;

constexpr const char* kAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount/";

std::optional<std::string> decode_base64(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  bool padding = false;
  for (const char c : text) {
    if (c == '\n' || c == '\r' || c == ' ') continue;
    if (c == '=') {
      padding = true;
      continue;
    }
    constexpr std::string_view kAlphabet =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const auto value = kAlphabet.find(c);
    if (value == std::string_view::npos || padding) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out += static_cast<char>(bits >> count & 0xff);
    }
  }
  return out;
}

// One entry of the kubeconfig, with its place for messages.
struct Section {
  const json* object;
  std::string place;  // "FILE: users[0].user"

  std::string text(const char* field) const {
    const auto at = object->find(field);
    return at != object->end() && at->is_string() ? at->get<std::string>() : std::string();
  }
  tl::unexpected<base::Error> error(const std::string& field, const std::string& what) const {
    return base::fail(base::Kind::kInvalid,
                      place + (field.empty() ? "" : "." + field) + ": " + what);
  }
};

// Bytes that are given inline as base64 (FIELD-data) or as a file (FIELD). Empty when neither is
// there.
base::Result<std::string> inline_or_file(const Section& section, const std::string& field,
                                         const std::filesystem::path& folder) {
  const std::string data = section.text((field + "-data").c_str());
  if (!data.empty()) {
    auto decoded = decode_base64(data);
    if (!decoded || decoded->empty())
      return section.error(field + "-data", "is not base64; copy the kubeconfig again");
    return std::move(*decoded);
  }
  const std::string file = section.text(field.c_str());
  if (file.empty()) return std::string();
  auto bytes = read_file((folder / file).string(), kCredentialBytesMax);
  if (!bytes) return section.error(field, bytes.error().message);
  return bytes;
}

// The entry called `name` in the list `list_name`, its part `part`.
base::Result<Section> find_entry(const json& root, const std::string& path,
                                 const std::string& list_name, const std::string& part,
                                 const std::string& name) {
  const Section top{&root, path};
  const auto list = root.find(list_name);
  if (list != root.end() && list->is_array()) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      const json& entry = (*list)[i];
      if (!entry.is_object() || entry.value("name", json()) != name) continue;
      const auto inner = entry.find(part);
      const std::string place = path + ": " + list_name + "[" + std::to_string(i) + "]." + part;
      if (inner == entry.end() || !inner->is_object())
        return base::fail(base::Kind::kInvalid, place + ": expected an object");
      return Section{&*inner, place};
    }
  }
  return base::fail(base::Kind::kInvalid, path + ": " + list_name + ": there is no entry named \"" +
                                              name + "\"; add it, or choose another context");
}

base::Status read_cluster(const Section& cluster, const std::filesystem::path& folder,
                          ServerAccess& access) {
  access.server = cluster.text("server");
  while (access.server.ends_with('/')) access.server.pop_back();
  if (!access.server.starts_with("https://"))
    return cluster.error(
        "server", "expected https://HOST:PORT, found \"" + access.server.substr(0, 200) + "\"");
  const auto insecure = cluster.object->find("insecure-skip-tls-verify");
  if (insecure != cluster.object->end() && *insecure == true)
    return cluster.error("insecure-skip-tls-verify",
                         "is not supported; give certificate-authority-data instead");
  for (const char* field : {"proxy-url", "tls-server-name"})
    if (!cluster.text(field).empty())
      return cluster.error(field, "is not supported yet; remove it or use another context");
  auto ca = inline_or_file(cluster, "certificate-authority", folder);
  if (!ca) return base::fail(ca.error());
  access.tls.ca_pem = std::move(*ca);
  return {};
}

base::Status read_user(const Section& user, const std::filesystem::path& folder,
                       ServerAccess& access) {
  for (const char* field : {"exec", "auth-provider", "username"})
    if (user.object->contains(field))
      return user.error(field,
                        "is not supported yet; use a token, a tokenFile or a client certificate");
  access.token = user.text("token");
  if (const std::string file = user.text("tokenFile"); access.token.empty() && !file.empty()) {
    access.token_file = (folder / file).string();
    if (const auto token = read_file(access.token_file, kCredentialBytesMax); !token)
      return user.error("tokenFile", token.error().message);
  }
  auto certificate = inline_or_file(user, "client-certificate", folder);
  if (!certificate) return base::fail(certificate.error());
  auto key = inline_or_file(user, "client-key", folder);
  if (!key) return base::fail(key.error());
  if (certificate->empty() != key->empty())
    return user.error(certificate->empty() ? "client-certificate" : "client-key",
                      "is missing: both are needed together");
  access.tls.certificate_pem = std::move(*certificate);
  access.tls.key_pem = std::move(*key);
  if (access.token.empty() && access.token_file.empty() && access.tls.key_pem.empty())
    return user.error("", "has no token, tokenFile or client certificate; add one");
  return {};
}

}  // namespace

base::Result<std::string> read_file(const std::string& path, std::size_t bytes_max) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return base::fail(base::Kind::kInvalid, "cannot read " + path + ": " + std::strerror(errno));
  std::string bytes(bytes_max + 1, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  if (file.bad())
    return base::fail(base::Kind::kInvalid, "cannot read " + path + ": it is no ordinary file");
  if (bytes.size() > bytes_max)
    return base::fail(base::Kind::kInvalid,
                      path + ": larger than " + std::to_string(bytes_max) + " bytes");
  return bytes;
}

base::Result<ServerAccess> read_kubeconfig(const std::string& path) {
  const auto bytes = read_file(path, objects::kYamlBytesMax);
  if (!bytes) return base::fail(bytes.error().with_context("kubeconfig"));
  const auto parsed = objects::parse_yaml(*bytes);
  if (!parsed) return base::fail(parsed.error().with_context(path));
  const json& root = *parsed;
  if (!root.is_object())
    return base::fail(base::Kind::kInvalid, path + ": expected a kubeconfig, found no mapping");
  const std::string current = Section{&root, path}.text("current-context");
  if (current.empty())
    return base::fail(base::Kind::kInvalid,
                      path + ": current-context: is missing; run kubectl config use-context NAME");
  const auto context = find_entry(root, path, "contexts", "context", current);
  if (!context) return base::fail(context.error());
  const auto cluster = find_entry(root, path, "clusters", "cluster", context->text("cluster"));
  if (!cluster) return base::fail(cluster.error());
  const auto user = find_entry(root, path, "users", "user", context->text("user"));
  if (!user) return base::fail(user.error());
  ServerAccess access;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  KARST_TRY(read_cluster(*cluster, folder, access));
  KARST_TRY(read_user(*user, folder, access));
  return access;
}

base::Result<ServerAccess> in_cluster_access() {
  const char* host = std::getenv("KUBERNETES_SERVICE_HOST");
  const char* port = std::getenv("KUBERNETES_SERVICE_PORT");
  if (host == nullptr || port == nullptr)
    return base::fail(base::Kind::kInvalid,
                      "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: this is no "
                      "pod; give --kubeconfig FILE");
  ServerAccess access;
  const std::string name = host;
  access.server =
      "https://" + (name.find(':') == std::string::npos ? name : "[" + name + "]") + ":" + port;
  access.token_file = std::string(kAccountFolder) + "token";
  const auto token = read_file(access.token_file, kCredentialBytesMax);
  if (!token) return base::fail(token.error().with_context("the pod's service account"));
  auto ca = read_file(std::string(kAccountFolder) + "ca.crt", kCredentialBytesMax);
  if (!ca) return base::fail(ca.error().with_context("the pod's service account"));
  access.tls.ca_pem = std::move(*ca);
  return access;
}

}  // namespace karst::kube
