// Places that waiting pods keep, and pods for which no place is made.
#include "tests/engine/way_down.h"

namespace karst::engine {
namespace {

using namespace testing;

void bind(Story& story, const model::PodShape& shape) {
  model::Pod pod = pending_pod("pod-0", shape);
  pod.unschedulable = false;
  pod.node = model::NodeName(kNode);
  pod.phase = model::PodPhase::kRunning;
  story.fact(events::PodObserved{pod});
}

// A volume that takes its time, a kube-scheduler that is behind: the pod's own expectation is not
// in its way, and its node is not empty.
TEST(Places, APodThatIsBoundLateKeepsItsMachine) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  add_pods(story, 1, 3000);  // of 4000: two of it have no room
  const auto launches = create_claims(story);
  ASSERT_EQ(launches.size(), 1u);
  come_up(story, launches[0]);
  story.step();
  for (int i = 0; i < 5; ++i) {
    story.step(25 * kSecond);  // past the nomination
    story.step(2 * kSecond);
    EXPECT_TRUE(story.take<model::CreateNodeClaim>().empty()) << i;
    EXPECT_TRUE(story.take<model::TaintNode>().empty()) << i;
    EXPECT_EQ(story.state().pods().row_of("pod-0").expected_node.str(), kNode) << i;
  }
  EXPECT_FALSE(verified(log).difference);
}

model::DisruptionBudget budget(const std::string& name, bool fully_blocking) {
  model::DisruptionBudget one;
  one.namespace_name = "default";
  one.name = one.uid = name;
  one.fully_blocking = fully_blocking;
  return one;
}

// Whoever may not be evicted from a leaving node gets no place elsewhere: it would stand empty.
TEST(Places, AreMadeForThosePodsOfALeavingNodeThatMayGo) {
  const struct {
    const char* name;
    PodOf pod;
    std::vector<model::DisruptionBudget> budgets;
    bool interrupted;
    bool gets_a_place;
  } cases[] = {
      {"nothing holds it", {"p", ""}, {}, false, true},
      {"do-not-disrupt",
       {"p", "", model::OwnerKind::kReplicaSet, model::DoNotDisrupt::kForever},
       {},
       false,
       false},
      {"do-not-disrupt for a time",
       {"p", "", model::OwnerKind::kReplicaSet, model::DoNotDisrupt::kForDuration, 60 * kSecond},
       {},
       false,
       false},
      {"do-not-disrupt, and the machine is taken away",
       {"p", "", model::OwnerKind::kReplicaSet, model::DoNotDisrupt::kForever},
       {},
       true,
       true},
      {"a budget that never allows it", {"p", ""}, {budget("a", true)}, false, false},
      {"a budget that may allow it", {"p", ""}, {budget("a", false)}, false, true},
      {"two budgets", {"p", ""}, {budget("a", false), budget("b", false)}, false, false},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.name);
    WayDown way;
    for (const auto& held_by : one.budgets) way.story.fact(events::ObjectObserved{held_by});
    way.add(one.pod);
    way.story.step();
    if (one.interrupted) {
      model::Interruption notice;
      notice.message = model::MessageId("m-1");
      notice.provider_id = way.node().provider_id;
      notice.kind = model::InterruptionKind::kSpotInterruption;
      way.story.fact(events::InterruptionReceived{notice});
    }
    way.leave();
    way.story.step(2 * kSecond);
    EXPECT_EQ(!way.story.take<model::CreateNodeClaim>().empty(), one.gets_a_place);
  }
}

// The end of its time brings the pod its place, without another event.
TEST(Places, AreMadeWhenAHoldIsOver) {
  WayDown way;
  way.add(
      {"p", "", model::OwnerKind::kReplicaSet, model::DoNotDisrupt::kForDuration, 60 * kSecond});
  way.leave();
  way.story.step(2 * kSecond);
  EXPECT_TRUE(way.story.take<model::CreateNodeClaim>().empty());
  way.story.step(60 * kSecond);
  way.story.step(2 * kSecond);
  EXPECT_FALSE(way.story.take<model::CreateNodeClaim>().empty());
}

// A Karpenter that stopped between its taint and its removal leaves the node cordoned.
TEST(Places, ATaintThatNobodyGoesOnWithIsTakenOffWithPodsOnTheNode) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  come_up(story, launch_for_one_pod(story));
  bind(story, shape_of(500));
  story.step();
  ASSERT_TRUE(story.take<model::TaintNode>().empty());
  model::Node node = story.state().nodes().find(model::NodeName(kNode))->node;
  node.taints.push_back(
      {std::string(model::kDisruptedTaintKey), "", model::TaintEffect::kNoSchedule});
  story.fact(events::NodeObserved{node});
  story.step();
  const auto taints = story.take<model::TaintNode>();
  ASSERT_EQ(taints.size(), 1u);
  EXPECT_FALSE(std::get<model::TaintNode>(taints[0].spec).add);
  EXPECT_FALSE(verified(log).difference);
}

}  // namespace
}  // namespace karst::engine
