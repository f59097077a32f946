// What happened, for people: the events of the log joined to what they are about. The one source of
// notices: story, log lines and counters (docs/decisions/0004). A Watcher remembers what an event
// alone does not say (which claim a command was about); its memory is bounded by open commands,
// claims and waiting pods. Plain values, one thread.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "events/event.h"
#include "model/cloud.h"
#include "model/command.h"
#include "model/ids.h"
#include "model/resources.h"
#include "projections/cluster_state.h"

namespace karst::daemon {

enum class HappeningKind {
  kStarted,        // a process took the log over
  kPodWaiting,     // a pod without a node was seen
  kPodsExpected,   // pods were nominated for a claim or a node
  kPodBound,       // a pod that waited has its node
  kPodRuns,        // a pod that waited runs; millis: since its creation
  kPodGone,        // a pod that had a node went away
  kClaimCreated,   // a NodeClaim of ours exists in the API server
  kClaimRefused,   // the API server did not take one; told once a second and pool
  kLaunched,       // it has its instance
  kLaunchRefused,  // the cloud said no
  kRegistered,     // its node joined and was adopted
  kInitialized,    // its node takes pods
  kInterrupted,    // the cloud announced that an instance goes
  kLeaving,        // its deletion was decided
  kTainted,        // its node takes no new pods
  kEvicted,        // a pod was asked to leave it
  kTerminated,     // its instance is being ended
  kNodeGone,       // the node object went
  kClaimGone,      // the NodeClaim went
  kCloudAnswered,  // a command to the cloud was answered; reason: Create, Delete or Get
  kNotSent,        // a shadow decided something; args: the kind of command, its id
  kVerdict,        // why something was or was not done
  kWallClockJumped,
  kInputRefused,  // something that a source brought cannot be read; text: what, reason: why
  kTailCut,
  kLogSpaceLow,   // the disk of the log is full
  kLogSpaceBack,  // it has room again
  // For the objects' own events (kube_events.h) only:
  kPodUnplaced,       // provisioning found no place for a pod
  kConditionChanged,  // a status condition of a claim or a pool shows another status
  kDeadlineSet,       // a claim goes, and its pods have until then
  kTaintMissing,      // a claim's node joined without the taint that keeps pods away
  kEvictionHeld,      // the API server did not let a pod be evicted
  kDrainWaits,        // pods on a leaving node are still to be evicted
  kPodHeldUntil,      // its annotation keeps a pod on a leaving node; millis: until then, unix
  kPoolGone,          // a NodePool went
  // For log lines and metrics only:
  kNoPools,       // pods wait, and no node pool can grow
  kCalledOff,     // a voluntary removal that was begun does not go on
  kInstanceGone,  // an instance that was terminated is proven gone; millis: since then
};

struct Happening {
  HappeningKind kind = HappeningKind::kStarted;
  base::LogTime time;
  model::Position position;
  std::string claim;  // name
  std::string pool;
  std::string node;
  std::string provider_id;
  std::string namespace_name;
  std::string pod;     // name
  std::string owner;   // of the pod
  std::string reason;  // of a command, a refusal, an interruption; a verdict's code
  std::string text;    // a message, a verdict's subject, a version, a node class that is missing;
                       // of a new claim, whether its minValues were relaxed
  std::string claim_uid, node_uid, pool_uid, pod_uid;  // where known
  std::vector<std::string> uids;                       // of expected pods, in the order of args;
                                                       // of the class that a verdict is about
  std::string policy, mode;          // of a removal: consolidation policy, termination mode
  std::int64_t lifetime_millis = 0;  // of a node that is gone; of an interruption's message
  std::int64_t count = 0;            // of pods that wait; seconds that a deleted pod was given
  std::vector<std::string> args;     // of a verdict; names of expected pods; the condition and
                                     // the image of an unhealthy node
  model::Offer offer;                // of an instance; price 0: not known
  model::Resources resources;        // requests of a claim, allocatable of a node
  std::vector<std::string> instance_types;  // that a new claim may use
  std::int64_t placed_millis = -1;  // since a pod had its first place to come; -1: not known
  // How long pods waited until they were decided about for the first time; of expected and unplaced
  // pods.
  std::vector<std::int64_t> decided_millis;
  std::int64_t millis = 0;  // until an interrupted instance goes (0: not known); offset of a wall
                            // clock; a deadline, unix; how long a condition stood before
};

// Pods that one pass could not place and that are told of one by one.
inline constexpr std::size_t kUnplacedToldMax = 200;

// What was seen last of each condition, by type.
struct ConditionSeen {
  model::ConditionStatus status = model::ConditionStatus::kUnknown;
  std::int64_t transition_millis = 0;  // unix; 0: it was not there
};
using ConditionMemo = std::map<std::string, ConditionSeen, std::less<>>;
void remember(const std::vector<model::Condition>& conditions, ConditionMemo& memo);

// A pod without a node. Times are 0 while it has not happened, or before this process.
struct WaitMemo {
  base::LogTime seen;
  base::LogTime placed;  // its first nomination
  bool decided = false;  // placed, or told to have no place
};

// What is known of a claim that is on its way or there.
struct ClaimMemo {
  std::string pool;
  std::string node;
  std::string uid;
  std::string node_uid;
  std::string provider_id;
  model::Offer offer;
  model::Resources allocatable;
  bool created = false;
  bool registered = false;
  bool initialized = false;
  bool leaving = false;              // the API server is deleting it
  std::int64_t deletion_millis = 0;  // unix; of the claim
  std::int64_t node_creation_millis = 0;
  std::int64_t node_deletion_millis = 0;
  std::int64_t deadline_millis = 0;  // of its pods, once it goes; 0: none
  ConditionMemo conditions;
};

class Watcher {
 public:
  // Takes over what `state` knows, so that none of it is told again.
  void prime(const projections::ClusterState& state);

