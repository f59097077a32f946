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

}  // namespace
}  // namespace karst::engine
