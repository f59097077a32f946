// What kubeconfig files say, put together as client-go does it: of each entry the first file that
// has it counts, whole; fields that this build does not know are passed over.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "base/nearest.h"
#include "kube/access.h"
#include "objects/yaml.h"

namespace karst::kube {
namespace {

using nlohmann::json;

constexpr std::size_t kShownMax = 200;  // of a value in a message
constexpr const char* kAnotherFile = "--kubeconfig or KUBECONFIG another file";
constexpr const char* kV1 = "client.authentication.k8s.io/v1";
constexpr const char* kV1Beta1 = "client.authentication.k8s.io/v1beta1";
constexpr const char* kClusterConfig = "client.authentication.k8s.io/exec";

// One mapping of a file and its place. The first thing that is wrong is kept in `error`, which the
// parts of one reading share; reading goes on after it.
struct Section {
  const json* object;
  std::string place;   // "FILE: users[0].user"
  std::string folder;  // of the file
  std::optional<base::Error>* error;

  std::string at(const std::string& field) const {
    return field.empty() ? place : place + (place.ends_with(": ") ? "" : ".") + field;
  }
  void wrong(const std::string& field, const std::string& what) const {
    if (!*error) *error = base::Error{base::Kind::kInvalid, at(field) + ": " + what};
  }
  const json* find(const char* field) const {
    const auto found = object->find(field);
    return found == object->end() || found->is_null() ? nullptr : &*found;
  }
  std::string text(const char* field) const {
    const json* value = find(field);
    if (value == nullptr) return "";
    if (!value->is_string()) return wrong(field, "expected a text; put it in quotes"), "";
    return value->get<std::string>();
  }
  bool flag(const char* field) const {
    const json* value = find(field);
    if (value == nullptr) return false;
    if (!value->is_boolean()) return wrong(field, "expected true or false"), false;
    return value->get<bool>();
  }
  std::vector<json> list(const char* field) const {
    const json* value = find(field);
    if (value == nullptr) return {};
    if (!value->is_array()) return wrong(field, "expected a list"), std::vector<json>();
    return {value->begin(), value->end()};
  }
  std::string file(const char* field) const {
    const std::string path = text(field);
    return path.empty() ? "" : (std::filesystem::path(folder) / path).string();
  }
  Section inner(const char* field, const json& value) const {
    return {&value, at(field), folder, error};
  }
};

// FIELD-data (base64) or FIELD (a file); the data goes first.
void pem_of(const Section& section, const std::string& field, std::string& pem, std::string& file) {
  const std::string data = section.text((field + "-data").c_str());
  file = data.empty() ? section.file(field.c_str()) : "";
  if (data.empty()) return;
  auto decoded = base::decode_base64_text(data);
  if (!decoded || decoded->empty())
    return section.wrong(field + "-data", "is not base64; copy the kubeconfig again");
  pem = std::move(*decoded);
}

bool plain_http_allowed(const std::string& server) {
  const std::string rest = server.substr(std::string_view("http://").size());
  const std::string host = rest.substr(0, rest.find_first_of(":/"));
  return host == "localhost" || host.starts_with("127.") || rest.starts_with("[::1]");
}

// A URL as an error may show it: who it names before '@' may be with a password.
std::string shown_url(const std::string& url) {
  const auto at = url.rfind('@');
  if (at == std::string::npos) return url.substr(0, kShownMax);
  const auto scheme = url.find("://");
  const std::string front = scheme < at ? url.substr(0, scheme + 3) : "";
  return (front + "..." + url.substr(at)).substr(0, kShownMax);
}

// The key that was probably meant to be `field`, as the end of a message.
std::string misspelt(const Section& section, const char* field) {
  std::vector<std::string_view> keys;
  for (const auto& [key, value] : section.object->items()) keys.push_back(key);
  const std::string_view near = base::nearest(field, keys);
  return near.empty() ? "" : "; is it misspelt as \"" + std::string(near) + "\"?";
}

void read_cluster(const Section& cluster, ServerAccess& access) {
  access.cluster_place = cluster.place;
  access.server = cluster.text("server");
  while (access.server.ends_with('/')) access.server.pop_back();
  const bool http = access.server.starts_with("http://");
  if (cluster.find("server") == nullptr)
    cluster.wrong("server", "is missing; add https://HOST:PORT" + misspelt(cluster, "server"));
  else if (!http && !access.server.starts_with("https://"))
    cluster.wrong("server",
                  "expected https://HOST:PORT, found \"" + shown_url(access.server) + "\"");
  else if (http && !plain_http_allowed(access.server))
    cluster.wrong("server",
                  "expected https://HOST:PORT, found \"" + shown_url(access.server) +
                      "\": without TLS only this machine itself is talked to (kubectl proxy)");
  pem_of(cluster, "certificate-authority", access.tls.ca_pem, access.ca_file);
  access.tls.server_name = cluster.text("tls-server-name");
  access.proxy_url = cluster.text("proxy-url");
  const auto known = {"http://", "https://", "socks5://", "socks5h://"};
  if (!access.proxy_url.empty() &&
      std::none_of(known.begin(), known.end(),
                   [&](const char* scheme) { return access.proxy_url.starts_with(scheme); }))
    cluster.wrong("proxy-url", "expected http://, https:// or socks5://HOST:PORT, found \"" +
                                   shown_url(access.proxy_url) + "\"");
  access.tls.insecure = cluster.flag("insecure-skip-tls-verify");
  if (!access.tls.insecure) return;
  if (!access.tls.ca_pem.empty() || !access.ca_file.empty())
    return cluster.wrong("insecure-skip-tls-verify",
                         "cannot be true beside a certificate-authority; remove it");
  access.warnings.push_back(cluster.at("insecure-skip-tls-verify") +
                            " is true: whoever answers at " + access.server +
                            " is believed and gets the credentials; give "
                            "certificate-authority-data instead");
}

ExecPlugin read_exec(const Section& exec, const Section& cluster) {
  ExecPlugin plugin;
  plugin.place = exec.place;
  plugin.api_version = exec.text("apiVersion");
  if (plugin.api_version != kV1 && plugin.api_version != kV1Beta1)
    exec.wrong("apiVersion", std::string("expected ") + kV1 + " or " + kV1Beta1 + ", found \"" +
                                 plugin.api_version.substr(0, kShownMax) +
                                 "\"; a newer release of the plugin knows one of them");
  plugin.command = exec.text("command");
  if (plugin.command.empty()) exec.wrong("command", "is missing: which program gives credentials");
  if (plugin.command.find('/') != std::string::npos)
    plugin.command = (std::filesystem::path(exec.folder) / plugin.command).string();
  for (const json& word : exec.list("args")) {
    if (!word.is_string()) exec.wrong("args", "expected texts; put numbers in quotes");
    plugin.args.push_back(word.is_string() ? word.get<std::string>() : "");
  }
  for (const json& pair : exec.list("env")) {
    if (!pair.is_object()) {
      exec.wrong("env", "expected a list of {name, value}");
      continue;
    }
    const Section one = exec.inner("env[]", pair);
    plugin.env.emplace_back(one.text("name"), one.text("value"));
    if (plugin.env.back().first.empty()) one.wrong("name", "is missing");
  }
  const std::string mode = exec.text("interactiveMode");
  if (mode == "Always")
    exec.wrong("interactiveMode",
               "is Always, but nobody sits in front of a daemon; use a plugin, or an option of it, "
               "that asks no questions");
  else if (mode.empty() ? plugin.api_version == kV1 : mode != "Never" && mode != "IfAvailable")
    exec.wrong("interactiveMode", "expected Never, IfAvailable or Always, found \"" +
                                      mode.substr(0, kShownMax) + "\"");
  plugin.install_hint = exec.text("installHint");
  plugin.provide_cluster_info = exec.flag("provideClusterInfo");
  for (const json& extension : cluster.list("extensions")) {
    if (!extension.is_object() || extension.value("name", json()) != kClusterConfig) continue;
    plugin.cluster_config =
        extension.value("extension", json()).dump(-1, ' ', false, json::error_handler_t::replace);
  }
  return plugin;
}

bool fit_for_header(const std::string& value) {
  return std::none_of(value.begin(), value.end(),
                      [](unsigned char c) { return c < ' ' || c == 0x7f; });
}

std::string escaped_key(const std::string& key) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const unsigned char c : key) {
    if (std::isalnum(c) || c == '-' || c == '.' || c == '_')
      out += static_cast<char>(c);
    else
      (out += '%') += kHex[c >> 4], out += kHex[c & 15];
  }
  return out;
}

