// Happenings as Events of Kubernetes objects: which, in Karpenter's words, and how often.
#include "daemon/kube_events.h"

#include <gtest/gtest.h>

#include "events/memory_log.h"
#include "tests/engine/stage.h"

namespace karst::daemon {
namespace {

Happening happened(HappeningKind kind, std::string reason = {}) {
  Happening h;
  h.kind = kind;
  h.time = base::LogTime(1'800'000'000'000);
  h.position = model::Position(0x2a);
  h.claim = "web-x1";
  h.claim_uid = "claim-uid";
  h.node = "node-1";
  h.node_uid = "node-uid";
  h.pool = "web";
  h.pool_uid = "pool-uid";
  h.namespace_name = "shop";
  h.pod = "cart-1";
  h.pod_uid = "pod-uid";
  h.reason = std::move(reason);
  return h;
}

Happening with(Happening h, std::vector<std::string> args, std::int64_t millis = 0,
               std::int64_t count = 0) {
  h.args = std::move(args);
  h.millis = millis;
  h.count = count;
  return h;
}

Happening saying(Happening h, std::string text) {
  h.text = std::move(text);
  return h;
}

Happening without_node(Happening h) {
  h.node.clear();
  return h;
}

Happening without_claim(Happening h) {
  h.claim.clear();
  return h;
}

// "Warning Pod/cart-1 FailedScheduling: message"
std::vector<std::string> told(const std::vector<kube::ObjectEvent>& events) {
  std::vector<std::string> lines;
  for (const kube::ObjectEvent& event : events)
    lines.push_back(std::string(event.warning ? "Warning " : "Normal ") + event.object.kind + "/" +
                    event.object.name + " " + event.reason + ": " + event.message);
  return lines;
}

TEST(KubeEvents, SayWhatKarpenterSays) {
  struct Case {
    const char* name;
    Happening happening;
    std::vector<std::string> want;
  };
  Happening nominated =
      with(happened(HappeningKind::kPodsExpected), {"shop/cart-1", "shop/cart-2"});
  nominated.uids = {"u1", "u2"};
  Happening pool_condition =
      with(happened(HappeningKind::kConditionChanged, "Ready"), {"Unknown", "False", "A", "b"});
  pool_condition.claim.clear();
  const std::vector<Case> cases = {
      {"pods with a place to come",
       nominated,
       {"Normal Pod/cart-1 Nominated: Pod should schedule on: nodeclaim/web-x1, node/node-1",
        "Normal Pod/cart-2 Nominated: Pod should schedule on: nodeclaim/web-x1, node/node-1"}},
      {"a pod without one",
       with(happened(HappeningKind::kPodUnplaced),
            {"web: taint: did not tolerate taint (taint=a=b:NoSchedule)",
             "batch: limit: all available instance types exceed limits for nodepool "
             "(NodePool=batch)",
             "would do: toleration for a=b:NoSchedule"}),
       {"Warning Pod/cart-1 FailedScheduling: Failed to schedule pod, did not tolerate taint "
        "(taint=a=b:NoSchedule) (NodePool=web); all available instance types exceed limits for "
        "nodepool (NodePool=batch); it would be placed with: toleration for a=b:NoSchedule"}},
      {"a removal of an empty node",
       happened(HappeningKind::kLeaving, "empty"),
       {"Normal Node/node-1 DisruptionTerminating: Disrupting Node: Empty",
        "Normal NodeClaim/web-x1 DisruptionTerminating: Disrupting NodeClaim: Empty"}},
      {"an expiry is no disruption by choice", happened(HappeningKind::kLeaving, "expired"), {}},
      {"no offer at all",
       without_node(happened(HappeningKind::kLeaving, "insufficient_capacity")),
       {"Warning NodeClaim/web-x1 InsufficientCapacityError: NodeClaim web-x1 event: no instance "
        "type that it allows has capacity"}},
      {"no node class",
       saying(without_node(happened(HappeningKind::kLeaving, "insufficient_capacity")),
              "EC2NodeClass web"),
       {"Warning NodeClaim/web-x1 InsufficientCapacityError: NodeClaim web-x1 event: resolving "
        "node class, there is no EC2NodeClass web: create it, or name another one in "
        "spec.nodeClassRef"}},
      {"the cloud has none",
       saying(happened(HappeningKind::kLaunchRefused, "capacity"), "sold out"),
       {"Warning NodeClaim/web-x1 InsufficientCapacityError: NodeClaim web-x1 event: sold out"}},
      {"another refusal is told by the condition",
       happened(HappeningKind::kLaunchRefused, "denied"),
       {}},
      {"a budget that allows nothing",
       with(happened(HappeningKind::kVerdict, "blocked_by_budget"), {"web", "Empty", "0"}),
       {"Normal NodePool/web DisruptionBlocked: No allowed disruptions for disruption reason "
        "Empty due to blocking budget"}},
      {"a budget that is used up",
       with(happened(HappeningKind::kVerdict, "blocked_by_budget"), {"web", "Empty", "2"}),
       {}},
      {"a zone that traffic is shifted away from",
       with(happened(HappeningKind::kVerdict, "zonal_shift_active"), {"us-east-1a", "us-east-1b"}),
       {"Normal NodePool/web ZonalShiftActive: Zonal shift is active, no capacity is launched in "
        "us-east-1a, us-east-1b"}},
      {"and when that is over",
       with(happened(HappeningKind::kVerdict, "zonal_shift_cleared"), {"us-east-1a"}),
       {"Normal NodePool/web ZonalShiftCleared: Zonal shift is over, capacity is launched in "
        "us-east-1a again"}},
      {"a node that a person holds",
       happened(HappeningKind::kVerdict, "held_by_annotation"),
       {"Normal Node/node-1 DisruptionBlocked: Disruption is blocked through the "
        "\"karpenter.sh/do-not-disrupt\" annotation",
        "Normal NodeClaim/web-x1 DisruptionBlocked: Disruption is blocked through the "
        "\"karpenter.sh/do-not-disrupt\" annotation"}},
      {"a node that a pod holds",
       with(happened(HappeningKind::kVerdict, "held_by_pod"), {"default/agent-1"}),
       {"Normal Node/node-1 DisruptionBlocked: Pod has \"karpenter.sh/do-not-disrupt\" annotation "
        "(Pod=default/agent-1)",
        "Normal NodeClaim/web-x1 DisruptionBlocked: Pod has \"karpenter.sh/do-not-disrupt\" "
        "annotation (Pod=default/agent-1)"}},
      {"a node that a budget holds",
       with(happened(HappeningKind::kVerdict, "held_by_budget"), {"default/agents"}),
       {"Normal Node/node-1 DisruptionBlocked: Pdb prevents pod evictions "
        "(PodDisruptionBudget=[default/agents])",
        "Normal NodeClaim/web-x1 DisruptionBlocked: Pdb prevents pod evictions "
        "(PodDisruptionBudget=[default/agents])"}},
      {"too many unhealthy nodes",
       with(happened(HappeningKind::kVerdict, "repair_blocked"), {"nodepool"}),
       {"Warning Node/node-1 NodeRepairBlocked: more than 20% nodes are unhealthy in the nodepool",
        "Warning NodeClaim/web-x1 NodeRepairBlocked: more than 20% nodes are unhealthy in the "
        "nodepool",
        "Warning NodePool/web NodeRepairBlocked: more than 20% nodes are unhealthy in the "
        "nodepool"}},
      {"a notice of an interruption",
       happened(HappeningKind::kInterrupted, "spot_interrupted"),
       {"Warning NodeClaim/web-x1 SpotInterrupted: Spot interruption warning was triggered",
        "Warning Node/node-1 SpotInterrupted: Spot interruption warning was triggered"}},
      {"a recommendation",
       happened(HappeningKind::kInterrupted, "rebalance_recommendation"),
       {"Normal NodeClaim/web-x1 SpotRebalanceRecommendation: Spot rebalance recommendation was "
        "triggered",
        "Normal Node/node-1 SpotRebalanceRecommendation: Spot rebalance recommendation was "
        "triggered"}},
      {"a notice about an instance that is not ours",
       without_claim(happened(HappeningKind::kInterrupted, "spot_interrupted")),
       {}},
      {"a removal for an interruption",
       happened(HappeningKind::kLeaving, "instance_stopping"),
       {"Warning NodeClaim/web-x1 TerminatingOnInterruption: Interruption triggered termination "
        "for the NodeClaim",
        "Warning Node/node-1 TerminatingOnInterruption: Interruption triggered termination for "
        "the Node"}},
      {"a pod that holds a drain for a time",
       with(happened(HappeningKind::kPodHeldUntil), {}, 1'800'000'060'000),
       {"Normal Pod/cart-1 DoNotDisruptUntil: Pod is not disrupted until its "
        "karpenter.sh/do-not-disrupt grace period elapses at 2027-01-15T08:01:00Z"}},
      {"the end of a node",
       happened(HappeningKind::kNodeGone),
       {"Normal Node/node-1 Finalized: Finalized Node"}},
      {"the end of a node that is not ours", without_claim(happened(HappeningKind::kNodeGone)), {}},
      {"the end of a pool",
       happened(HappeningKind::kPoolGone),
       {"Normal NodePool/web Finalized: Finalized NodePool"}},
      {"an eviction",
       happened(HappeningKind::kEvicted, "empty"),
       {"Normal Pod/cart-1 Evicted: Evicted pod: Empty"}},
      {"an eviction for another reason",
       happened(HappeningKind::kEvicted, "expired"),
       {"Normal Pod/cart-1 Evicted: Evicted pod: Forceful Termination"}},
      {"a pod deleted for the deadline",
       with(happened(HappeningKind::kEvicted, "expired"), {"30"}, 1'800'000'005'000, 5),
       {"Normal Pod/cart-1 Disrupted: Deleting the pod for the terminationTime "
        "2027-01-15T08:00:05Z of its node. It is given 5 of its 30 seconds of grace; its PDB and "
        "its do-not-disrupt annotation are bypassed"}},
      {"a disruption budget of pods",
       happened(HappeningKind::kEvictionHeld, "blocked"),
       {"Warning Node/node-1 FailedDraining: Failed to drain node, evicting pod violates a PDB "
        "(Pod=shop/cart-1)"}},
      {"two of them",
       saying(happened(HappeningKind::kEvictionHeld, "retry"),
              "This pod has more than one PodDisruptionBudget, which the eviction subresource does "
              "not support."),
       {"Warning Node/node-1 FailedDraining: Failed to drain node, eviction does not support "
        "multiple PDBs (Pod=shop/cart-1)"}},
      {"pods that wait",
       with(happened(HappeningKind::kDrainWaits), {}, 0, 3),
       {"Warning Node/node-1 FailedDraining: Failed to drain node, 3 pods are waiting to be "
        "evicted"}},
      {"a pool without machines",
       happened(HappeningKind::kVerdict, "no_instance_types"),
       {"Warning NodePool/web NoCompatibleInstanceTypes: NodePool requirements filtered out all "
        "compatible available instance types"}},
      {"volumes that are still attached",
       with(happened(HappeningKind::kVerdict, "volumes_attached"), {"csi-1", "csi-2"}),
       {"Normal Node/node-1 AwaitingVolumeDetachment: Awaiting deletion of bound "
        "volumeattachments (csi-1, csi-2)"}},
      {"a machine that is smaller than it was sold",
       with(happened(HappeningKind::kConditionChanged, "ConsistentStateFound"),
            {"Unknown", "False", "ConsistencyCheckFailed", "too small"}),
       {"Normal NodeClaim/web-x1 ConsistentStateFound: Status condition transitioned, Type: "
        "ConsistentStateFound, Status: Unknown -> False, Reason: ConsistencyCheckFailed, Message: "
        "too small",
        "Warning NodeClaim/web-x1 FailedConsistencyCheck: too small"}},
      {"a deadline",
       with(happened(HappeningKind::kDeadlineSet), {}, 1'800'000'060'000),
       {"Warning Node/node-1 TerminationGracePeriodExpiring: All pods will be deleted by "
        "2027-01-15T08:01:00Z",
        "Warning NodeClaim/web-x1 TerminationGracePeriodExpiring: All pods will be deleted by "
        "2027-01-15T08:01:00Z"}},
      {"a node that let pods in too early",
       happened(HappeningKind::kTaintMissing),
       {"Warning NodeClaim/web-x1 UnregisteredTaintMissing: Node node-1 joined without the taint "
        "karpenter.sh/unregistered:NoExecute, which keeps pods away until it is registered"}},
      {"a condition of a claim",
       with(happened(HappeningKind::kConditionChanged, "Launched"),
            {"Unknown", "True", "Launched", ""}),
       {"Normal NodeClaim/web-x1 Launched: Status condition transitioned, Type: Launched, Status: "
        "Unknown -> True, Reason: Launched"}},
      {"a condition of a pool, with its message",
       pool_condition,
       {"Normal NodePool/web Ready: Status condition transitioned, Type: Ready, Status: Unknown -> "
        "False, Reason: A, Message: b"}},
      {"the end of a claim",
       happened(HappeningKind::kClaimGone),
       {"Normal NodeClaim/web-x1 Finalized: Finalized NodeClaim"}},
      {"what is for the log lines only", happened(HappeningKind::kTerminated), {}},
  };
  for (const Case& test : cases) {
    KubeEvents events;
    EXPECT_EQ(told(events.of({test.happening})), test.want) << test.name;
  }
}

TEST(KubeEvents, ARepetitionIsLeftOutForItsWindow) {
  struct Case {
    HappeningKind kind;
    std::int64_t window_millis;
  };
  for (const Case& test :
       {Case{HappeningKind::kPodUnplaced, 300'000}, Case{HappeningKind::kDrainWaits, 120'000}}) {
    KubeEvents events;
    Happening h = with(happened(test.kind), {"web: taint: no"}, 0, 1);
    const base::LogTime first = h.time;
    EXPECT_EQ(events.of({h, h}).size(), 1u);
    h.time = first + (test.window_millis - 1);
    EXPECT_EQ(events.of({h}).size(), 0u);
    h.node_uid = h.pod_uid = "another";
    EXPECT_EQ(events.of({h}).size(), 1u) << "of another object it is news";
    h.node_uid = "node-uid";
    h.pod_uid = "pod-uid";
    h.time = first + test.window_millis;
    EXPECT_EQ(events.of({h}).size(), 1u);
  }
}

TEST(KubeEvents, TheBucketsBoundThem) {
  KubeEvents events;
  Happening nominated = happened(HappeningKind::kPodsExpected);
  for (int i = 0; i < 50; ++i) {
    nominated.args.push_back("shop/cart-" + std::to_string(i));
    nominated.uids.push_back(std::to_string(i));
  }
  EXPECT_EQ(events.of({nominated}).size(), static_cast<std::size_t>(kNominatedBurst));
  nominated.time = nominated.time + 1000;
  EXPECT_EQ(events.of({nominated}).size(), static_cast<std::size_t>(kNominatedPerSecond))
      << "those that were left out are still news";

  KubeEvents others;
  std::vector<Happening> many;
  for (int i = 0; i < 1000; ++i) {
    many.push_back(happened(HappeningKind::kClaimGone));
    many.back().claim_uid = std::to_string(i);
  }
  EXPECT_EQ(others.of(many).size(), static_cast<std::size_t>(kEventsBurst));
}

TEST(KubeEvents, EachHasANameOfItsOwn) {
  KubeEvents events;
  const auto both = events.of({happened(HappeningKind::kLeaving, "empty"),
                               with(happened(HappeningKind::kDeadlineSet), {}, 1'800'000'060'000)});
  ASSERT_EQ(both.size(), 4u);
  std::set<std::string> names;
  for (const auto& event : both) names.insert(event.name_suffix);
  EXPECT_EQ(names.size(), 4u);
}

// What the log of a story tells: the events themselves come from the Watcher.
class Told {
 public:
  explicit Told(const events::MemoryLog& log) : log_(log) {}
  std::vector<std::string> next(const projections::ClusterState& state) {
    std::vector<Happening> happenings;
    auto cursor = log_.read(from_);
    EXPECT_TRUE(cursor);
    while (cursor && from_ < log_.end()) {
      auto event = (*cursor)->next();
      if (!event || !*event) break;
      from_ = model::Position((*event)->envelope.position.value() + 1);
      watcher_.see(**event, state, happenings);
    }
    return told(events_.of(happenings));
  }

