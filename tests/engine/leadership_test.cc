// A standby admits facts and decides nothing; a takeover decides once everything was listed anew.
#include "tests/engine/stage.h"

namespace karst::engine {
namespace {

using namespace testing;

TEST(Leadership, AStandbyFollowsAndDecidesNothing) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  story.fact(events::LeadershipLost{0});
  set_the_stage(story);
  add_pods(story, 3);
  story.step(20'000);
  EXPECT_EQ(story.state().pods().pending().size(), 3u) << "it knows them";
  EXPECT_TRUE(story.take<model::CreateNodeClaim>().empty());
  EXPECT_EQ(story.state().commands().size(), 0u);
  EXPECT_EQ(verified(log).difference, std::nullopt);
}

TEST(Leadership, ATakeoverWaitsForListsThatBeganAfterIt) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  story.fact(events::LeadershipLost{0});
  set_the_stage(story);
  add_pods(story, 3);
  story.fact(events::ListStarted{"NodeClaim"});  // asked for before the epoch
  story.fact(events::EpochOpened{7, "me"});
  story.fact(events::ListEnded{"NodeClaim", "9"});
  story.step(20'000);
  EXPECT_EQ(story.state().epoch(), 7u);
  EXPECT_FALSE(story.state().leadership_lost());
  EXPECT_FALSE(story.state().listed("NodeClaim")) << "that list says nothing about the last leader";
  EXPECT_TRUE(story.take<model::CreateNodeClaim>().empty());
  // The lists name what the last leader had made meanwhile.
  story.list("NodeClass",
             {events::NodeClassObserved{
                 {{"karpenter.kwok.sh", "KWOKNodeClass", "default"}, "c1", 1, true, 0, "{}"}}});
  story.list("NodePool", {events::NodePoolObserved{pool_of("default")}});
  std::vector<events::Body> pods;
  const model::PodShape shape = shape_of(500);
  for (int i = 0; i < 3; ++i)
    pods.push_back(events::PodObserved{pending_pod("pod-" + std::to_string(i), shape)});
  story.list("Pod", pods);
  for (const char* kind : {"Node", "NodeClaim", "DaemonSet", "Instance"}) story.list(kind, {});
  for (const std::string_view kind : model::kNamedKinds) story.list(std::string(kind), {});
  story.step(20'000);
  EXPECT_FALSE(story.take<model::CreateNodeClaim>().empty());
  EXPECT_EQ(verified(log).difference, std::nullopt);
}

// The urgent lane brings the epoch before what was offered earlier.
TEST(Leadership, AListThatTheEpochOvertookCountsForNothing) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  story.fact(events::LeadershipLost{0});
  set_the_stage(story);
  story.fact(events::EpochOpened{7, "me"}, 3);
  story.fact(events::ListStarted{"Node"}, 1);
  story.fact(events::ListEnded{"Node", "9"}, 2);
  story.fact(events::ListStarted{"NodeClaim"}, 2);
  story.fact(events::ListEnded{"NodeClaim", "9"}, 4);
  story.step();
  EXPECT_FALSE(story.state().listed("Node"));
  EXPECT_FALSE(story.state().listed("NodeClaim")) << "it began before the epoch";
  story.fact(events::ListStarted{"Node"}, 5);
  story.fact(events::ListEnded{"Node", "12"}, 6);
  story.step();
  EXPECT_TRUE(story.state().listed("Node"));
  EXPECT_EQ(verified(log).difference, std::nullopt);
}

TEST(Leadership, WhatWasOpenWhenItWasLostIsUnclearInTheNextEpoch) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  add_pods(story, 3);
  story.step(20'000);
  ASSERT_FALSE(story.take<model::CreateNodeClaim>().empty());
  story.fact(events::LeadershipLost{0});
  story.step(1'000);
  EXPECT_TRUE(story.state().leadership_lost());
  story.fact(events::EpochOpened{8, "me"});
  story.step(1'000);
  ASSERT_GT(story.state().commands().size(), 0u);
  for (const auto& [position, slot] : story.state().commands().slots())
    EXPECT_EQ(slot.row.state, projections::CommandState::kUnclear);
  EXPECT_EQ(verified(log).difference, std::nullopt);
}

// The node as it is, with or without the taint of a removal.
void show_taint(Story& story, bool tainted) {
  model::Node node = story.state().nodes().find(model::NodeName("node-1"))->node;
  node.taints.clear();
  if (tainted)
    node.taints = {{std::string(model::kDisruptedTaintKey), "", model::TaintEffect::kNoSchedule}};
  story.fact(events::NodeObserved{node});
}

// Every list once more, naming what the state knows.
void relist(Story& story) {
  const auto& state = story.state();
  std::vector<events::Body> nodes, claims, instances;
  for (const auto& [name, slot] : state.nodes().slots())
    nodes.push_back(events::NodeObserved{slot.row.node});
  for (const auto& [name, slot] : state.claims().slots())
    claims.push_back(events::NodeClaimObserved{slot.row.claim});
  for (const auto& [id, slot] : state.instances().slots())
    instances.push_back(events::InstanceObserved{slot.row.instance});
  story.list("NodeClass",
             {events::NodeClassObserved{
                 {{"karpenter.kwok.sh", "KWOKNodeClass", "default"}, "c1", 1, true, 0, "{}"}}});
  story.list("NodePool", {events::NodePoolObserved{pool_of("default")}});
  story.list("Node", std::move(nodes));
  story.list("NodeClaim", std::move(claims));
  story.list("Instance", std::move(instances));
  for (const char* kind : {"DaemonSet", "Pod"}) story.list(kind, {});
  for (const std::string_view kind : model::kNamedKinds) story.list(std::string(kind), {});
}

TEST(Leadership, ARemovalThatAnEarlierEpochLeftOpenIsCalledOffAndDecidedAnew) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  bring_up_an_empty_node(story);
  story.step(100);
  auto taints = story.take<model::TaintNode>();
  ASSERT_EQ(taints.size(), 1u);
  story.answer(taints[0], model::OutcomeKind::kDone);
  show_taint(story, true);
  story.fact(events::LeadershipLost{0});
  story.step(100);
  story.fact(events::EpochOpened{2, "me"});
  story.step(60'000);  // past the time that an echo is given
  ASSERT_EQ(story.state().claims().size(), 1u);
  EXPECT_FALSE(story.state().claims().slots().begin()->second.row.candidate);
  relist(story);
  story.step(100);
  taints = story.take<model::TaintNode>();
  ASSERT_EQ(taints.size(), 1u);
  EXPECT_FALSE(std::get<model::TaintNode>(taints[0].spec).add) << "nobody goes on with it";
  story.answer(taints[0], model::OutcomeKind::kDone);
  show_taint(story, false);
  story.step(100);
  story.step(60'000);
  taints = story.take<model::TaintNode>();
  ASSERT_EQ(taints.size(), 1u) << "it is empty, and goes by the usual way";
  EXPECT_TRUE(std::get<model::TaintNode>(taints[0].spec).add);
  EXPECT_EQ(verified(log).difference, std::nullopt);
}

TEST(Leadership, ARestartSaysItselfWhetherItLeads) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  story.fact(events::LeadershipLost{0});
  story.step();
  EXPECT_TRUE(story.state().leadership_lost());
  story.start();
  EXPECT_FALSE(story.state().leadership_lost()) << "it may be alone now";
}

}  // namespace
}  // namespace karst::engine
