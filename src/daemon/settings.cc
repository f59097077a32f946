#include "daemon/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/time.h"
#include "objects/scheduler_config.h"

namespace karst::daemon {
namespace {

using Kind = SettingKind;

constexpr std::string_view kTypesFile = "INSTANCE_TYPES_FILE_PATH";

// Karpenter's core (1.14), then its AWS half.
constexpr SettingRow kRows[] = {
    {"METRICS_PORT", Kind::kPort, "8080", true, "where /metrics is served, beside --listen's host"},
    {"HEALTH_PROBE_PORT", Kind::kPort, "8081", true, "where /healthz and /readyz are served"},
    {"LOG_LEVEL", Kind::kChoice, "info", true, "debug,info,warn,error: the least that is logged"},
    {"LOG_OUTPUT_PATHS", Kind::kText, "stdout", true, "stdout, stderr or files, comma between"},
    {"LOG_ERROR_OUTPUT_PATHS", Kind::kText, "stderr", false, "of the logger's own errors"},
    {"BATCH_MAX_DURATION", Kind::kDuration, "10s", true, "pending pods wait at most so long"},
    {"BATCH_IDLE_DURATION", Kind::kDuration, "1s", true, "a batch ends after so long without more"},
    {"PREFERENCE_POLICY", Kind::kChoice, "Respect", true, "Respect,Ignore: preferred terms"},
    {"MIN_VALUES_POLICY", Kind::kChoice, "Strict", true, "Strict,BestEffort: of requirements"},
    {"FEATURE_GATES", Kind::kGates, "", true, "Name=true,Name=false"},
    {"IGNORE_DRA_REQUESTS", Kind::kBool, "true", true, "pods with resource claims are left alone"},
    {"DISABLE_CLUSTER_STATE_OBSERVABILITY", Kind::kBool, "false", true,
     "no metrics per pod, node or pool"},
    {"DISABLE_LEADER_ELECTION", Kind::kBool, "false", true, "act without the lease"},
    {"LEADER_ELECTION_NAME", Kind::kText, "karpenter-leader-election", true, "of the lease"},
    {"LEADER_ELECTION_NAMESPACE", Kind::kText, "", true,
     "of the lease; default: the pod's; kube-system outside a cluster"},
    {kTypesFile, Kind::kText, "", true, "kwok: the types of its machines"},
    {"KARPENTER_SERVICE", Kind::kText, "", false, "name of the service"},
    {"KUBERNETES_MIN_VERSION", Kind::kText, "1.19.0-0", false, "the server's kinds are looked at"},
    {"SYSTEM_NAMESPACE", Kind::kText, "", false, "the pod's service account says it"},
    {"KUBE_CLIENT_QPS", Kind::kNumber, "200", false, "the server's flow control is heeded instead"},
    {"KUBE_CLIENT_BURST", Kind::kNumber, "300", false, "as above"},
    {"ENABLE_PROFILING", Kind::kBool, "false", false, "Go's profiles"},
    {"DISABLE_CONTROLLER_WARMUP", Kind::kBool, "true", false, "a standby always follows"},
    {"MEMORY_LIMIT", Kind::kNumber, "-1", false, "of Go's collector"},
    {"CPU_REQUESTS", Kind::kNumber, "1000", false, "one thread decides"},
    {"SCHEDULER_CONFIG", Kind::kSpread, "", true,
     "the YAML itself, no file: default topology spreads, of pods of Deployments and StatefulSets"},
    {"CLUSTER_NAME", Kind::kText, "", true, "aws: of the cluster; in the tags of its machines"},
    {"CLUSTER_ENDPOINT", Kind::kText, "", true, "aws: for new machines; default: EKS is asked"},
    {"CLUSTER_CA_BUNDLE", Kind::kText, "", true, "aws: base64, likewise"},
    {"INTERRUPTION_QUEUE", Kind::kText, "", true, "aws: name of the SQS queue; empty: none"},
    {"VM_MEMORY_OVERHEAD_PERCENT", Kind::kShare, "0.075", true,
     "aws: of a machine's memory, what its hypervisor keeps"},
    {"RESERVED_ENIS", Kind::kCount, "0", true, "aws: network interfaces that are not for pods"},
    {"ISOLATED_VPC", Kind::kBool, "false", true, "aws: the price list is not asked"},
    {"EKS_CONTROL_PLANE", Kind::kBool, "false", true, "aws: EKS says which version it has"},
    {"ENABLE_ZONAL_SHIFT", Kind::kBool, "false", true, "aws: nothing is bought in shifted zones"},
    {"DISABLE_DRY_RUN", Kind::kBool, "false", true, "aws: EC2 is not asked if it would launch"},
    {"AMI_REFRESH_INTERVAL", Kind::kInterval, "1m", true, "aws: images are asked for so often"},
    {"SUBNET_REFRESH_INTERVAL", Kind::kInterval, "1m", true, "aws: subnets likewise; 1m or more"},
    {"AWS_FEATURE_GATES", Kind::kText, "", false, "AWS"},
};

constexpr std::pair<std::string_view, bool Settings::*> kGates[] = {
    {"NodeRepair", &Settings::node_repair},
    {"ReservedCapacity", &Settings::reserved_capacity},
    {"SpotToSpotConsolidation", &Settings::spot_to_spot_consolidation},
    {"NodeOverlay", &Settings::node_overlay},
    {"StaticCapacity", &Settings::static_capacity},
    {"CapacityBuffer", &Settings::capacity_buffer},
};

std::string_view trimmed(std::string_view text) {
  const auto from = text.find_first_not_of(" \t");
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(" \t") - from + 1);
}

std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const std::string_view part = trimmed(text.substr(0, comma));
    if (!part.empty()) parts.emplace_back(part);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return parts;
}

