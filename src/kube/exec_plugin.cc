#include "kube/exec_plugin.h"

#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "base/time.h"

namespace karst::kube {
namespace {

using nlohmann::json;

tl::unexpected<base::Error> refuse(const ExecPlugin& plugin, const std::string& what) {
  return base::fail(base::Kind::kInvalid,
                    plugin.place + ": the answer of " + plugin.command + ": " + what);
}

std::string text_at(const json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

}  // namespace

std::string plugin_request(const ExecPlugin& plugin, const PluginCluster& cluster) {
  json spec = {{"interactive", false}};
  if (plugin.provide_cluster_info) {
    json about = {{"server", cluster.server}};
    if (!cluster.tls_server_name.empty()) about["tls-server-name"] = cluster.tls_server_name;
    if (cluster.insecure) about["insecure-skip-tls-verify"] = true;
    if (!cluster.ca_pem.empty())
      about["certificate-authority-data"] = base::encode_base64(cluster.ca_pem);
    if (!cluster.proxy_url.empty()) about["proxy-url"] = cluster.proxy_url;
    if (!plugin.cluster_config.empty())
      about["config"] = json::parse(plugin.cluster_config, nullptr, false);
    spec["cluster"] = std::move(about);
  }
  return json{{"kind", "ExecCredential"}, {"apiVersion", plugin.api_version}, {"spec", spec}}.dump(
      -1, ' ', false, json::error_handler_t::replace);
}

base::Result<PluginAnswer> read_plugin_answer(const ExecPlugin& plugin, std::string_view output) {
  const json root = json::parse(output, nullptr, false);
  if (!root.is_object())
    return refuse(plugin, "expected an ExecCredential as JSON on stdout, found " +
                              std::to_string(output.size()) + " bytes that are none");
  if (text_at(root, "kind") != "ExecCredential")
    return refuse(plugin, "kind: expected ExecCredential, found \"" +
                              text_at(root, "kind").substr(0, 100) + "\"");
  if (text_at(root, "apiVersion") != plugin.api_version)
    return refuse(plugin, "apiVersion: expected " + plugin.api_version +
                              " as the kubeconfig asks, "
                              "found \"" +
                              text_at(root, "apiVersion").substr(0, 100) + "\"");
  const auto status = root.find("status");
  if (status == root.end() || !status->is_object())
    return refuse(plugin, "status: is missing; it should hold a token or a client certificate");
  PluginAnswer answer;
  answer.token = text_at(*status, "token");
  answer.certificate_pem = text_at(*status, "clientCertificateData");
  answer.key_pem = text_at(*status, "clientKeyData");
  if (answer.certificate_pem.empty() != answer.key_pem.empty())
    return refuse(plugin,
                  "status: clientCertificateData and clientKeyData are needed together, one is "
                  "missing");
  if (answer.token.empty() && answer.key_pem.empty())
    return refuse(plugin, "status: holds no token and no client certificate");
  const std::string expires = text_at(*status, "expirationTimestamp");
  if (expires.empty()) return answer;
  answer.expires_wall_millis = base::parse_rfc3339(expires);
  if (!answer.expires_wall_millis)
    return refuse(plugin,
                  "status.expirationTimestamp: expected a time such as "
                  "2026-11-21T10:17:51Z, found \"" +
                      expires.substr(0, 100) + "\"");
  return answer;
}

}  // namespace karst::kube