 private:
  const events::MemoryLog& log_;
  model::Position from_{1};
  Watcher watcher_;
  KubeEvents events_;
};

bool has(const std::vector<std::string>& lines, std::string_view part) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return line.find(part) != line.npos; });
}

TEST(KubeEvents, AStoryTellsOfItsObjects) {
  using namespace engine::testing;
  events::MemoryLog log(model::LogId("log"));
  engine::testing::Story story(log);
  Told told_of(log);
  set_the_stage(story);
  add_pods(story, 1);
  model::PodShape huge = shape_of(1'000'000);
  story.fact(events::ShapeRecorded{model::hash_of(huge), huge});
  story.fact(events::PodObserved{pending_pod("huge", huge)});
  story.step();
  const auto launches = create_claims(story);
  ASSERT_EQ(launches.size(), 1u);
  const auto lines = told_of.next(story.state());
  EXPECT_TRUE(has(lines, "Normal Pod/pod-0 Nominated: Pod should schedule on: nodeclaim/default-"));
  EXPECT_TRUE(has(lines,
                  "Warning Pod/huge FailedScheduling: Failed to schedule pod, no instance "
                  "type has enough resources"))
      << (lines.empty() ? "" : lines.back());

  const auto& launch = std::get<model::Launch>(launches[0].spec);
  model::NodeClaim claim = story.state().claims().find(launch.items[0].name)->claim;
  claim.conditions = {{"Launched", model::ConditionStatus::kTrue, "Launched", "", 1}};
  claim.termination_grace_millis = 60'000;
  story.fact(events::NodeClaimObserved{claim});
  story.step();
  claim.deletion_millis = story.now();
  story.fact(events::NodeClaimObserved{claim});
  story.step();
  const auto later = told_of.next(story.state());
  EXPECT_TRUE(has(later,
                  "Launched: Status condition transitioned, Type: Launched, Status: "
                  "Unknown -> True, Reason: Launched"));
  EXPECT_TRUE(has(later, "TerminationGracePeriodExpiring: All pods will be deleted by "));
}

TEST(KubeEvents, AClaimOfANodeClassThatThereIsNotNamesIt) {
  using namespace engine::testing;
  events::MemoryLog log(model::LogId("log"));
  engine::testing::Story story(log);
  Told told_of(log);
  set_the_stage(story);
  model::NodeClaim claim;
  claim.name = model::ClaimName("by-hand");
  claim.uid = model::ClaimUid("uid");
  claim.node_class = {"karpenter.kwok.sh", "KWOKNodeClass", "defualt"};
  claim.creation_millis = story.now();
  claim.has_finalizer = true;
  story.fact(events::NodeClaimObserved{claim});
  story.step();
  const auto lines = told_of.next(story.state());
  EXPECT_TRUE(has(lines, "resolving node class, there is no KWOKNodeClass defualt: create it"))
      << (lines.empty() ? "" : lines.back());
}

}  // namespace
}  // namespace karst::daemon