void read_impersonation(const Section& user, ServerAccess& access) {
  const auto add = [&](const char* field, const std::string& header, const std::string& value) {
    if (!fit_for_header(value)) return user.wrong(field, "holds characters that no header may");
    access.headers.push_back(header + ": " + value);
  };
  const std::string name = user.text("as");
  if (!name.empty()) add("as", "Impersonate-User", name);
  if (const std::string uid = user.text("as-uid"); !uid.empty())
    add("as-uid", "Impersonate-Uid", uid);
  for (const json& group : user.list("as-groups")) {
    if (group.is_string())
      add("as-groups", "Impersonate-Group", group.get<std::string>());
    else
      user.wrong("as-groups", "expected texts");
  }
  if (const json* extra = user.find("as-user-extra")) {
    for (const auto& [key, values] : extra->items())
      for (const json& value : values)
        if (value.is_string())
          add("as-user-extra", "Impersonate-Extra-" + escaped_key(key), value.get<std::string>());
  }
  if (!access.headers.empty() && name.empty())
    user.wrong("as", "is missing: who to be besides as-groups, as-uid and as-user-extra");
}

void read_user(const Section& user, const Section& cluster, ServerAccess& access) {
  access.user_place = user.place;
  if (user.find("auth-provider") != nullptr)
    user.wrong("auth-provider",
               "was removed from Kubernetes in 1.26; use the exec plugin of your cloud instead "
               "(gcp: gke-gcloud-auth-plugin, azure: kubelogin)");
  access.token = user.text("token");
  access.token_file = user.file("tokenFile");
  if (!fit_for_header(access.token)) user.wrong("token", "holds characters that no header may");
  access.username = user.text("username");
  access.password = user.text("password");
  if (access.username.empty() && !access.password.empty())
    user.wrong("username", "is missing beside password");
  const bool token = !access.token.empty() || !access.token_file.empty();
  if (token && !access.username.empty())
    user.wrong("", "has token and username: which one is meant? remove one");
  pem_of(user, "client-certificate", access.tls.certificate_pem, access.certificate_file);
  pem_of(user, "client-key", access.tls.key_pem, access.key_file);
  const bool certificate = !access.tls.certificate_pem.empty() || !access.certificate_file.empty();
  const bool key = !access.tls.key_pem.empty() || !access.key_file.empty();
  if (certificate != key)
    user.wrong(certificate ? "client-key" : "client-certificate",
               "is missing: both are needed together");
  if (const json* exec = user.find("exec")) {
    if (exec->is_object())
      access.exec = read_exec(user.inner("exec", *exec), cluster);
    else
      user.wrong("exec", "expected a mapping");
  }
  read_impersonation(user, access);
  if (!token && access.username.empty() && !certificate && !access.exec &&
      access.server.starts_with("https://"))
    user.wrong("", "has no credentials; add token, tokenFile, client-certificate or exec");
}

