#include "providers/aws/user_data.h"

#include <nlohmann/json.hpp>

#include "objects/yaml.h"
#include "providers/aws/bottlerocket.h"
#include "providers/aws/mime.h"

namespace karst::providers::aws {
namespace {

using nlohmann::json;

constexpr const char* kShellPart = "Content-Type: text/x-shellscript; charset=\"us-ascii\"";
constexpr const char* kNodeConfigPart = "Content-Type: application/node.eks.aws";

json kubelet_of(const UserDataInput& input) {
  json kubelet = json::parse(input.kubelet_json, nullptr, /*allow_exceptions=*/false);
  return kubelet.is_object() ? kubelet : json::object();
}

// The first address that pods ask for names.
std::string dns_of(const UserDataInput& input, const json& kubelet) {
  if (kubelet.contains("clusterDNS") && !kubelet["clusterDNS"].empty())
    return kubelet["clusterDNS"].front().get<std::string>();
  return input.cluster.dns_ip;
}

std::string joined(const json& map, const char* between) {
  std::string out;
  for (const auto& [key, value] : map.items())
    out += (out.empty() ? "" : ",") + key + between + value.get<std::string>();
  return out;
}

std::string labels_of(const UserDataInput& input) {
  std::string out;
  for (const auto& [key, value] : input.labels)
    if (kubelet_may_set(key)) out += (out.empty() ? "" : ",") + key + "=" + value;
  return out;
}

std::string script_for_al2(const UserDataInput& input) {
  const Cluster& cluster = input.cluster;
  const std::string dns = dns_of(input, kubelet_of(input));
  std::string out =
      "#!/bin/bash -xe\n"
      "exec > >(tee /var/log/user-data.log|logger -t user-data -s 2>/dev/console) 2>&1\n"
      "/etc/eks/bootstrap.sh '" +
      cluster.name + "' --apiserver-endpoint '" + cluster.endpoint + "' --b64-cluster-ca '" +
      cluster.ca + "' \\\n";
  if (dns.find(':') != std::string::npos) out += "--ip-family ipv6 \\\n";
  if (!dns.empty()) out += "--dns-cluster-ip '" + dns + "' \\\n";
  out += "--use-max-pods false \\\n--kubelet-extra-args '" + kubelet_arguments(input) + "'";
  return out + (input.raid ? " \\\n--local-disks raid0" : "") + "\n";
}

// YAML in block style. Text is written as JSON writes it, which YAML reads the same way.
void write_yaml(std::string& out, const json& value, std::size_t indent) {
  const std::string space(indent, ' ');
  const auto child = [&](const json& one) {
    if (one.is_structured() && !one.empty()) {
      out += '\n';
      write_yaml(out, one, indent + 2);
    } else {
      out += " " + one.dump() + "\n";
    }
  };
  if (value.is_object()) {
    for (const auto& [key, one] : value.items()) {
      out += space + key + ":";
      child(one);
    }
    return;
  }
  for (const json& one : value) {
    out += space + "-";
    child(one);
  }
}

std::string node_config(const UserDataInput& input) {
  const Cluster& cluster = input.cluster;
  json config = kubelet_of(input);
  if (!config.contains("clusterDNS") && !cluster.dns_ip.empty())
    config["clusterDNS"] = {cluster.dns_ip};
  config["maxPods"] = input.max_pods;
  for (const model::Taint& taint : input.taints) {
    json one = {{"effect", model::taint_effect_name(taint.effect)}, {"key", taint.key}};
    if (!taint.value.empty()) one["value"] = taint.value;
    config["registerWithTaints"].push_back(std::move(one));
  }
  json kubelet = {{"config", std::move(config)}};
  if (const std::string labels = labels_of(input); !labels.empty())
    kubelet["flags"] = {"--node-labels=\"" + labels + "\""};
  json storage = json::object();
  if (input.raid) storage["strategy"] = "RAID0";
  const json all = {{"apiVersion", "node.eks.aws/v1alpha1"},
                    {"kind", "NodeConfig"},
                    {"metadata", json::object()},
                    {"spec",
                     {{"cluster",
                       {{"apiServerEndpoint", cluster.endpoint},
                        {"certificateAuthority", cluster.ca},
                        {"cidr", cluster.service_cidr},
                        {"name", cluster.name}}},
                      {"containerd", json::object()},
                      {"instance", {{"localStorage", std::move(storage)}}},
                      {"kubelet", std::move(kubelet)}}}};
  std::string out = "# Karpenter Generated NodeConfig\n";
  write_yaml(out, all, 0);
  return out;
}

// A mapping, or nothing but comments.
bool is_node_config(const std::string& text) {
  const auto yaml = objects::parse_yaml(text);
  return yaml && (yaml->is_object() || yaml->is_null());
}

base::Result<std::string> archive(const UserDataInput& input, MimePart ours) {
  std::vector<MimePart> parts;
  if (is_mime(input.custom)) {
    auto read = read_mime(input.custom);
    if (!read) return base::fail(std::move(read.error()));
    parts = std::move(*read);
  } else if (!input.custom.empty()) {
    const bool config = input.family == Family::kAl2023 && is_node_config(input.custom);
    parts.push_back({config ? kNodeConfigPart : kShellPart, input.custom});
  }
  parts.push_back(std::move(ours));
  return write_mime(parts);
}

std::string windows(const UserDataInput& input) {
  const Cluster& cluster = input.cluster;
  std::string out = "<powershell>\n" + input.custom;
  if (!input.custom.empty() && !input.custom.ends_with('\n')) out += '\n';
  out +=
      "[string]$EKSBootstrapScriptFile = "
      "\"$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1\"\n"
      "& $EKSBootstrapScriptFile -EKSClusterName '" +
      cluster.name + "' -APIServerEndpoint '" + cluster.endpoint + "' -Base64ClusterCA '" +
      cluster.ca + "' -KubeletExtraArgs '" + kubelet_arguments(input) + "'";
  if (const std::string dns = dns_of(input, kubelet_of(input)); !dns.empty())
    out += " -DNSClusterIP '" + dns + "'";
  return out + "\n</powershell>\n";
}

base::Result<std::string> of_family(const UserDataInput& input) {
  switch (input.family) {
    case Family::kAl2:
      return archive(input, {kShellPart, script_for_al2(input)});
    case Family::kAl2023:
      return archive(input, {kNodeConfigPart, node_config(input)});
    case Family::kBottlerocket:
      return bottlerocket_settings(input);
    case Family::kCustom:
      return input.custom;
    default:
      return windows(input);
  }
}

}  // namespace

base::Result<std::string> user_data(const UserDataInput& input) {
  auto text = of_family(input);
  if (text && text->size() > kUserDataBytesMax)
    return base::fail(base::Kind::kInvalid,
                      "userData: " + std::to_string(text->size()) +
                          " bytes with what karst adds: " + std::string(kUserDataTooLong));
  return text;
}

bool kubelet_may_set(std::string_view label) {
  const std::size_t slash = label.find('/');
  if (slash == std::string_view::npos) return true;
  const std::string_view domain = label.substr(0, slash);
  for (const std::string_view own : {"kubernetes.io", "k8s.io"})
    if (domain == own || domain.ends_with("." + std::string(own))) return false;
  return true;
}

std::string kubelet_arguments(const UserDataInput& input) {
  const json kubelet = kubelet_of(input);
  std::string out;
  const auto add = [&](const std::string& argument) { out += (out.empty() ? "" : " ") + argument; };
  const auto add_value = [&](const char* key, const char* flag) {
    if (kubelet.contains(key) && !kubelet[key].is_null())
      add(std::string(flag) + "=" + kubelet[key].dump());
  };
  const auto add_map = [&](const char* key, const char* flag, const char* between) {
    if (kubelet.contains(key) && kubelet[key].is_object() && !kubelet[key].empty())
      add(std::string(flag) + "=\"" + joined(kubelet[key], between) + "\"");
  };
  if (const std::string labels = labels_of(input); !labels.empty())
    add("--node-labels=\"" + labels + "\"");
  std::string taints;
  for (const model::Taint& taint : input.taints)
    taints += (taints.empty() ? "" : ",") + taint.key + (taint.value.empty() ? "" : "=") +
              taint.value + ":" + std::string(model::taint_effect_name(taint.effect));
  if (!taints.empty()) add("--register-with-taints=\"" + taints + "\"");
  add("--max-pods=" + std::to_string(input.max_pods));
  add_value("podsPerCore", "--pods-per-core");
  add_map("systemReserved", "--system-reserved", "=");
  add_map("kubeReserved", "--kube-reserved", "=");
  add_map("evictionHard", "--eviction-hard", "<");
  add_map("evictionSoft", "--eviction-soft", "<");
  add_map("evictionSoftGracePeriod", "--eviction-soft-grace-period", "=");
  add_value("evictionMaxPodGracePeriod", "--eviction-max-pod-grace-period");
  add_value("imageGCHighThresholdPercent", "--image-gc-high-threshold");
  add_value("imageGCLowThresholdPercent", "--image-gc-low-threshold");
  add_value("cpuCFSQuota", "--cpu-cfs-quota");
  return out;
}

}  // namespace karst::providers::aws
