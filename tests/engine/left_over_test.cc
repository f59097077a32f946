// Pods that no pool has a place for, and what their waiting must not change for others.
#include "tests/engine/way_down.h"

namespace karst::engine {
namespace {

using namespace testing;

constexpr std::int64_t kPassEveryMillis = 10'000;  // for those that were left over

model::PodShape hopeless_shape() {
  model::PodShape shape = shape_of(100);
  shape.node_selector = {{"nobody", "has"}};
  return shape;
}

void add(Story& story, const std::string& uid, const model::PodShape& shape) {
  story.fact(events::ShapeRecorded{model::hash_of(shape), shape});
  story.fact(events::PodObserved{pending_pod(uid, shape)});
}

// A pod that nothing suits has been looked at, and its own batch window is long over.
void leave_one_over(Story& story) {
  add(story, "hopeless", hopeless_shape());
  story.step();
  story.step(1'100);
  story.step(kPassEveryMillis);
  story.step(kPassEveryMillis);
  EXPECT_TRUE(story.take<model::CreateNodeClaim>().empty());
}

// Pods that come one after another are bought for together, as if there were no other.
TEST(LeftOver, DoNotShortenTheBatchWindowOfOthers) {
  for (const bool one_is_left_over : {false, true}) {
    events::MemoryLog log(model::LogId("log"));
    Story story(log);
    set_the_stage(story);
    if (one_is_left_over) leave_one_over(story);
    for (int number = 0; number < 12; ++number) {
      add(story, "pod-" + std::to_string(number), shape_of(500));
      story.step(200);
      EXPECT_TRUE(story.take<model::CreateNodeClaim>().empty()) << number;
    }
    story.step(1'000);
    EXPECT_EQ(story.take<model::CreateNodeClaim>().size(), 1u) << one_is_left_over;
    EXPECT_FALSE(verified(log).difference);
  }
}

TEST(LeftOver, AreLookedAtAgainWithoutAnybodyElse) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  leave_one_over(story);
  model::NodePool pool = pool_of("other");
  pool.template_labels = {{"nobody", "has"}};
  story.fact(events::NodePoolObserved{pool});
  story.step(kPassEveryMillis);
  EXPECT_EQ(story.take<model::CreateNodeClaim>().size(), 1u);
}

// Its place is made ahead of its eviction.
TEST(LeftOver, DoNotHoldUpThePodsOfALeavingNode) {
  WayDown way;
  way.add({"p", ""});
  way.story.step();
  leave_one_over(way.story);
  way.leave();
  way.story.step(1'000);
  EXPECT_EQ(way.story.take<model::CreateNodeClaim>().size(), 1u);
}

// A budget that lets its pods go one by one refuses the others meanwhile; after minutes of it the
// place would stand empty.
TEST(LeftOver, PodsWhoseEvictionIsRefusedGetAPlaceForAWhile) {
  for (const int refusals : {3, 40}) {
    WayDown way;
    way.add({"p", ""});
    model::NodePool full = pool_of("default");
    full.limits = {{"nodes", 1}};
    way.story.fact(events::NodePoolObserved{full});
    way.story.step();
    way.leave();
    ASSERT_EQ(way.told_to_go(), Names{"p"});
    for (int refused = 0; refused < refusals; ++refused) {
      (void)refuse_and_wait(way, way.story.now() + 20 * kSecond);
      ASSERT_EQ(way.last.size(), 1u) << refused;
    }
    EXPECT_TRUE(way.story.take<model::CreateNodeClaim>().empty());
    way.story.fact(events::NodePoolObserved{pool_of("default")});
    way.story.step(kPassEveryMillis);
    way.story.step(2 * kSecond);
    EXPECT_EQ(way.story.take<model::CreateNodeClaim>().size(), refusals < 32 ? 1u : 0u);
  }
}

}  // namespace
}  // namespace karst::engine
