// What most engine stories begin with: pools and lists, pending pods, claims that were made, a node
// that is up.
#pragma once

#include "tests/engine/story.h"

namespace karst::engine::testing {

inline void set_the_stage(Story& story, const model::NodePool& pool = pool_of("default")) {
  story.list("NodeClass",
             {events::NodeClassObserved{
                 {{"karpenter.kwok.sh", "KWOKNodeClass", "default"}, "c1", 1, true, 0, "{}"}}});
  story.list("NodePool", {events::NodePoolObserved{pool}});
  story.list_all();
  story.step();
}

inline void add_pods_of(Story& story, int count, const model::PodShape& shape) {
  story.fact(events::ShapeRecorded{model::hash_of(shape), shape});
  for (int i = 0; i < count; ++i)
    story.fact(events::PodObserved{pending_pod("pod-" + std::to_string(i), shape)});
  story.step();
}
inline void add_pods(Story& story, int count, std::int64_t cpu_millis = 500) {
  add_pods_of(story, count, shape_of(cpu_millis));
}

// A claim of the pool "default" that the API server has and nobody has launched.
inline model::NodeClaim unlaunched_claim(const Story& story, const std::string& which,
                                         std::int64_t cpu_millis = 0) {
  model::NodeClaim claim;
  claim.name = model::ClaimName("claim-" + which);
  claim.uid = model::ClaimUid("uid-" + which);
  claim.pool = model::PoolName("default");
  claim.node_class = pool_of("default").node_class;
  claim.requests.cpu_millis = cpu_millis;
  claim.has_finalizer = true;
  claim.creation_millis = story.now();
  return claim;
}

// Of a launch: none of it, for these have nothing left.
inline void refuse_for_capacity(Story& story, const ports::IssuedCommand& command,
                                std::vector<model::Offer> exhausted) {
  model::Outcome outcome;
  outcome.command = command.id.position;
  outcome.attempt = command.attempt;
  outcome.kind = model::OutcomeKind::kRefused;
  outcome.code = model::RefusalCode::kCapacity;
  outcome.exhausted = std::move(exhausted);
  story.fact(std::move(outcome));
}

// Steps past the batch window and creates what was asked for; returns the launches that follow.
inline std::vector<ports::IssuedCommand> create_claims(Story& story) {
  story.step(1100);
  for (const auto& command : story.take<model::CreateNodeClaim>()) {
    model::NodeClaim claim = std::get<model::CreateNodeClaim>(command.spec).claim;
    claim.uid = model::ClaimUid("uid-" + claim.name.str());
    claim.creation_millis = story.now();
    story.fact(events::NodeClaimObserved{claim});
    story.answer(command, model::OutcomeKind::kDone);
  }
  story.step();
  return story.take<model::Launch>();
}

// One pod's claim is made: the launch that follows.
inline ports::IssuedCommand launch_for_one_pod(Story& story) {
  add_pods(story, 1);
  const auto launches = create_claims(story);
  EXPECT_EQ(launches.size(), 1u);
  return launches.at(0);
}

// The machine's node as it joins: "node-1", registered, initialized and ready.
inline model::Node node_up(const model::Instance& instance) {
  model::Node node;
  node.name = model::NodeName("node-1");
  node.uid = model::NodeUid("node-uid-1");
  node.provider_id = instance.provider_id;
  node.labels = {{"karpenter.sh/initialized", "true"}, {"karpenter.sh/registered", "true"}};
  node.capacity = instance.capacity;
  node.allocatable = instance.allocatable;
  node.ready = true;
  return node;
}

// The machine of the launch's first claim joins as "node-1" and is ready.
inline void come_up(Story& story, const ports::IssuedCommand& command) {
  const auto& launch = std::get<model::Launch>(command.spec);
  const model::Instance instance = instance_for(launch, 0, command.id);
  story.answer(command, model::OutcomeKind::kDone, {instance});
  model::Node node = node_up(instance);
  node.has_finalizer = true;
  story.fact(events::NodeObserved{node});
  model::NodeClaim claim = story.state().claims().find(launch.items[0].name)->claim;
  claim.provider_id = instance.provider_id;
  claim.conditions = {{"Ready", model::ConditionStatus::kTrue, "Ready", "", 1}};
  story.fact(events::NodeClaimObserved{claim});
}

// One claim's node, up and ready, with nothing on it: its pods are gone again.
inline void bring_up_an_empty_node(Story& story) {
  come_up(story, launch_for_one_pod(story));
  story.fact(events::PodGone{model::PodUid("pod-0"), "default", "pod-0"});
}

inline VerifyReport verified(const events::EventLog& log) {
  auto report = verify(log, "test", false);
  EXPECT_TRUE(report) << report.error().message;
  return report ? *report : VerifyReport{};
}

}  // namespace karst::engine::testing
