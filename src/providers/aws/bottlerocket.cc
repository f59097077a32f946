#include "providers/aws/bottlerocket.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>

#include "providers/aws/toml.h"

namespace karst::providers::aws {
namespace {

using nlohmann::json;

const TomlPath kKubernetes = {"settings", "kubernetes"};
const TomlPath kMount = {"settings", "bootstrap-commands", "000-mount-instance-storage"};
constexpr int kDirsKnownSinceMinor = 46;  // of 1.46: before, the directories must be named

// Keys of settings.kubernetes that stay; others are dropped. Sorted.
constexpr std::string_view kKnown[] = {
    "allowed-unsafe-sysctls",
    "api-server",
    "cloud-provider",
    "cluster-certificate",
    "cluster-dns-ip",
    "cluster-domain",
    "cluster-name",
    "container-log-max-files",
    "container-log-max-size",
    "container-log-max-workers",
    "container-log-monitor-interval",
    "cpu-cfs-quota-enforced",
    "cpu-manager-policy",
    "cpu-manager-policy-options",
    "cpu-manager-reconcile-period",
    "credential-providers",
    "device-ownership-from-security-context",
    "event-burst",
    "event-qps",
    "eviction-hard",
    "eviction-max-pod-grace-period",
    "eviction-soft",
    "eviction-soft-grace-period",
    "hostname-override-source",
    "ids-per-pod",
    "image-gc-high-threshold-percent",
    "image-gc-low-threshold-percent",
    "kube-api-burst",
    "kube-api-qps",
    "kube-reserved",
    "log-level",
    "max-pods",
    "memory-manager-policy",
    "memory-manager-reserved-memory",
    "node-labels",
    "node-taints",
    "pod-pids-limit",
    "registry-burst",
    "registry-qps",
    "seccomp-default",
    "server-tls-bootstrap",
    "shutdown-grace-period",
    "shutdown-grace-period-for-critical-pods",
    "single-process-oom-kill",
    "static-pods",
    "system-reserved",
    "topology-manager-policy",
    "topology-manager-policy-options",
    "topology-manager-scope",
};

bool starts_with(const TomlPath& path, const TomlPath& prefix) {
  return path.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), path.begin());
}

