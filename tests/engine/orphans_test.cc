// Nodes and machines that no claim stands behind.
#include "tests/engine/stage.h"

namespace karst::engine {
namespace {

using namespace testing;

// A node with a pool's label and no claim, made by somebody else.
model::Node pet() {
  model::Node node;
  node.name = model::NodeName("pet");
  node.uid = model::NodeUid("pet-uid");
  node.provider_id = model::ProviderId("kwok://pet");
  node.labels = {{"karpenter.sh/nodepool", "default"}};
  node.ready = true;
  return node;
}

TEST(Orphans, AMachineWithoutOurTagIsLeftAloneAndSoIsItsNode) {
  for (const bool has_tag : {false, true}) {
    events::MemoryLog log(model::LogId("log"));
    Story story(log);
    set_the_stage(story);
    story.fact(events::NodeObserved{pet()});
    story.step();
    std::size_t terminated = 0;
    for (int second = 0; second < 300; ++second) {
      story.step(1'000);
      for (const auto& command : story.take<model::FindInstances>()) {
        model::Instance machine;
        machine.provider_id = model::ProviderId("kwok://pet");
        if (has_tag) machine.claim = model::ClaimUid("uid-of-a-claim-that-is-gone");
        story.answer(command, model::OutcomeKind::kDone, {machine});
      }
      terminated += story.take<model::Terminate>().size();
    }
    EXPECT_EQ(terminated > 0, has_tag);
    if (!has_tag) {
      EXPECT_TRUE(story.take<model::DeleteObject>().empty());
    }
  }
}

// A launch may make more than was ordered.
TEST(Orphans, ASecondMachineOfALivingClaimIsEnded) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  const ports::IssuedCommand launch = launch_for_one_pod(story);
  const auto& order = std::get<model::Launch>(launch.spec);
  const model::Instance own = instance_for(order, 0, launch.id);
  model::Instance second = own;
  second.provider_id = model::ProviderId("kwok://second");
  story.answer(launch, model::OutcomeKind::kDone, {own, second});
  std::vector<std::string> ended;
  for (int second_passed = 0; second_passed < 60; ++second_passed) {
    story.step(1'000);
    for (const auto& command : story.take<model::FindInstances>()) {
      const auto& look = std::get<model::FindInstances>(command.spec);
      story.answer(command, model::OutcomeKind::kDone,
                   {look.provider_id == own.provider_id ? own : second});
    }
    for (const auto& command : story.take<model::Terminate>())
      ended.push_back(std::get<model::Terminate>(command.spec).provider_id.str());
  }
  const auto* claim = story.state().claims().find(order.items[0].name);
  EXPECT_EQ(claim->instance.provider_id, own.provider_id);
  ASSERT_FALSE(ended.empty());
  for (const std::string& id : ended) EXPECT_EQ(id, "kwok://second");
  EXPECT_EQ(verified(log).difference, std::nullopt);
}

}  // namespace
}  // namespace karst::engine