struct File {
  std::string path;
  json root;
};

// What `name` is in `list_name`, part `part`: of the first file that has it.
std::optional<Section> find_entry(const std::vector<File>& files, const char* list_name,
                                  const char* part, const std::string& name,
                                  std::optional<base::Error>& error) {
  for (const File& file : files) {
    const Section top{&file.root, file.path + ": ",
                      std::filesystem::path(file.path).parent_path().string(), &error};
    const json* list = top.find(list_name);
    if (list == nullptr) continue;
    if (!list->is_array()) return top.wrong(list_name, "expected a list"), std::nullopt;
    std::optional<Section> found;
    for (std::size_t i = 0; i < list->size(); ++i) {
      const json& entry = (*list)[i];
      if (!entry.is_object() || entry.value("name", json()) != name) continue;
      const Section here =
          top.inner((std::string(list_name) + "[" + std::to_string(i) + "]").c_str(), entry);
      if (found) return here.wrong("name", "\"" + name + "\" is there twice"), std::nullopt;
      const json* inner = here.find(part);
      if (inner == nullptr || !inner->is_object())
        return here.wrong(part, "expected an object"), std::nullopt;
      found = here.inner(part, *inner);
    }
    if (found) return found;
  }
  if (!error)
    error = base::Error{base::Kind::kInvalid,
                        files.front().path + (files.size() > 1 ? " and those after it" : "") +
                            ": " + list_name + ": there is no entry named \"" +
                            name.substr(0, kShownMax) + "\"; add it, or choose another context"};
  return std::nullopt;
}

}  // namespace

base::Result<ServerAccess> merge_kubeconfigs(const std::vector<KubeconfigText>& texts) {
  std::vector<File> files;
  std::optional<base::Error> error;
  std::string current;
  for (const KubeconfigText& one : texts) {
    auto parsed = objects::parse_yaml(one.text);
    if (!parsed)
      return base::fail(base::Kind::kInvalid, one.path + ": " + parsed.error().message +
                                                  "; correct it there, or give " + kAnotherFile);
    if (parsed->is_null() && texts.size() > 1) continue;
    if (!parsed->is_object())
      return base::fail(base::Kind::kInvalid, one.path + ": expected a kubeconfig, found " +
                                                  (parsed->is_null() ? "nothing" : "no mapping") +
                                                  " in it; give " + kAnotherFile);
    files.push_back({one.path, std::move(*parsed)});
    const Section top{&files.back().root, one.path + ": ", "", &error};
    if (current.empty()) current = top.text("current-context");
  }
  if (error) return base::fail(std::move(*error));
  if (current.empty())
    return base::fail(
        base::Kind::kInvalid,
        texts.front().path + ": current-context: is missing; run kubectl config use-context NAME");
  ServerAccess access;
  const auto context = find_entry(files, "contexts", "context", current, error);
  if (!context) return base::fail(std::move(*error));
  const auto cluster = find_entry(files, "clusters", "cluster", context->text("cluster"), error);
  if (!cluster) return base::fail(std::move(*error));
  const std::string user_name = context->text("user");
  const json nobody = json::object();
  const auto user = user_name.empty() ? Section{&nobody, context->at("user"), "", &error}
                                      : find_entry(files, "users", "user", user_name, error);
  if (!user) return base::fail(std::move(*error));
  read_cluster(*cluster, access);
  read_user(*user, *cluster, access);
  if (error) return base::fail(std::move(*error));
  return access;
}

}  // namespace karst::kube
