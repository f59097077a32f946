// How the cluster stands, for /metrics: a table of samples made from the state now and then, with
// Karpenter's names and labels. Pods are counted by what they have in common, not named one by one,
// so that the number of series is bounded by nodes and pools. Made on the engine thread, immutable
// afterwards.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "projections/cluster_state.h"

namespace karst::daemon {

inline constexpr std::int64_t kGaugesEveryMillis = 5'000;
inline constexpr std::size_t kPodsPerGaugeMilli = 2;  // more pods, less often: 100,000 every 50 s

struct Gauge {
  std::int64_t value = 0;
  int decimals = 0;
  std::vector<std::pair<std::string_view, std::string>> labels;  // names are static
};

struct Gauges {
  base::LogTime at;
  // By metric name; every family that is made, with its help, stands in gauge_families().
  std::map<std::string_view, std::vector<Gauge>> samples;
};

struct GaugeFamily {
  std::string_view name;
  std::string_view help;
  bool leader_only = false;  // made of what a standby does not ask for, or decide
};
std::vector<GaugeFamily> gauge_families();

// `objects`: also what is told per node, pool, pod and condition; without it only the cluster's
// own.
Gauges gauges_of(const projections::ClusterState& state, bool objects);
// When the next ones are due after these.
std::int64_t gauges_interval_millis(const projections::ClusterState& state);

}  // namespace karst::daemon