// What Go's strconv.ParseBool takes.
std::optional<bool> parse_bool(std::string_view text) {
  for (const std::string_view word : {"1", "t", "T", "true", "TRUE", "True"})
    if (text == word) return true;
  for (const std::string_view word : {"0", "f", "F", "false", "FALSE", "False"})
    if (text == word) return false;
  return std::nullopt;
}

std::optional<int> parse_port(std::string_view text) {
  int port = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), port);
  const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
  return whole && port >= 0 && port <= 65535 ? std::optional<int>(port) : std::nullopt;
}

bool is_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  std::size_t points = 0, digits = 0;
  for (const char c : text) {
    points += c == '.' ? 1 : 0;
    digits += c >= '0' && c <= '9' ? 1 : 0;
  }
  return digits > 0 && points <= 1 && points + digits == text.size();
}

constexpr std::int64_t kMillion = 1'000'000;
constexpr int kCountMax = 1'000;

// "0.075" as 75,000 of a million; digits beyond the sixth are cut. 0 or more, and below 1.
std::optional<std::int64_t> parse_share_ppm(std::string_view text) {
  if (!is_number(text) || text.starts_with('-')) return std::nullopt;
  const auto point = std::min(text.find('.'), text.size());
  if (text.substr(0, point).find_first_not_of('0') != std::string_view::npos) return std::nullopt;
  std::int64_t share = 0, unit = kMillion;
  for (const char c : text.substr(std::min(point + 1, text.size())))
    share += (unit /= 10) * (c - '0');
  return share;
}

std::optional<int> parse_count(std::string_view text) {
  int count = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), count);
  const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
  return whole && count >= 0 && count <= kCountMax ? std::optional<int>(count) : std::nullopt;
}

std::vector<std::string> choices_of(const SettingRow& row) {
  return parts_of(row.meaning.substr(0, row.meaning.find(':')));
}

// What is wrong with `text`; empty when nothing is.
std::string fault_of(const SettingRow& row, const std::string& text) {
  switch (row.kind) {
    case Kind::kText:
      return "";
    case Kind::kBool:
      return parse_bool(text) ? "" : "expected true or false";
    case Kind::kNumber:
      return is_number(text) ? "" : "expected a number";
    case Kind::kShare:
      return parse_share_ppm(text) ? "" : "expected a share such as 0.075, below 1";
    case Kind::kCount:
      return parse_count(text) ? "" : fmt::format("expected a count, 0 to {}", kCountMax);
    case Kind::kPort:
      return parse_port(text) ? "" : "expected a port, 0 to 65535";
    case Kind::kDuration:
      return base::parse_go_duration_millis(text) ? "" : "expected a duration such as 10s or 1m30s";
    case Kind::kInterval:
      return base::parse_go_duration_millis(text).value_or(0) >= base::kMillisPerMinute
                 ? ""
                 : "expected a duration of 1m or more";
    case Kind::kChoice: {
      const auto choices = choices_of(row);
      const bool known = std::find(choices.begin(), choices.end(), text) != choices.end();
      return known ? "" : fmt::format("expected {}", fmt::join(choices, " or "));
    }
    case Kind::kSpread:  // says itself where in the text it is wrong
      return "";
    case Kind::kGates:
      break;
  }
  for (const std::string& part : parts_of(text)) {
    const auto equals = part.find('=');
    const std::string_view name = trimmed(std::string_view(part).substr(0, equals));
    std::vector<std::string_view> names;
    for (const auto& [gate, member] : kGates) names.push_back(gate);
    // Drift was a gate until Karpenter 1.0 made it a part of the product.
    if (name != "Drift" && std::find(names.begin(), names.end(), name) == names.end())
      return fmt::format("there is no gate {}; there are: {}", name, fmt::join(names, ", "));
    if (equals == std::string::npos ||
        !parse_bool(trimmed(std::string_view(part).substr(equals + 1))))
      return fmt::format("expected {}=true or {}=false", name, name);
  }
  return "";
}

