// The settings of a Karpenter controller, under its names: flags of `karst run` and environment
// variables (a flag wins), feature gates, their defaults and what they may be. One table; what a
// setting does in karst, or that it does nothing, is said there and in docs/operations.md. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "daemon/log_line.h"
#include "events/body.h"

namespace karst::daemon {

enum class SettingKind {
  kText,
  kBool,
  kNumber,
  kShare,
  kCount,
  kPort,
  kDuration,
  kInterval,  // a duration of a minute or more
  kChoice,
  kGates,
  kSpread
};

struct SettingRow {
  std::string_view variable;
  SettingKind kind;
  std::string_view initially;  // as text
  bool has_effect;             // false: taken for Karpenter's sake
  std::string_view meaning;    // for --help, and of kChoice before a colon the words that it may be
};
std::span<const SettingRow> setting_rows();
std::string flag_of(const SettingRow& row);  // --batch-max-duration

struct Settings {
  std::optional<int> metrics_port;       // one of the two given: both have a listener of their own
  std::optional<int> health_probe_port;  // the other then has Karpenter's port
  LogLevel log_level = LogLevel::kInfo;
  std::vector<std::string> log_paths = {"stdout"};  // stdout, stderr, or files
  std::int64_t batch_max_millis = 10'000;
  std::int64_t batch_idle_millis = 1'000;
  bool preferences_ignored = false;
  bool min_values_best_effort = false;
  bool ignore_dra_requests = true;
  std::vector<model::SpreadConstraint> default_spread;  // of SCHEDULER_CONFIG
  bool disable_cluster_state_observability = false;     // no series per pod, node or pool
  bool node_repair = false;                             // feature gates
  bool reserved_capacity = true;
  bool spot_to_spot_consolidation = false;
  bool node_overlay = false;
  bool static_capacity = false;
  bool capacity_buffer = false;
  bool leader_election = true;
  std::string lease_name = "karpenter-leader-election";
  std::string lease_namespace;         // empty: lease_place() chooses
  std::string instance_types_file;     // kwok's; empty: the embedded ones
  std::string instance_types_setting;  // the flag or variable that names it
  std::string cluster_name;            // AWS's, like the three below
  std::string cluster_endpoint;
  std::string cluster_ca;  // base64
  std::string interruption_queue;
  std::int64_t memory_overhead_ppm = 75'000;  // AWS's too
  int reserved_interfaces = 0;
  bool isolated_vpc = false;
  bool eks_control_plane = false;
  bool zonal_shift = false;
  bool disable_dry_run = false;
  std::int64_t image_refresh_millis = 60'000;
  std::int64_t subnet_refresh_millis = 60'000;
  std::vector<std::string> without_effect;  // given, not the default, and nothing comes of it
};

inline constexpr int kMetricsPort = 8080;
inline constexpr int kHealthProbePort = 8081;

// `flags`: by variable name, as given. An empty text is as good as none. Errors: kInvalid with the
// flag or variable, what it says, and what was expected; for a feature gate the gates there are.
using Environment = std::function<std::optional<std::string>(std::string_view variable)>;
base::Result<Settings> read_settings(const std::map<std::string, std::string>& flags,
                                     const Environment& environment);

// What the start warns of: given for Karpenter's sake, and something of it or all does not count.
std::vector<std::string> start_warnings(const Settings& settings);

// What decisions read of them.
void adopt(const Settings& settings, events::Config& config);

// Where the lease is, and why there, for people.
struct LeasePlace {
  std::string namespace_name;
  std::string_view why;
};
// `asked`: LEADER_ELECTION_NAMESPACE; `own`: the namespace of the pod that this runs in. Either may
// be empty.
LeasePlace lease_place(const std::string& asked, const std::string& own);

}  // namespace karst::daemon
