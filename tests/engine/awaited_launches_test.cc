// Pods that come while a machine is on its way: it may have room for them.
#include "tests/engine/stage.h"

namespace karst::engine {
namespace {

using namespace testing;

// The pod that the claim was made for is evicted and made anew while the claim is being launched,
// as each pod of a drained node is.
struct AwaitedLaunch : ::testing::Test {
  AwaitedLaunch() {
    set_the_stage(story);
    launch = launch_for_one_pod(story);
    story.fact(events::PodObserved{pending_pod("pod-0-again", shape_of(500))});
    story.fact(events::PodGone{model::PodUid("pod-0"), "default", "pod-0"});
    story.step();
    story.step(1'100);
  }
  const projections::PodRow& again() const { return story.state().pods().row_of("pod-0-again"); }

  events::MemoryLog log{model::LogId("log")};
  Story story{log};
  ports::IssuedCommand launch;
};

TEST_F(AwaitedLaunch, NothingIsBoughtMeanwhile) {
  for (int second = 0; second < 20; ++second) story.step(1'000);
  EXPECT_TRUE(story.take<model::CreateNodeClaim>().empty());
  const auto& order = std::get<model::Launch>(launch.spec);
  story.answer(launch, model::OutcomeKind::kDone, {instance_for(order, 0, launch.id)});
  story.step();
  story.step(1'100);
  EXPECT_TRUE(story.take<model::CreateNodeClaim>().empty());
  EXPECT_EQ(again().expected_claim, order.items[0].name);
  EXPECT_FALSE(verified(log).difference);
}

TEST_F(AwaitedLaunch, ARefusedOneIsNotWaitedFor) {
  story.answer(launch, model::OutcomeKind::kRefused, {}, model::RefusalCode::kCapacity);
  story.step();
  story.step(1'100);
  EXPECT_EQ(story.take<model::CreateNodeClaim>().size(), 1u);
}

TEST_F(AwaitedLaunch, NorOneWithoutAnAnswerForLong) {
  for (int second = 0; second < 30; ++second) story.step(1'000);
  EXPECT_EQ(story.take<model::CreateNodeClaim>().size(), 1u);
  EXPECT_FALSE(verified(log).difference);
}

}  // namespace
}  // namespace karst::engine
