#include "providers/aws/kubelet.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "base/time.h"
#include "base/utf8.h"
#include "model/quantity.h"
#include "providers/aws/text.h"

namespace karst::providers::aws {
namespace {

using nlohmann::json;

constexpr std::int64_t kPercentMax = 100;
constexpr std::int64_t kPercentMillisMax = 100'000;

// Type: s text, b boolean, i 32 bits, l 64 bits, n number, d Go duration, m map to text, M map to
// boolean, S list of text, O object, L list.
struct Field {
  std::string_view name;
  char type;
};
// Sorted.
constexpr Field kFields[] = {
    {"address", 's'},
    {"allowedUnsafeSysctls", 'S'},
    {"authentication", 'O'},
    {"authorization", 'O'},
    {"cgroupDriver", 's'},
    {"cgroupRoot", 's'},
    {"cgroupsPerQOS", 'b'},
    {"clusterDNS", 'S'},
    {"clusterDomain", 's'},
    {"configMapAndSecretChangeDetectionStrategy", 's'},
    {"containerLogMaxFiles", 'i'},
    {"containerLogMaxSize", 's'},
    {"containerLogMaxWorkers", 'i'},
    {"containerLogMonitorInterval", 'd'},
    {"containerRuntimeEndpoint", 's'},
    {"contentType", 's'},
    {"cpuCFSQuota", 'b'},
    {"cpuCFSQuotaPeriod", 'd'},
    {"cpuManagerPolicy", 's'},
    {"cpuManagerPolicyOptions", 'm'},
    {"cpuManagerReconcilePeriod", 'd'},
    {"crashLoopBackOff", 'O'},
    {"enableContentionProfiling", 'b'},
    {"enableControllerAttachDetach", 'b'},
    {"enableDebugFlagsHandler", 'b'},
    {"enableDebuggingHandlers", 'b'},
    {"enableProfilingHandler", 'b'},
    {"enableServer", 'b'},
    {"enableSystemLogHandler", 'b'},
    {"enableSystemLogQuery", 'b'},
    {"enforceNodeAllocatable", 'S'},
    {"eventBurst", 'i'},
    {"eventRecordQPS", 'i'},
    {"evictionHard", 'm'},
    {"evictionMaxPodGracePeriod", 'i'},
    {"evictionMinimumReclaim", 'm'},
    {"evictionPressureTransitionPeriod", 'd'},
    {"evictionSoft", 'm'},
    {"evictionSoftGracePeriod", 'm'},
    {"failCgroupV1", 'b'},
    {"failSwapOn", 'b'},
    {"featureGates", 'M'},
    {"fileCheckFrequency", 'd'},
    {"hairpinMode", 's'},
    {"healthzBindAddress", 's'},
    {"healthzPort", 'i'},
    {"httpCheckFrequency", 'd'},
    {"imageGCHighThresholdPercent", 'i'},
    {"imageGCLowThresholdPercent", 'i'},
    {"imageMaximumGCAge", 'd'},
    {"imageMinimumGCAge", 'd'},
    {"imagePullCredentialsVerificationPolicy", 's'},
    {"imageServiceEndpoint", 's'},
    {"iptablesDropBit", 'i'},
    {"iptablesMasqueradeBit", 'i'},
    {"kernelMemcgNotification", 'b'},
    {"kubeAPIBurst", 'i'},
    {"kubeAPIQPS", 'i'},
    {"kubeReserved", 'm'},
    {"kubeReservedCgroup", 's'},
    {"kubeletCgroups", 's'},
    {"localStorageCapacityIsolation", 'b'},
    {"logging", 'O'},
    {"makeIPTablesUtilChains", 'b'},
    {"maxOpenFiles", 'l'},
    {"maxParallelImagePulls", 'i'},
    {"maxPods", 'i'},
    {"memoryManagerPolicy", 's'},
    {"memorySwap", 'O'},
    {"memoryThrottlingFactor", 'n'},
    {"mergeDefaultEvictionSettings", 'b'},
    {"nodeLeaseDurationSeconds", 'i'},
    {"nodeStatusMaxImages", 'i'},
    {"nodeStatusReportFrequency", 'd'},
    {"nodeStatusUpdateFrequency", 'd'},
    {"oomScoreAdj", 'i'},
    {"podCIDR", 's'},
    {"podLogsDir", 's'},
    {"podPidsLimit", 'l'},
    {"podsPerCore", 'i'},
    {"port", 'i'},
    {"preloadedImagesVerificationAllowlist", 'S'},
    {"protectKernelDefaults", 'b'},
    {"providerID", 's'},
    {"qosReserved", 'm'},
    {"readOnlyPort", 'i'},
    {"registerNode", 'b'},
    {"registerWithTaints", 'L'},
    {"registryBurst", 'i'},
    {"registryPullQPS", 'i'},
    {"reservedMemory", 'L'},
    {"reservedSystemCPUs", 's'},
    {"resolvConf", 's'},
    {"rotateCertificates", 'b'},
    {"runOnce", 'b'},
    {"runtimeRequestTimeout", 'd'},
    {"seccompDefault", 'b'},
    {"serializeImagePulls", 'b'},
    {"serverTLSBootstrap", 'b'},
    {"showHiddenMetricsForVersion", 's'},
    {"shutdownGracePeriod", 'd'},
    {"shutdownGracePeriodByPodPriority", 'L'},
    {"shutdownGracePeriodCriticalPods", 'd'},
    {"singleProcessOOMKill", 'b'},
    {"staticPodPath", 's'},
    {"staticPodURL", 's'},
    {"staticPodURLHeader", 'O'},
    {"streamingConnectionIdleTimeout", 'd'},
    {"syncFrequency", 'd'},
    {"systemCgroups", 's'},
    {"systemReserved", 'm'},
    {"systemReservedCgroup", 's'},
    {"tlsCertFile", 's'},
    {"tlsCipherSuites", 'S'},
    {"tlsMinVersion", 's'},
    {"tlsPrivateKeyFile", 's'},
    {"topologyManagerPolicy", 's'},
    {"topologyManagerPolicyOptions", 'm'},
    {"topologyManagerScope", 's'},
    {"tracing", 'O'},
    {"userNamespaces", 'O'},
    {"volumePluginDir", 's'},
    {"volumeStatsAggPeriod", 'd'},
};
static_assert(std::is_sorted(std::begin(kFields), std::end(kFields),
                             [](const Field& a, const Field& b) { return a.name < b.name; }));

constexpr std::string_view kManaged[] = {
    "clusterDNS",
    "cpuCFSQuota",
    "evictionHard",
    "evictionMaxPodGracePeriod",
    "evictionSoft",
    "evictionSoftGracePeriod",
    "imageGCHighThresholdPercent",
    "imageGCLowThresholdPercent",
    "kubeReserved",
    "maxPods",
    "podsPerCore",
    "systemReserved",
};
constexpr std::string_view kSignals[] = {"imagefs.available", "imagefs.inodesFree",
                                         "memory.available",  "nodefs.available",
                                         "nodefs.inodesFree", "pid.available"};
constexpr std::string_view kReservable[] = {"cpu", "ephemeral-storage", "memory", "pid"};

Finding invalid(std::string message) {
  return {"InvalidKubeletConfiguration", "kubelet." + std::move(message)};
}
Finding unsupported(std::string message) {
  return {"UnsupportedKubeletConfiguration", "kubelet." + std::move(message)};
}

bool is_whole(const json& value, std::int64_t least, std::int64_t most) {
  if (!value.is_number_integer()) return false;
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(most))
    return false;
  const auto number = value.get<std::int64_t>();
  return number >= least && number <= most;
}

template <class Predicate>
bool all_of(const json& list, Predicate is) {
  return std::all_of(list.begin(), list.end(), is);
}

// What the type demands; empty when the value is of it.
std::string_view demanded(const json& value, char type) {
  const auto text = [](const json& one) { return one.is_string(); };
  const auto boolean = [](const json& one) { return one.is_boolean(); };
  using Int = std::numeric_limits<std::int32_t>;
  using Long = std::numeric_limits<std::int64_t>;
  const auto must = [](bool holds, std::string_view what) {
    return holds ? std::string_view() : what;
  };
  switch (type) {
    case 's':
      return must(value.is_string(), "text");
    case 'b':
      return must(value.is_boolean(), "true or false");
    case 'i':
      return must(is_whole(value, Int::min(), Int::max()), "a whole number of 32 bits");
    case 'l':
      return must(is_whole(value, Long::min(), Long::max()), "a whole number");
    case 'n':
      return must(value.is_number(), "a number");
    case 'd':
      return must(value.is_string() && base::parse_go_duration_millis(value.get<std::string>()),
                  "a duration such as 30s");
    case 'm':
      return must(value.is_object() && all_of(value, text), "a map to text");
    case 'M':
      return must(value.is_object() && all_of(value, boolean), "a map to true or false");
    case 'S':
      return must(value.is_array() && all_of(value, text), "a list of text");
    case 'L':
      return must(value.is_array(), "a list");
    default:
      return must(value.is_object(), "a map");
  }
}

std::optional<Finding> check_types(const json& kubelet) {
  for (const auto& [key, value] : kubelet.items()) {
    const auto at =
        std::lower_bound(std::begin(kFields), std::end(kFields), key,
                         [](const Field& field, const std::string& k) { return field.name < k; });
    if (at == std::end(kFields) || at->name != key)
      return invalid(std::string(base::cut_utf8(key, 80)) +
                     ": KubeletConfiguration v1beta1 has no such field");
    if (const auto what = demanded(value, at->type); !value.is_null() && !what.empty())
      return invalid(key + ": expected " + std::string(what));
  }
  return std::nullopt;
}

bool is_threshold(std::string text) {
  const bool percent = text.ends_with('%');
  if (percent) text.pop_back();
  const auto millis = model::parse_quantity_millis(text, model::Rounding::kUp);
  return millis && (!percent || *millis <= kPercentMillisMax);
}

const json& map_of(const json& kubelet, const char* key) {
  static const json kNone = json::object();
  const auto at = kubelet.find(key);
  return at != kubelet.end() && at->is_object() ? *at : kNone;
}

std::optional<Finding> check_eviction(const json& kubelet) {
  for (const char* name : {"evictionHard", "evictionSoft", "evictionSoftGracePeriod"})
    for (const auto& [key, value] : map_of(kubelet, name).items()) {
      const std::string where = std::string(name) + "." + std::string(base::cut_utf8(key, 80));
      if (!is_one_of(key, kSignals)) return invalid(where + ": no signal of kubelet's");
      const auto text = value.get<std::string>();
      const bool grace = std::string_view(name) == "evictionSoftGracePeriod";
      if (grace && !base::parse_go_duration_millis(text))
        return invalid(where + ": expected a duration such as 1m30s");
      if (!grace && !is_threshold(text))
        return invalid(where + ": expected 0% to 100%, or an amount such as 100Mi");
    }
  const auto keys = [](const json& map) {
    std::set<std::string> all;
    for (const auto& [key, value] : map.items()) all.insert(key);
    return all;
  };
  if (keys(map_of(kubelet, "evictionSoft")) != keys(map_of(kubelet, "evictionSoftGracePeriod")))
    return invalid("evictionSoft: must have the keys of evictionSoftGracePeriod, and no others");
  return std::nullopt;
}

std::optional<Finding> check_reserved(const json& kubelet) {
  for (const char* name : {"kubeReserved", "systemReserved"})
    for (const auto& [key, value] : map_of(kubelet, name).items()) {
      const std::string where = std::string(name) + "." + std::string(base::cut_utf8(key, 80));
      if (!is_one_of(key, kReservable))
        return invalid(where + ": expected cpu, memory, ephemeral-storage or pid");
      if (!model::parse_quantity_millis(value.get<std::string>(), model::Rounding::kUp))
        return invalid(where + ": expected an amount from 0");
    }
  return std::nullopt;
}

std::optional<Finding> check_values(const json& kubelet) {
  if (kubelet.contains("registerWithTaints"))
    return invalid("registerWithTaints: taints belong into the NodePool");
  const auto number = [&](const char* key, std::int64_t otherwise) {
    const auto at = kubelet.find(key);
    return at != kubelet.end() && at->is_number_integer() ? at->get<std::int64_t>() : otherwise;
  };
  for (const char* key : {"maxPods", "podsPerCore", "evictionMaxPodGracePeriod"})
    if (number(key, 0) < 0) return invalid(std::string(key) + ": expected a whole number from 0");
  if (auto found = check_eviction(kubelet)) return found;
  if (auto found = check_reserved(kubelet)) return found;
  const char* high = "imageGCHighThresholdPercent";
  const char* low = "imageGCLowThresholdPercent";
  for (const char* key : {high, low})
    if (number(key, 0) < 0 || number(key, 0) > kPercentMax)
      return invalid(std::string(key) + ": expected 0 to 100");
  if (kubelet.contains(high) && kubelet.contains(low) && number(high, 0) <= number(low, 0))
    return invalid("imageGCHighThresholdPercent: must be above imageGCLowThresholdPercent");
  return std::nullopt;
}

std::optional<Finding> check_family(const json& kubelet, Family family) {
  if (family == Family::kAl2023 || family == Family::kCustom) return std::nullopt;
  for (const auto& [key, value] : kubelet.items())
    if (!is_managed_kubelet_key(key))
      return unsupported(std::string(base::cut_utf8(key, 80)) +
                         ": only the family AL2023 takes it");
  if (family == Family::kBottlerocket && kubelet.contains("podsPerCore"))
    return unsupported("podsPerCore: Bottlerocket does not take it");
  if (kubelet.contains("clusterDNS") && kubelet["clusterDNS"].size() > 1)
    return unsupported("clusterDNS: only the family AL2023 takes more than one address");
  return std::nullopt;
}

}  // namespace

std::optional<Finding> check_kubelet(std::string_view kubelet_json, Family family) {
  if (kubelet_json.empty()) return std::nullopt;
  const json kubelet = json::parse(kubelet_json, nullptr, /*allow_exceptions=*/false);
  if (!kubelet.is_object())
    return Finding{"InvalidKubeletConfiguration", "kubelet: expected a map"};
  if (auto found = check_types(kubelet)) return found;
  if (auto found = check_values(kubelet)) return found;
  return check_family(kubelet, family);
}

bool is_managed_kubelet_key(std::string_view key) {
  return is_one_of(key, kManaged);
}

}  // namespace karst::providers::aws
