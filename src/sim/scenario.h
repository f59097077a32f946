// A story as data: what the cluster holds, what its users want over time, what goes wrong. A run is
// (scenario, seed). Times in steps are milliseconds from the start.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/cloud.h"
#include "model/cluster.h"
#include "model/pod.h"
#include "sim/faults.h"

namespace karst::sim {

struct ReplicaStep {
  std::int64_t at_millis = 0;
  std::int64_t replicas = 0;
};

// A Deployment, StatefulSet or Job, as shape.owner_kind says.
struct Workload {
  std::string namespace_name = "default";
  std::string name;
  model::PodShape shape;
  model::Labels labels;
  std::vector<ReplicaStep>
      timeline;  // sorted by time; a Job's steps add pods, the others' set their number
  std::int64_t run_millis = 0;      // Job: how long one pod runs
  std::int64_t min_available = -1;  // of a PodDisruptionBudget; -1: none
};

struct DaemonWorkload {
  std::string name;
  model::PodShape shape;
};

// Somebody outside acts on a running machine, chosen by the seed among those of that capacity type
// (empty: any).
struct MachineStep {
  std::int64_t at_millis = 0;
  std::string capacity_type;
};

// Ranges in milliseconds, both ends included.
struct Timing {
  std::pair<std::int64_t, std::int64_t> boot{20'000, 60'000};  // launch to registration
  std::pair<std::int64_t, std::int64_t> ready{1'000, 5'000};   // registration to Ready
  std::pair<std::int64_t, std::int64_t> pod_start{1'000, 3'000};
  std::pair<std::int64_t, std::int64_t> pod_exit{500, 5'000};  // at most the grace period
  std::pair<std::int64_t, std::int64_t> shut_down{1'000, 10'000};
  std::pair<std::int64_t, std::int64_t> watch{20, 200};  // change to event
  std::pair<std::int64_t, std::int64_t> kube_call{10, 200};
  std::pair<std::int64_t, std::int64_t> cloud_call{200, 2'000};
  std::int64_t instance_list_every = 60'000;
  std::int64_t beat_every = 15'000;
  std::int64_t spot_notice = 120'000;
};

struct Scenario {
  std::string name;
  std::string
      run;  // goes into every uid and message id, so that two worlds on one log never share one
  std::int64_t start_unix_millis = 1'767'225'600'000;  // 2026-01-01T00:00:00Z
  std::int64_t storm_from_millis = 0;
  std::int64_t storm_until_millis = 0;
  std::int64_t end_millis = 0;  // 0: open end
  model::Catalogue catalogue;
  std::vector<model::NodeClass> node_classes;
  std::vector<model::NodePool> pools;
  std::vector<Workload> workloads;
  std::vector<DaemonWorkload> daemon_sets;
  std::vector<MachineStep> interruptions;
  std::vector<MachineStep> kills;
  std::vector<std::pair<Fault, std::int64_t>> faults;  // chances per 10,000 while the storm is on
  bool cloud_deletes_nodes =
      false;  // a cloud controller manager removes Nodes whose machine is gone
  Timing timing;
};

// The story of `karst run --embedded`: pods arrive in waves, machines boot in 3 s, a spot
// interruption, a replacement, a scale-down to nothing. No faults.
Scenario demo_scenario(const model::Catalogue& catalogue);

// 30 minutes (quiet 5, storm 15, heal 10) of up to about 50 nodes, drawn from the seed.
Scenario random_scenario(std::uint64_t seed, const model::Catalogue& catalogue);

}  // namespace karst::sim