class Given {
 public:
  void set(const SettingRow& row, std::string text) { texts_[row.variable] = std::move(text); }
  const std::string* find(std::string_view variable) const {
    const auto at = texts_.find(variable);
    return at == texts_.end() ? nullptr : &at->second;
  }
  void take(std::string_view variable, bool& out) const {
    if (const std::string* text = find(variable)) out = *parse_bool(*text);
  }
  void take(std::string_view variable, std::string& out) const {
    if (const std::string* text = find(variable)) out = *text;
  }
  void take(std::string_view variable, std::optional<int>& out) const {
    if (const std::string* text = find(variable)) out = parse_port(*text);
  }
  void take_share(std::string_view variable, std::int64_t& out_ppm) const {
    if (const std::string* text = find(variable)) out_ppm = *parse_share_ppm(*text);
  }
  void take_count(std::string_view variable, int& out) const {
    if (const std::string* text = find(variable)) out = *parse_count(*text);
  }
  void take_millis(std::string_view variable, std::int64_t& out) const {
    if (const std::string* text = find(variable)) out = *base::parse_go_duration_millis(*text);
  }
  bool is(std::string_view variable, std::string_view word) const {
    const std::string* text = find(variable);
    return text != nullptr && *text == word;
  }

 private:
  std::map<std::string_view, std::string> texts_;
};

void take_gates(const Given& given, Settings& settings) {
  const std::string* text = given.find("FEATURE_GATES");
  if (text == nullptr) return;
  for (const std::string& part : parts_of(*text)) {
    const auto equals = part.find('=');
    const std::string_view name = trimmed(std::string_view(part).substr(0, equals));
    const bool on = *parse_bool(trimmed(std::string_view(part).substr(equals + 1)));
    for (const auto& [gate, member] : kGates)
      if (gate == name) settings.*member = on;
    if (name == "Drift" && !on) settings.without_effect.emplace_back("FEATURE_GATES Drift");
  }
}

// As `aws … --output json` prints a text.
std::string without_quotes(std::string text) {
  if (text.size() < 2 || !text.starts_with('"') || !text.ends_with('"')) return text;
  return text.substr(1, text.size() - 2);
}

Settings settings_of(const Given& given) {
  Settings settings;
  given.take("METRICS_PORT", settings.metrics_port);
  given.take("HEALTH_PROBE_PORT", settings.health_probe_port);
  if (given.is("LOG_LEVEL", "debug")) settings.log_level = LogLevel::kDebug;
  if (given.is("LOG_LEVEL", "warn")) settings.log_level = LogLevel::kWarn;
  if (given.is("LOG_LEVEL", "error")) settings.log_level = LogLevel::kError;
  if (const std::string* paths = given.find("LOG_OUTPUT_PATHS"))
    settings.log_paths = parts_of(*paths);
  given.take_millis("BATCH_MAX_DURATION", settings.batch_max_millis);
  given.take_millis("BATCH_IDLE_DURATION", settings.batch_idle_millis);
  settings.preferences_ignored = given.is("PREFERENCE_POLICY", "Ignore");
  settings.min_values_best_effort = given.is("MIN_VALUES_POLICY", "BestEffort");
  if (const std::string* text = given.find("SCHEDULER_CONFIG"))
    settings.default_spread = *objects::read_scheduler_config("SCHEDULER_CONFIG", *text);
  given.take("IGNORE_DRA_REQUESTS", settings.ignore_dra_requests);
  given.take("DISABLE_CLUSTER_STATE_OBSERVABILITY", settings.disable_cluster_state_observability);
  bool alone = false;
  given.take("DISABLE_LEADER_ELECTION", alone);
  settings.leader_election = !alone;
  given.take("LEADER_ELECTION_NAME", settings.lease_name);
  given.take("LEADER_ELECTION_NAMESPACE", settings.lease_namespace);
  given.take(kTypesFile, settings.instance_types_file);
  given.take("CLUSTER_NAME", settings.cluster_name);
  given.take("CLUSTER_ENDPOINT", settings.cluster_endpoint);
  settings.cluster_endpoint = without_quotes(std::move(settings.cluster_endpoint));
  given.take("CLUSTER_CA_BUNDLE", settings.cluster_ca);
  given.take("INTERRUPTION_QUEUE", settings.interruption_queue);
  given.take_share("VM_MEMORY_OVERHEAD_PERCENT", settings.memory_overhead_ppm);
  given.take_count("RESERVED_ENIS", settings.reserved_interfaces);
  given.take("ISOLATED_VPC", settings.isolated_vpc);
  given.take("EKS_CONTROL_PLANE", settings.eks_control_plane);
  given.take("ENABLE_ZONAL_SHIFT", settings.zonal_shift);
  given.take("DISABLE_DRY_RUN", settings.disable_dry_run);
  given.take_millis("AMI_REFRESH_INTERVAL", settings.image_refresh_millis);
  given.take_millis("SUBNET_REFRESH_INTERVAL", settings.subnet_refresh_millis);
  take_gates(given, settings);
  return settings;
}

}  // namespace

