// Nodes whose machines are taken: who is served first.
#include "tests/engine/stage.h"

namespace karst::engine {
namespace {

using namespace testing;

// A node "node-LETTER" of the claim "default-LETTER", both up, with one pod that needs a place.
void bring_up(Story& story, const std::string& letter) {
  model::NodeClaim claim;
  claim.name = model::ClaimName("default-" + letter);
  claim.uid = model::ClaimUid("uid-" + letter);
  claim.pool = model::PoolName("default");
  claim.node_class = {"karpenter.kwok.sh", "KWOKNodeClass", "default"};
  claim.provider_id = model::ProviderId("kwok://" + letter);
  claim.has_finalizer = true;
  claim.creation_millis = story.now();
  story.fact(events::NodeClaimObserved{claim});
  model::Instance instance;
  instance.provider_id = claim.provider_id;
  model::Node node = node_up(instance);
  node.name = model::NodeName("node-" + letter);
  node.uid = model::NodeUid("node-uid-" + letter);
  story.fact(events::NodeObserved{node});
  model::Pod pod = pending_pod("pod-" + letter, shape_of(500));
  pod.unschedulable = false;
  pod.node = node.name;
  pod.phase = model::PodPhase::kRunning;
  story.fact(events::PodObserved{pod});
}

// What the round sends to make or unmake nodes, in its order.
std::vector<std::string> sent_in(const Round& round) {
  std::vector<std::string> sent;
  for (const ports::IssuedCommand& command : round.to_dispatch)
    if (const auto* taint = std::get_if<model::TaintNode>(&command.spec))
      sent.push_back("taint " + taint->node.str());
    else if (const auto* gone = std::get_if<model::DeleteObject>(&command.spec))
      sent.push_back("delete " + gone->object.name);
    else if (std::holds_alternative<model::CreateNodeClaim>(command.spec))
      sent.push_back("create");
  return sent;
}

TEST(Interruption, TheEarliestDeadlineIsServedFirstAndReplacementsDoNotWait) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  story.fact(events::ShapeRecorded{model::hash_of(shape_of(500)), shape_of(500)});
  const std::pair<const char*, int> nodes[] = {{"a", 90}, {"b", 30}, {"c", 60}};
  for (const auto& [letter, seconds] : nodes) bring_up(story, letter);
  EXPECT_EQ(sent_in(story.step()), std::vector<std::string>{});
  for (const auto& [letter, seconds] : nodes) {
    model::Interruption notice;
    notice.message = model::MessageId(std::string("m-") + letter);
    notice.kind = model::InterruptionKind::kSpotInterruption;
    notice.provider_id = model::ProviderId(std::string("kwok://") + letter);
    notice.deadline_millis = story.now() + seconds * base::kMillisPerSecond;
    story.fact(events::InterruptionReceived{notice});
  }
  EXPECT_EQ(
      sent_in(story.step()),
      (std::vector<std::string>{"taint node-b", "taint node-c", "taint node-a", "delete default-b",
                                "delete default-c", "delete default-a", "create"}));
  EXPECT_EQ(verified(log).difference, std::nullopt);
}

TEST(Interruption, WithoutADeadlineOneThatStopsAlreadyGoesFirstAndAnyOtherLast) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  story.fact(events::ShapeRecorded{model::hash_of(shape_of(500)), shape_of(500)});
  const std::tuple<const char*, int, model::InterruptionKind> nodes[] = {
      {"a", 0, model::InterruptionKind::kScheduledChange},
      {"b", 30, model::InterruptionKind::kSpotInterruption},
      {"c", 0, model::InterruptionKind::kInstanceStopping}};
  for (const auto& [letter, seconds, kind] : nodes) bring_up(story, letter);
  story.step();
  for (const auto& [letter, seconds, kind] : nodes) {
    model::Interruption notice;
    notice.message = model::MessageId(std::string("m-") + letter);
    notice.kind = kind;
    notice.provider_id = model::ProviderId(std::string("kwok://") + letter);
    if (seconds > 0) notice.deadline_millis = story.now() + seconds * base::kMillisPerSecond;
    story.fact(events::InterruptionReceived{notice});
  }
  EXPECT_EQ(
      sent_in(story.step()),
      (std::vector<std::string>{"taint node-c", "taint node-b", "taint node-a", "delete default-c",
                                "delete default-b", "delete default-a", "create"}));
  EXPECT_EQ(verified(log).difference, std::nullopt);
}

// A warning that waited in the queue while karst was down, about a machine that is still there.
TEST(Interruption, AWarningOfLongAgoIsHeededWithoutBelievingTheMachineGone) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  story.fact(events::ShapeRecorded{model::hash_of(shape_of(500)), shape_of(500)});
  bring_up(story, "a");
  story.step();
  model::Interruption notice;
  notice.message = model::MessageId("m");
  notice.kind = model::InterruptionKind::kSpotInterruption;
  notice.provider_id = model::ProviderId("kwok://a");
  notice.deadline_millis = story.now() - 3 * 24 * 60 * base::kMillisPerMinute;
  story.fact(events::InterruptionReceived{notice});
  story.fact(events::InterruptionReceived{
      {model::MessageId("m-2"), notice.kind, model::ProviderId("kwok://gone"), 1}});
  EXPECT_EQ(sent_in(story.step()),
            (std::vector<std::string>{"taint node-a", "delete default-a", "create"}));
  model::NodeClaim leaving = story.state().claims().find(model::ClaimName("default-a"))->claim;
  leaving.deletion_millis = story.now();
  story.fact(events::NodeClaimObserved{leaving});
  model::Node tainted = story.state().nodes().find(model::NodeName("node-a"))->node;
  tainted.taints.push_back(
      {std::string(model::kDisruptedTaintKey), "", model::TaintEffect::kNoSchedule});
  story.fact(events::NodeObserved{tainted});
  story.step();
  const auto looks = story.take<model::FindInstances>();
  ASSERT_EQ(looks.size(), 1u) << "is it there?";
  model::Instance there;
  there.provider_id = notice.provider_id;
  there.claim = leaving.uid;
  there.state = model::InstanceState::kRunning;
  story.answer(looks[0], model::OutcomeKind::kDone, {there});
  story.step();
  EXPECT_EQ(story.take<model::EvictPod>().size(), 1u) << "then it is drained like any other";
}

}  // namespace
}  // namespace karst::engine