TomlPath operator+(TomlPath a, const TomlPath& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// What is below settings.kubernetes, by the path from there, raw.
using Settings = std::map<TomlPath, std::string>;

// Sorts one entry: into `kubernetes`, or into what stays. Inline tables on the way to
// settings.kubernetes, and in it, are taken apart.
base::Status sort_entry(const TomlPath& table, const TomlPath& key, const std::string& raw,
                        Settings& kubernetes,
                        std::vector<std::pair<TomlPath, std::string>>& stays) {
  const TomlPath path = table + key;
  const bool inside = starts_with(path, kKubernetes);
  const bool above = starts_with(kKubernetes, path);
  if (raw.starts_with('{') && (inside || above)) {
    const auto entries = read_inline_table(raw);
    if (!entries) return base::fail(entries.error());
    for (const auto& [name, value] : *entries)
      KARST_TRY(sort_entry(table, key + name, value, kubernetes, stays));
    return {};
  }
  if (inside && path.size() > kKubernetes.size())
    kubernetes[TomlPath(path.begin() + static_cast<std::ptrdiff_t>(kKubernetes.size()),
                        path.end())] = raw;
  else if (!starts_with(path, kMount))
    stays.emplace_back(key, raw);
  return {};
}

void set_map(Settings& out, const json& kubelet, const char* key, const char* name) {
  const auto at = kubelet.find(key);
  if (at == kubelet.end() || !at->is_object()) return;
  std::erase_if(out, [&](const auto& entry) { return entry.first.front() == name; });
  for (const auto& [one, value] : at->items())
    out[{name, one}] = toml_text(value.get<std::string>());
}

void set_kubelet(Settings& out, const json& kubelet) {
  set_map(out, kubelet, "evictionHard", "eviction-hard");
  set_map(out, kubelet, "evictionSoft", "eviction-soft");
  set_map(out, kubelet, "evictionSoftGracePeriod", "eviction-soft-grace-period");
  set_map(out, kubelet, "kubeReserved", "kube-reserved");
  set_map(out, kubelet, "systemReserved", "system-reserved");
  const auto set = [&](const char* key, const char* name, bool as_text) {
    if (!kubelet.contains(key) || kubelet[key].is_null()) return;
    const std::string value = kubelet[key].dump();
    out[{name}] = as_text ? toml_text(value) : value;
  };
  set("evictionMaxPodGracePeriod", "eviction-max-pod-grace-period", false);
  set("imageGCHighThresholdPercent", "image-gc-high-threshold-percent", true);
  set("imageGCLowThresholdPercent", "image-gc-low-threshold-percent", true);
  set("cpuCFSQuota", "cpu-cfs-quota-enforced", false);
}

void set_ours(Settings& out, const UserDataInput& input) {
  json kubelet = json::parse(input.kubelet_json, nullptr, /*allow_exceptions=*/false);
  if (!kubelet.is_object()) kubelet = json::object();
  out[{"api-server"}] = toml_text(input.cluster.endpoint);
  out[{"cluster-certificate"}] = toml_text(input.cluster.ca);
  out[{"cluster-name"}] = toml_text(input.cluster.name);
  const bool own_dns = kubelet.contains("clusterDNS") && !kubelet["clusterDNS"].empty();
  if (own_dns)
    out[{"cluster-dns-ip"}] = toml_text(kubelet["clusterDNS"].front().get<std::string>());
  else if (!input.cluster.dns_ip.empty())
    out[{"cluster-dns-ip"}] = toml_text(input.cluster.dns_ip);
  out[{"max-pods"}] = std::to_string(input.max_pods);
  for (const auto& [key, value] : input.labels)
    if (kubelet_may_set(key)) out[{"node-labels", key}] = toml_text(value);
  std::erase_if(out, [](const auto& entry) { return entry.first.front() == "node-taints"; });
  std::map<std::string, std::string> taints;
  for (const model::Taint& taint : input.taints) {
    std::string& list = taints[taint.key];
    list += (list.empty() ? "" : ", ") +
            toml_text(taint.value + ":" + std::string(model::taint_effect_name(taint.effect)));
  }
  for (const auto& [key, list] : taints) out[{"node-taints", key}] = "[" + list + "]";
  set_kubelet(out, kubelet);
}

void write_entries(std::string& out, const TomlTable& table) {
  if (table.entries.empty() && !table.of_array) return;
  const std::string header = "[" + toml_key(table.path) + "]";
  if (!table.path.empty()) out += (table.element ? "[" + header + "]" : header) + "\n";
  for (const auto& [key, raw] : table.entries) out += toml_key(key) + " = " + raw + "\n";
}

void write_settings(std::string& out, const Settings& kubernetes) {
  std::map<TomlPath, std::map<std::string, std::string>> tables;
  for (const auto& [path, raw] : kubernetes)
    tables[TomlPath(path.begin(), path.end() - 1)][path.back()] = raw;
  for (const auto& [path, entries] : tables) {
    out += "[" + toml_key(kKubernetes + path) + "]\n";
    for (const auto& [key, raw] : entries) out += toml_key(key) + " = " + raw + "\n";
  }
}

// Images before 1.46, and those whose version nobody knows, must be told what to bind.
bool dirs_needed(std::string version) {
  if (version == "latest") return false;
  if (version.starts_with('v')) version.erase(0, 1);
  const std::size_t dot = version.find('.');
  if (dot == std::string::npos) return true;
  int minor = 0;
  std::from_chars(version.data() + dot + 1, version.data() + version.size(), minor);
  return version.substr(0, dot) == "1" && minor < kDirsKnownSinceMinor;
}

void write_mount(std::string& out, const UserDataInput& input) {
  out += "[" + toml_key(kMount) +
         "]\ncommands = [[\"apiclient\", \"ephemeral-storage\", \"init\"], "
         "[\"apiclient\", \"ephemeral-storage\", \"bind\"";
  if (dirs_needed(input.alias_version))
    out +=
        ", \"--dirs\", \"/var/lib/containerd\", \"/var/lib/kubelet\", "
        "\"/var/log/pods\"";
  out += "]]\nessential = true\nmode = \"always\"\n";
}

}  // namespace

base::Result<std::string> bottlerocket_settings(const UserDataInput& input) {
  auto tables = read_toml(input.custom);
  if (!tables) return base::fail(std::move(tables.error()));
  Settings kubernetes;
  std::string out;
  std::string arrays;
  for (const TomlTable& table : *tables) {
    TomlTable rest{table.path, table.element, table.of_array, {}};
    if (table.of_array)
      rest.entries = table.entries;
    else
      for (const auto& [key, raw] : table.entries)
        KARST_TRY(sort_entry(table.path, key, raw, kubernetes, rest.entries));
    write_entries(table.of_array ? arrays : out, rest);
  }
  std::erase_if(kubernetes, [](const auto& entry) {
    return !std::binary_search(std::begin(kKnown), std::end(kKnown), entry.first.front());
  });
  set_ours(kubernetes, input);
  write_settings(out, kubernetes);
  if (input.raid) write_mount(out, input);
  return out + arrays;
}

}  // namespace karst::providers::aws
