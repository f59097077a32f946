// The solver's input and output: a pure problem in; placements, new claims and reasons out. Knows
// no events and no cluster. Units: model/resources.h; prices in nano-dollars per hour. Everything
// is referred to by index into the problem's vectors; the same problem always has the same answer.
// The problem is plain data, made by the caller and not changed by a solve. Label keys may be old
// names where pods, pools and volumes demand something, and are today's names everywhere else
// (Options::label_aliases). Rules and where they come from: docs/solve.md, docs/oracle.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/cluster.h"
#include "model/pod.h"
#include "model/requirements.h"
#include "scheduling/offer_list.h"
#include "scheduling/shared_list.h"
#include "scheduling/type_list.h"

namespace karst::scheduling {

// Whether preferred terms, ScheduleAnyway spreads and PreferNoSchedule taints are demands until
// they stand in the way, or (but for the taints) nothing at all.
enum class PreferencePolicy { kRespect, kIgnore };
// Whether a pool's minValues must be met, or are lowered to what there is.
enum class MinValuesPolicy { kStrict, kBestEffort };
// What reserved offerings mean. kOff: they are offerings like others. kStrict: a pod that could
// use one waits until one is free. kFallback: it goes elsewhere when none is free.
enum class ReservedMode { kOff, kStrict, kFallback };

// Which domains a spread that honors node affinity counts although they are empty. kReachable:
// those where a node that the pod may be on is or could be made, as the kube-scheduler will see it.
// kAllPools: Karpenter's, whatever some pool could make, also where the pod cannot be; pods may
// then wait for ever on such a domain.
enum class SpreadDomains { kReachable, kAllPools };

struct Options {
  PreferencePolicy preferences = PreferencePolicy::kRespect;
  MinValuesPolicy min_values = MinValuesPolicy::kStrict;
  ReservedMode reserved = ReservedMode::kStrict;
  SpreadDomains spread_domains = SpreadDomains::kReachable;
  std::size_t instance_types_max = 600;  // per claim, cheapest first; at least 1
  // Labels that a pod may demand although its pool does not define them. Empty: Karpenter's
  // well-known ones and every key that an instance type of the problem defines.
  std::set<std::string, std::less<>> well_known_labels;
  // Old label names and what they mean today; used on what pods, pools and volumes demand.
  std::map<std::string, std::string, std::less<>> label_aliases;
  std::string reservation_id_label;  // empty: nothing is reserved
  std::string label_domain;          // of the cloud's own labels, for messages; may be empty
};

// Old names of labels that Kubernetes, its volumes and its clouds still use.
const std::map<std::string, std::string, std::less<>>& known_label_aliases();

// A pool with the instance types it may use. Static pools (replicas given) and pools that are
// being deleted get no new claims; they may be listed.
struct Pool {
  model::NodePool pool;
  TypeList types;
  // What is used of the pool's limits already, claims in flight included; the key "nodes" counts
  // nodes.
  std::vector<std::pair<std::string, std::int64_t>> used;
};

// A volume that a pod attaches.
struct Volume {
  std::string driver;  // CSI driver; empty: does not count towards any limit
  // Names the claim where it is shared with other pods or mounted on a node already; such a volume
  // counts once per node. Empty: each pod of the row brings its own.
  std::string claim;
  // Where it can be reached: one of these must hold. Empty: anywhere.
  std::vector<std::vector<model::RequirementSpec>> topology;
  friend auto operator<=>(const Volume&, const Volume&) = default;
};

// Equal pods are one row with a count.
struct PodGroup {
  model::PodShape shape;
  std::string namespace_name;
  model::Labels labels;  // at least those that a selector of the problem may ask for
  std::int64_t count = 1;
  std::vector<Volume> volumes;       // resolved; shape.volume_claims is not looked at
  std::string volume_error;          // why its volumes cannot be reached: it is not placed
  std::int64_t creation_millis = 0;  // between pods of one size the older go first
  // A move that nobody is forced to: not onto a node inside its consolidateAfter window.
  bool voluntary = false;
};

// A node, or a claim in flight. `labels` and `taints` are those that count for who may be placed
// there: startup and ephemeral taints are left out by the caller until the node is initialized.
struct Node {
  std::string name;
  std::string host_name;  // its value of kubernetes.io/hostname; empty: the label's, or the name
  model::Labels labels;
  std::vector<model::Taint> taints;
  // Those on it this moment, startup and ephemeral ones too: a spread that honors taints goes by
  // them, as the kube-scheduler does. Absent: `taints`.
  std::optional<std::vector<model::Taint>> present_taints;
  model::Resources available;               // allocatable less everything bound or expected there
  model::Resources daemon_running;          // the part of that which belongs to Problem::daemons
  std::vector<model::HostPort> host_ports;  // in use
  // Mounted there now: driver and claim. Limits by driver; absent: not limited.
  std::vector<std::pair<std::string, std::string>> volumes;
  std::map<std::string, std::int64_t> attach_limits;
  bool initialized = true;
  bool in_consolidate_after = false;  // takes no voluntary moves
  // False: it is leaving or being simulated away. Its pods still count for spread and affinity.
  bool takes_pods = true;
  // Of one that takes none: it is there to stay (cordoned, not ready), so that spreads count its
  // domain even when it is empty, as the kube-scheduler does.
  bool stays = false;
};

// Equal pods that stay on a node.
struct BoundPods {
  std::size_t node = 0;  // index into Problem::nodes
  std::string namespace_name;
  model::Labels labels;
  std::vector<model::PodAffinityTerm> anti_affinity;  // required terms
  std::int64_t count = 1;
};

// What a DaemonSet puts on every node it can run on.
struct Daemon {
  model::PodShape shape;
};

struct Problem {
  Options options;
  std::vector<Pool> pools;
  std::vector<Node> nodes;
  std::vector<BoundPods> bound;
  std::vector<PodGroup> pods;
  std::vector<Daemon> daemons;
  std::map<std::string, model::Labels> namespaces;  // for namespace selectors
};

struct Share {
  std::size_t group = 0;  // index into Problem::pods
  std::int64_t count = 0;
  friend bool operator==(const Share&, const Share&) = default;
};

struct NodePlacement {
  std::size_t node = 0;  // index into Problem::nodes
  std::vector<Share> pods;
  friend bool operator==(const NodePlacement&, const NodePlacement&) = default;
};

struct NewClaim {
  std::size_t pool = 0;  // index into Problem::pools
  // The pool's, narrowed by the pods, by the domains chosen for spreads and affinities, and by the
  // reservations held; without instance-type and capacity-type lists (but capacity-type In
  // [reserved] where reservations are held).
  SharedList<model::RequirementSpec> requirements;
  SharedList<std::size_t> types;  // compatible types that fit, cheapest compatible offering first,
                                  // at most instance_types_max, or as many as minValues need
  OfferList offers;               // compatible available offerings of `types`, cheapest first
  std::vector<Share> pods;
  std::vector<std::string> reservations;  // ids held, sorted
  bool min_values_relaxed = false;
  model::Resources requests;  // pods and daemons
  model::Resources
      max_capacity;  // per resource the largest capacity among `types`: what limits must reserve
  friend bool operator==(const NewClaim&, const NewClaim&) = default;
};

// One step of placing: so many pods of a group onto an existing node or a new claim. Spread and
// affinity hold at every step, so whoever binds pods in this order meets no violated constraint.
struct Turn {
  std::size_t group = 0;
  bool on_claim = false;
  std::size_t target = 0;  // index into Problem::nodes, or Answer::claims
  std::int64_t count = 0;
  friend bool operator==(const Turn&, const Turn&) = default;
};

// How much one constraint takes away of what a pool offers, on its own.
struct Removal {
  std::string constraint;  // "zone In [a]", "cpu", "taint dedicated=gpu:NoSchedule", "limit cpu", …
  std::int64_t types = 0;
  std::int64_t offerings = 0;
  friend bool operator==(const Removal&, const Removal&) = default;
};

// Why a pool could not take a pod of this group.
struct PoolReason {
  std::string pool;
  std::string code;        // taint, requirements, volume, topology, resources, limit, no_offering,
                           // min_values, reserved, host_port, unsupported, no_pool
  std::string text;        // for people, in Karpenter's message grammar
  std::int64_t types = 0;  // instance types and offerings of the pool's catalogue, all of them
  std::int64_t offerings = 0;
  std::vector<Removal> removals;  // what each constraint removes of them, alone: the pod's first
  friend bool operator==(const PoolReason&, const PoolReason&) = default;
};

// One change of the pod or of a pool, or the fewest together, with which the pod would be placed.
struct Relaxation {
  std::string subject;  // "pod", "workload" (its replicas), or "nodepool NAME"
  std::string field;    // "cpu", "node selector KEY", "toleration", "spread over KEY", "limit cpu"
  std::string from;
  std::string to;
  std::string text;  // "cpu 193 → 192"
  friend bool operator==(const Relaxation&, const Relaxation&) = default;
};

struct Unplaced {
  std::size_t group = 0;
  std::int64_t count = 0;
  bool waits_for_reservation = false;   // strict reserved mode: deferred, not failed
  std::vector<PoolReason> reasons;      // one per pool that was asked, in the order of asking
  std::string message;                  // "Failed to schedule pod, …": the reasons' texts joined
  std::vector<Relaxation> relaxations;  // smallest first; each alone would do
  friend bool operator==(const Unplaced&, const Unplaced&) = default;
};

struct Answer {
  std::vector<NodePlacement> placements;
  std::vector<NewClaim> claims;
  std::vector<Turn> order;
  std::vector<Unplaced> unplaced;
  friend bool operator==(const Answer&, const Answer&) = default;
};

// Pure, total, bounded by the size of the problem. Single-threaded.
Answer solve(const Problem& problem);
// Rather fewer new nodes than cheaper ones, and without a look at what would help pods left over:
// for those who ask whether a node can be given up.
Answer place(const Problem& problem);

}  // namespace karst::scheduling