std::span<const SettingRow> setting_rows() {
  return kRows;
}

std::string flag_of(const SettingRow& row) {
  std::string flag = "--";
  for (const char c : row.variable)
    flag += c == '_' ? '-' : static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return flag;
}

base::Result<Settings> read_settings(const std::map<std::string, std::string>& flags,
                                     const Environment& environment) {
  Given given;
  std::vector<std::string> without_effect;
  std::string types_setting;
  for (const SettingRow& row : kRows) {
    const auto flag = flags.find(std::string(row.variable));
    const bool by_flag = flag != flags.end();
    const std::string text = by_flag ? flag->second : environment(row.variable).value_or("");
    if (text.empty()) continue;
    const std::string name = by_flag ? flag_of(row) : std::string(row.variable);
    if (const std::string fault = fault_of(row, text); !fault.empty())
      return base::fail(base::Kind::kInvalid, fmt::format("{}: \"{}\": {}", name, text, fault));
    if (row.kind == Kind::kSpread)
      if (auto spreads = objects::read_scheduler_config(name, text); !spreads) {
        if (text.find(':') == std::string::npos)
          spreads.error().message += "; give the YAML itself, not a file's name";
        return base::fail(std::move(spreads.error()));
      }
    if (!row.has_effect && text != row.initially) without_effect.push_back(name);
    if (row.variable == kTypesFile) types_setting = name;
    given.set(row, text);
  }
  Settings settings = settings_of(given);
  settings.instance_types_setting = types_setting;
  settings.without_effect.insert(settings.without_effect.end(), without_effect.begin(),
                                 without_effect.end());
  return settings;
}

std::vector<std::string> start_warnings(const Settings& settings) {
  std::vector<std::string> warnings;
  std::string names;
  for (const std::string& name : settings.without_effect)
    names += (names.empty() ? "" : ", ") + name;
  if (!names.empty()) warnings.push_back("settings without effect in this version: " + names);
  if (!settings.default_spread.empty())
    warnings.emplace_back(
        "SCHEDULER_CONFIG: default topology spreads count for pods of Deployments and "
        "StatefulSets, by their revision; not for pods that only a Service or a "
        "ReplicationController selects, for karst does not read those");
  return warnings;
}

void adopt(const Settings& settings, events::Config& config) {
  config.batch_max_millis = settings.batch_max_millis;
  config.batch_idle_millis = settings.batch_idle_millis;
  config.preference_policy_ignore = settings.preferences_ignored;
  config.min_values_best_effort = settings.min_values_best_effort;
  config.ignore_dra = settings.ignore_dra_requests;
  config.node_repair = settings.node_repair;
  config.reserved_capacity = settings.reserved_capacity;
  config.spot_to_spot = settings.spot_to_spot_consolidation;
  config.node_overlay = settings.node_overlay;
  config.static_capacity = settings.static_capacity;
  config.capacity_buffer = settings.capacity_buffer;
}

LeasePlace lease_place(const std::string& asked, const std::string& own) {
  if (!asked.empty()) return {asked, "LEADER_ELECTION_NAMESPACE names its namespace"};
  if (!own.empty()) return {own, "its namespace is that of the pod"};
  return {"kube-system",
          "outside a cluster, and LEADER_ELECTION_NAMESPACE names no other namespace; every "
          "replica must use the same"};
}

}  // namespace karst::daemon
