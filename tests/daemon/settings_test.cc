#include "daemon/settings.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace karst::daemon {
namespace {

using Texts = std::map<std::string, std::string>;

base::Result<Settings> read(const Texts& flags, const Texts& variables) {
  return read_settings(flags, [&](std::string_view name) -> std::optional<std::string> {
    const auto at = variables.find(std::string(name));
    return at == variables.end() ? std::nullopt : std::optional(at->second);
  });
}

TEST(Settings, NothingGivenIsKarpentersDefault) {
  const auto settings = read({}, {});
  ASSERT_TRUE(settings.has_value());
  EXPECT_FALSE(settings->metrics_port.has_value());
  EXPECT_FALSE(settings->health_probe_port.has_value());
  EXPECT_EQ(settings->batch_max_millis, 10'000);
  EXPECT_EQ(settings->batch_idle_millis, 1'000);
  EXPECT_EQ(settings->log_level, LogLevel::kInfo);
  EXPECT_TRUE(settings->reserved_capacity);
  EXPECT_FALSE(settings->node_repair);
  EXPECT_TRUE(settings->ignore_dra_requests);
  EXPECT_TRUE(settings->leader_election);
  EXPECT_TRUE(settings->without_effect.empty());
  events::Config config;
  adopt(*settings, config);
  EXPECT_EQ(config, events::Config()) << "the defaults of both are one";
}

// The defaults that --help prints are those that hold, so each may be given as it stands.
TEST(Settings, EachDefaultMayBeGivenAndChangesNothing) {
  std::set<std::string> flags;
  for (const SettingRow& row : setting_rows()) {
    EXPECT_TRUE(flags.insert(flag_of(row)).second) << row.variable;
    const auto settings = read({}, {{std::string(row.variable), std::string(row.initially)}});
    ASSERT_TRUE(settings.has_value()) << settings.error().message;
    EXPECT_TRUE(settings->without_effect.empty()) << row.variable;
    events::Config config;
    adopt(*settings, config);
    EXPECT_EQ(config, events::Config()) << row.variable;
  }
  EXPECT_TRUE(flags.contains("--batch-max-duration"));
  EXPECT_TRUE(flags.contains("--vm-memory-overhead-percent"));
}

TEST(Settings, WhatIsGivenCounts) {
  struct Case {
    std::string variable, text;
    std::function<bool(const Settings&)> want;
  };
  const std::vector<Case> cases = {
      {"METRICS_PORT", "9090", [](const Settings& s) { return s.metrics_port == 9090; }},
      {"HEALTH_PROBE_PORT", "0", [](const Settings& s) { return s.health_probe_port == 0; }},
      {"LOG_LEVEL", "error", [](const Settings& s) { return s.log_level == LogLevel::kError; }},
      {"LOG_OUTPUT_PATHS", "stdout, /data/l",
       [](const Settings& s) {
         return s.log_paths == std::vector<std::string>{"stdout", "/data/l"};
       }},
      {"BATCH_MAX_DURATION", "1m30s",
       [](const Settings& s) { return s.batch_max_millis == 90'000; }},
      {"BATCH_IDLE_DURATION", "300ms",
       [](const Settings& s) { return s.batch_idle_millis == 300; }},
      {"PREFERENCE_POLICY", "Ignore", [](const Settings& s) { return s.preferences_ignored; }},
      {"MIN_VALUES_POLICY", "BestEffort",
       [](const Settings& s) { return s.min_values_best_effort; }},
      {"IGNORE_DRA_REQUESTS", "0", [](const Settings& s) { return !s.ignore_dra_requests; }},
      {"DISABLE_CLUSTER_STATE_OBSERVABILITY", "T",
       [](const Settings& s) { return s.disable_cluster_state_observability; }},
      {"DISABLE_LEADER_ELECTION", "true", [](const Settings& s) { return !s.leader_election; }},
      {"LEADER_ELECTION_NAME", "mine", [](const Settings& s) { return s.lease_name == "mine"; }},
      {"LEADER_ELECTION_NAMESPACE", "kube-system",
       [](const Settings& s) { return s.lease_namespace == "kube-system"; }},
      {"INSTANCE_TYPES_FILE_PATH", "/types.json",
       [](const Settings& s) { return s.instance_types_file == "/types.json"; }},
      {"FEATURE_GATES", "NodeRepair=true, ReservedCapacity=false,Drift=true",
       [](const Settings& s) {
         return s.node_repair && !s.reserved_capacity && s.without_effect.empty();
       }},
      {"FEATURE_GATES", "SpotToSpotConsolidation=1,NodeOverlay=1,StaticCapacity=1,CapacityBuffer=1",
       [](const Settings& s) {
         return s.spot_to_spot_consolidation && s.node_overlay && s.static_capacity &&
                s.capacity_buffer && s.reserved_capacity;
       }},
      {"FEATURE_GATES", "Drift=false",
       [](const Settings& s) {
         return s.without_effect == std::vector<std::string>{"FEATURE_GATES Drift"};
       }},
      {"CLUSTER_NAME", "demo",
       [](const Settings& s) { return s.cluster_name == "demo" && s.without_effect.empty(); }},
      {"CLUSTER_ENDPOINT", "https://e",
       [](const Settings& s) { return s.cluster_endpoint == "https://e"; }},
      {"CLUSTER_ENDPOINT", "\"https://e\"",
       [](const Settings& s) { return s.cluster_endpoint == "https://e"; }},
      {"CLUSTER_ENDPOINT", "\"", [](const Settings& s) { return s.cluster_endpoint == "\""; }},
      {"CLUSTER_CA_BUNDLE", "Y2E=", [](const Settings& s) { return s.cluster_ca == "Y2E="; }},
      {"INTERRUPTION_QUEUE", "q", [](const Settings& s) { return s.interruption_queue == "q"; }},
      {"RESERVED_ENIS", "1",
       [](const Settings& s) { return s.reserved_interfaces == 1 && s.without_effect.empty(); }},
      {"VM_MEMORY_OVERHEAD_PERCENT", "0.0512345678",
       [](const Settings& s) { return s.memory_overhead_ppm == 51'234; }},
      {"VM_MEMORY_OVERHEAD_PERCENT", "0",
       [](const Settings& s) { return s.memory_overhead_ppm == 0; }},
      {"VM_MEMORY_OVERHEAD_PERCENT", ".5",
       [](const Settings& s) { return s.memory_overhead_ppm == 500'000; }},
      {"ISOLATED_VPC", "true", [](const Settings& s) { return s.isolated_vpc; }},
      {"ENABLE_ZONAL_SHIFT", "true",
       [](const Settings& s) { return s.zonal_shift && s.without_effect.empty(); }},
      {"DISABLE_DRY_RUN", "true",
       [](const Settings& s) { return s.disable_dry_run && s.without_effect.empty(); }},
      {"AMI_REFRESH_INTERVAL", "5m",
       [](const Settings& s) {
         return s.image_refresh_millis == 300'000 && s.subnet_refresh_millis == 60'000 &&
                s.without_effect.empty();
       }},
      {"SUBNET_REFRESH_INTERVAL", "1m30s",
       [](const Settings& s) { return s.subnet_refresh_millis == 90'000; }},
      {"EKS_CONTROL_PLANE", "true",
       [](const Settings& s) { return s.eks_control_plane && s.without_effect.empty(); }},
      {"AWS_FEATURE_GATES", "NodeClassCEL=true",
       [](const Settings& s) {
         return s.without_effect == std::vector<std::string>{"AWS_FEATURE_GATES"};
       }},
      {"LOG_LEVEL", "", [](const Settings& s) { return s.log_level == LogLevel::kInfo; }},
      {"SCHEDULER_CONFIG",
       "podTopologySpread:\n  defaultConstraints:\n"
       "  - {maxSkew: 3, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}\n",
       [](const Settings& s) {
         return s.default_spread.size() == 1 && s.default_spread[0].max_skew == 3 &&
                s.without_effect.empty();
       }},
  };
  for (const Case& c : cases) {
    const auto settings = read({}, {{c.variable, c.text}});
    ASSERT_TRUE(settings.has_value()) << settings.error().message;
    EXPECT_TRUE(c.want(*settings)) << c.variable << "=" << c.text;
  }
}

TEST(Settings, DecisionsReadThemInTheConfiguration) {
  const auto settings =
      read({}, {{"BATCH_MAX_DURATION", "7s"},
                {"BATCH_IDLE_DURATION", "5s"},
                {"PREFERENCE_POLICY", "Ignore"},
                {"MIN_VALUES_POLICY", "BestEffort"},
                {"IGNORE_DRA_REQUESTS", "false"},
                {"FEATURE_GATES",
                 "NodeRepair=true,ReservedCapacity=false,SpotToSpotConsolidation=true,"
                 "NodeOverlay=true,StaticCapacity=true,CapacityBuffer=true"}});
  ASSERT_TRUE(settings.has_value());
  events::Config config, want;
  adopt(*settings, config);
  want.batch_max_millis = 7'000;
  want.batch_idle_millis = 5'000;
  want.preference_policy_ignore = want.min_values_best_effort = true;
  want.ignore_dra = want.reserved_capacity = false;
  want.node_repair = want.spot_to_spot = want.node_overlay = true;
  want.static_capacity = want.capacity_buffer = true;
  EXPECT_EQ(config, want);
}

TEST(Settings, TheStartWarnsOfWhatDoesNotCount) {
  const auto warnings = [](const std::map<std::string, std::string>& variables) {
    const auto settings = read({}, variables);
    return settings ? start_warnings(*settings) : std::vector<std::string>{"refused"};
  };
  EXPECT_TRUE(warnings({}).empty());
  EXPECT_TRUE(warnings({{"KUBERNETES_MIN_VERSION", "1.19.0-0"}}).empty()) << "the chart's own";
  EXPECT_EQ(warnings({{"KUBERNETES_MIN_VERSION", "1.30.0-0"}, {"SYSTEM_NAMESPACE", "system"}}),
            std::vector<std::string>{"settings without effect in this version: "
                                     "KUBERNETES_MIN_VERSION, SYSTEM_NAMESPACE"});
  EXPECT_TRUE(
      warnings({{"SCHEDULER_CONFIG", "podTopologySpread: {defaultConstraints: []}"}}).empty());
  const auto of_both =
      warnings({{"CPU_REQUESTS", "2000"},
                {"ENABLE_PROFILING", "true"},
                {"SCHEDULER_CONFIG",
                 "podTopologySpread: {defaultConstraints: [{maxSkew: 1, topologyKey: zone, "
                 "whenUnsatisfiable: DoNotSchedule}]}"}});
  ASSERT_EQ(of_both.size(), 2U);
  EXPECT_TRUE(of_both[0].starts_with("settings without effect in this version: ")) << of_both[0];
  EXPECT_NE(of_both[0].find("CPU_REQUESTS"), std::string::npos) << of_both[0];
  EXPECT_TRUE(of_both[1].starts_with("SCHEDULER_CONFIG: ")) << of_both[1];
  EXPECT_NE(of_both[1].find("not for pods that only a Service"), std::string::npos) << of_both[1];
}

TEST(Settings, AFlagWinsOverAVariable) {
  const auto settings =
      read({{"BATCH_MAX_DURATION", "3s"}, {"CPU_REQUESTS", "2"}},
           {{"BATCH_MAX_DURATION", "4s"}, {"BATCH_IDLE_DURATION", "2s"}, {"CPU_REQUESTS", "1"}});
  ASSERT_TRUE(settings.has_value());
  EXPECT_EQ(settings->batch_max_millis, 3'000);
  EXPECT_EQ(settings->batch_idle_millis, 2'000);
  EXPECT_EQ(settings->without_effect, std::vector<std::string>{"--cpu-requests"});
}

TEST(Settings, TheTypesFileIsKnownByWhatNamesIt) {
  const char* variable = "INSTANCE_TYPES_FILE_PATH";
  EXPECT_EQ(read({}, {{variable, "/a"}})->instance_types_setting, variable);
  EXPECT_EQ(read({{variable, "/b"}}, {{variable, "/a"}})->instance_types_setting,
            "--instance-types-file-path");
}

TEST(Settings, WhatCannotBeIsRefusedInOneLine) {
  struct Case {
    std::string variable, text, said;
  };
  const std::vector<Case> cases = {
      {"SCHEDULER_CONFIG",
       "podTopologySpread: {defaultConstraints: [{maxSkew: 0, topologyKey: z, "
       "whenUnsatisfiable: DoNotSchedule}]}",
       "SCHEDULER_CONFIG:1: podTopologySpread.defaultConstraints[0].maxSkew: must be at least 1, "
       "found 0"},
      {"SCHEDULER_CONFIG", "/etc/spread.yaml",
       "SCHEDULER_CONFIG:1: expected podTopologySpread, found the string \"/etc/spread.yaml\"; "
       "give "
       "the YAML itself, not a file's name"},
      {"METRICS_PORT", "http", "METRICS_PORT: \"http\": expected a port, 0 to 65535"},
      {"METRICS_PORT", "65536", "expected a port"},
      {"BATCH_MAX_DURATION", "10", "BATCH_MAX_DURATION: \"10\": expected a duration such as 10s"},
      {"PREFERENCE_POLICY", "respect", "expected Respect or Ignore"},
      {"MIN_VALUES_POLICY", "Lax", "expected Strict or BestEffort"},
      {"LOG_LEVEL", "loud", "expected debug or info or warn or error"},
      {"ISOLATED_VPC", "yes", "ISOLATED_VPC: \"yes\": expected true or false"},
      {"RESERVED_ENIS", "one", "expected a count, 0 to 1000"},
      {"RESERVED_ENIS", "-1", "expected a count, 0 to 1000"},
      {"VM_MEMORY_OVERHEAD_PERCENT", "0.0.5", "expected a share such as 0.075, below 1"},
      {"VM_MEMORY_OVERHEAD_PERCENT", "-0.1", "expected a share such as 0.075, below 1"},
      {"VM_MEMORY_OVERHEAD_PERCENT", "7.5", "expected a share such as 0.075, below 1"},
      {"AMI_REFRESH_INTERVAL", "59s", "expected a duration of 1m or more"},
      {"SUBNET_REFRESH_INTERVAL", "often", "expected a duration of 1m or more"},
      {"CPU_REQUESTS", "0.0.5", "expected a number"},
      {"FEATURE_GATES", "Teleport=true",
       "FEATURE_GATES: \"Teleport=true\": there is no gate Teleport; there are: NodeRepair, "
       "ReservedCapacity, SpotToSpotConsolidation, NodeOverlay, StaticCapacity, CapacityBuffer"},
      {"FEATURE_GATES", "NodeRepair", "expected NodeRepair=true or NodeRepair=false"},
      {"FEATURE_GATES", "NodeRepair=maybe", "expected NodeRepair=true or NodeRepair=false"},
  };
  for (const Case& c : cases) {
    const auto settings = read({}, {{c.variable, c.text}});
    ASSERT_FALSE(settings.has_value()) << c.variable << "=" << c.text;
    EXPECT_EQ(settings.error().kind, base::Kind::kInvalid);
    EXPECT_NE(settings.error().message.find(c.said), std::string::npos) << settings.error().message;
  }
  const auto by_flag = read({{"METRICS_PORT", "x"}}, {});
  ASSERT_FALSE(by_flag.has_value());
  EXPECT_TRUE(by_flag.error().message.starts_with("--metrics-port: ")) << by_flag.error().message;
}

TEST(Settings, TheLeaseIsWhereItIsAskedForElseWhereThePodIs) {
  struct Case {
    std::string asked, own, where, why;
  };
  const std::vector<Case> cases = {
      {"", "karpenter", "karpenter", "that of the pod"},
      {"kube-system", "karpenter", "kube-system", "LEADER_ELECTION_NAMESPACE names its"},
      {"karpenter", "", "karpenter", "LEADER_ELECTION_NAMESPACE names its"},
      {"", "", "kube-system", "outside a cluster, and LEADER_ELECTION_NAMESPACE names no other"},
  };
  for (const Case& c : cases) {
    const LeasePlace place = lease_place(c.asked, c.own);
    EXPECT_EQ(place.namespace_name, c.where);
    EXPECT_NE(place.why.find(c.why), std::string_view::npos) << place.why;
  }
}

}  // namespace
}  // namespace karst::daemon
