// What disruption looks at: nodes with their pods, pools with what they can buy, budgets, and the
// time. Plain data, made by the caller and not changed by any decision; everything is referred to
// by index. Prices are nano-dollars an hour, times unix milliseconds (log time).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/cluster.h"
#include "model/named_object.h"
#include "model/pod.h"
#include "scheduling/problem.h"

namespace karst::disruption {

inline constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

struct Pod {
  std::string namespace_name;
  std::string name;
  model::Labels labels;
  std::size_t shape = 0;        // index into World::shapes
  std::size_t node = kNowhere;  // index into World::nodes; kNowhere: not bound
  bool terminal = false;        // succeeded or failed
  bool mirror = false;          // a static pod's image in the API
  bool unready = false;         // its condition Ready is False; false when it has none
  bool provisionable = false;   // not bound, unschedulable, not preempting, of no DaemonSet
  std::int64_t creation_millis = 0;
  std::int64_t deletion_millis = 0;  // 0: not being deleted
  std::int64_t start_millis = 0;     // 0: not started
  std::vector<scheduling::Volume> volumes;
  std::string volume_error;
};

// What the scheduler does not need to know of a node.
struct Node {
  std::string name;  // of the Node; of its claim while there is none
  bool managed = false;
  bool has_node = true;
  bool initialized = false;
  bool ready = false;
  bool leaving = false;     // marked for deletion, or being deleted
  bool queued = false;      // some command in progress takes it away
  bool nominated = false;   // expects pods
  bool terminated = false;  // its instance's end has been asked for
  std::int64_t buffer_pods = 0;
  model::Labels labels;
  model::Labels annotations;
  model::Resources capacity;
  bool has_grace_period = false;  // terminationGracePeriod of its claim
  bool consolidatable = false;    // conditions of its claim
  bool drifted = false;
  std::int64_t drifted_millis = 0;         // since when
  std::int64_t initialized_millis = 0;     // since when
  std::int64_t last_pod_event_millis = 0;  // 0: none
  std::vector<std::size_t> pods;           // indices into World::pods
};

struct Pool {
  scheduling::Pool pool;  // `used` is not looked at
  bool ready = true;
};

struct World {
  base::LogTime now;
  bool spot_to_spot = false;  // feature gate SpotToSpotConsolidation
  // Options, daemons and namespaces as the scheduler takes them, and nodes as it sees them, one for
  // one with `nodes`. Pools, pods and bound pods are filled in by each simulation.
  scheduling::Problem base;
  std::vector<Node> nodes;
  std::vector<Pool> pools;  // all of them, static ones too
  std::vector<model::PodShape> shapes;
  std::vector<Pod> pods;
  std::vector<model::DisruptionBudget> pod_budgets;

  const model::PodShape& shape_of(const Pod& pod) const { return shapes[pod.shape]; }
};

// The pool that the node's label names; nullptr when there is none.
inline const Pool* pool_of(const World& world, const Node& node) {
  const std::string_view name = model::label_value(node.labels, model::kNodePoolLabel);
  for (const Pool& pool : world.pools)
    if (!name.empty() && pool.pool.pool.name.str() == name) return &pool;
  return nullptr;
}

// Why something is not done: a code for programs, and a text for people.
struct Refusal {
  std::string code;  // empty: nothing stands in the way
  std::string text;
  bool none() const { return code.empty(); }
  friend bool operator==(const Refusal&, const Refusal&) = default;
};

}  // namespace karst::disruption