  // Appends what `event` means to `out`. `state` has folded at least this event.
  void see(const events::Event& event, const projections::ClusterState& state,
           std::vector<Happening>& out);

  const std::map<std::string, ClaimMemo>& claims() const { return claims_; }
  // Of the instances that are launched and whose claims are not gone; nano-dollars per hour.
  std::int64_t fleet_price_nanos_per_hour() const;

 private:
  struct Scene;  // one event with everything around it

  void pod_observed(const Scene& scene, const model::Pod& pod);
  void pod_gone(const Scene& scene, const events::PodGone& gone);
  void node_observed(const Scene& scene, const model::Node& node);
  void interrupted(const Scene& scene, const model::Interruption& interruption);
  void command(const Scene& scene, const model::Command& command);
  void not_sent(const Scene& scene, const model::Command& command) const;
  void outcome(const Scene& scene, const model::Outcome& outcome);
  void created(const Scene& scene, const model::Command& command);
  void launched(const Scene& scene, const model::Launch& launch, const model::Outcome& outcome);
  void expected(const Scene& scene, const model::Nomination& nomination);
  void claim_gone(const Scene& scene, const events::NodeClaimGone& gone);
  void claim_observed(const Scene& scene, const model::NodeClaim& claim);
  void pool_observed(const Scene& scene, const model::NodePool& pool);
  void verdict(const Scene& scene, const model::Verdict& verdict);
  void conditions_changed(const Scene& scene, const Happening& about,
                          const std::vector<model::Condition>& now, ConditionMemo& memo);
  void node_joined(const Scene& scene, const model::Node& node, const projections::ClaimRow& claim);
  void unplaced(const Scene& scene);
  void input_refused(const Scene& scene, const events::InputRefused& refused) const;
  void claim_refused(const Scene& scene, const model::CreateNodeClaim& create,
                     const model::Outcome& outcome);
  void eviction_held(const Scene& scene, const model::EvictPod& evict,
                     const model::Outcome& outcome);
  void drain_waits(const Scene& scene, const std::string& node);
  void held_pods(const Scene& scene, const std::string& node);
  void instance_gone(const Scene& scene, const model::Outcome& outcome) const;
  void decide(WaitMemo& wait, const Scene& scene, bool placed, Happening& happening) const;
  void forced(const Scene& scene, const model::EvictPod& evict, Happening& happening) const;
  void pod_runs(const Scene& scene, const model::Pod& pod);
  void cloud_answered(const Scene& scene, const model::Outcome& outcome);
  void add_trouble(const Scene& scene, Happening& happening) const;
  void add_removal(const Scene& scene, Happening& happening) const;
  Happening about_claim(const Scene& scene, HappeningKind kind, const std::string& claim) const;
  std::string claim_of_node(const std::string& node) const;

  std::map<std::string, ClaimMemo> claims_;           // by name
  std::map<std::string, std::string> claim_by_node_;  // node name to claim name
  std::map<model::Position, model::Command> open_;    // commands whose outcome is told
  std::map<model::PodUid, WaitMemo> waiting_;
  std::map<model::PodUid, base::LogTime> starting_;  // have a node, do not run yet; first place
  struct Sent {
    model::CommandKind kind;
    base::LogTime time;
    model::ClaimUid looked_up;  // of FindInstances
  };
  std::map<model::Position, Sent> sent_;                  // to the cloud
  std::map<std::string, ConditionMemo> pool_conditions_;  // by name
  std::map<std::string, base::LogTime> refusals_told_;    // when, by pool
};

}  // namespace karst::daemon
