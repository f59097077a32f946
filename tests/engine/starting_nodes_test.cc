// Nodes that are registered and not initialized yet, as the scheduler is shown them.
#include "tests/engine/stage.h"

namespace karst::engine {
namespace {

using namespace testing;

constexpr const char* kZoneOfTheNode = "test-zone-a";

// Two pods run on the starting node; one more must not make its zone's lead larger than one.
model::PodShape spread_over_zones(bool honors_taints) {
  model::PodShape shape = shape_of(500);
  model::SpreadConstraint spread;
  spread.topology_key = std::string(model::kZoneLabel);
  spread.max_skew = 1;
  spread.selector.expressions = {{"app", model::Operator::kIn, {"web"}, 0}};
  spread.ignore_node_affinity = true;  // zones without a pod count
  spread.honor_node_taints = honors_taints;
  shape.spread = {spread};
  shape.node_selector = {{std::string(model::kZoneLabel), kZoneOfTheNode}};
  return shape;
}

model::Pod web_pod(const std::string& uid, const model::PodShape& shape) {
  model::Pod pod = pending_pod(uid, shape);
  pod.labels = {{"app", "web"}};
  return pod;
}

// A taint that its pool says will go is still on it: pods of a spread that honors taints do not
// count there.
TEST(StartingNodes, AreShownWithTheTaintsTheyHave) {
  for (const bool honors_taints : {false, true}) {
    events::MemoryLog log(model::LogId("log"));
    Story story(log);
    model::NodePool pool = pool_of("default");
    pool.startup_taints = {{"cni-not-ready", "", model::TaintEffect::kNoSchedule}};
    set_the_stage(story, pool);
    const ports::IssuedCommand command = launch_for_one_pod(story);
    const model::Instance instance =
        instance_for(std::get<model::Launch>(command.spec), 0, command.id);
    story.answer(command, model::OutcomeKind::kDone, {instance});
    model::Node node = node_up(instance);
    node.labels = {{"karpenter.sh/registered", "true"},
                   {std::string(model::kZoneLabel), kZoneOfTheNode}};
    node.taints = pool.startup_taints;
    story.fact(events::NodeObserved{node});
    const model::PodShape shape = spread_over_zones(honors_taints);
    story.fact(events::ShapeRecorded{model::hash_of(shape), shape});
    for (const char* uid : {"there-1", "there-2"}) {
      model::Pod there = web_pod(uid, shape);
      there.unschedulable = false;
      there.node = node.name;
      story.fact(events::PodObserved{there});
    }
    story.fact(events::PodObserved{web_pod("next", shape)});
    story.step();
    story.step(1'100);
    EXPECT_EQ(!story.state().pods().row_of("next").expected_claim.empty(), honors_taints);
    EXPECT_FALSE(verified(log).difference);
  }
}

}  // namespace
}  // namespace karst::engine
