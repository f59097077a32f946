// Pools with `replicas` keep that many nodes, whatever pods there are (feature gate
// StaticCapacity).
#include "tests/engine/stage.h"

namespace karst::engine {
namespace {

using namespace testing;

model::NodePool static_pool(std::int64_t replicas) {
  model::NodePool pool = pool_of("fixed");
  pool.replicas = replicas;
  pool.requirements = {{"karpenter.sh/capacity-type", model::Operator::kIn, {"on-demand"}, 0}};
  return pool;
}

events::Config static_gate_on() {
  events::Config config;
  config.static_capacity = true;
  return config;
}

// Claims that were asked for become objects; their launches succeed, their nodes come up.
std::vector<std::string> bring_up(Story& story) {
  std::vector<std::string> names;
  for (const auto& command : story.take<model::CreateNodeClaim>()) {
    model::NodeClaim claim = std::get<model::CreateNodeClaim>(command.spec).claim;
    claim.uid = model::ClaimUid("uid-" + claim.name.str());
    claim.creation_millis = story.now();
    names.push_back(claim.name.str());
    story.fact(events::NodeClaimObserved{claim});
    story.answer(command, model::OutcomeKind::kDone);
  }
  story.step();
  for (const auto& command : story.take<model::Launch>()) {
    const auto& launch = std::get<model::Launch>(command.spec);
    std::vector<model::Instance> instances;
    for (std::size_t item = 0; item < launch.items.size(); ++item) {
      instances.push_back(instance_for(launch, item, command.id));
      model::Node node;
      node.name = model::NodeName("node-" + launch.items[item].name.str());
      node.uid = model::NodeUid("uid-of-" + node.name.str());
      node.provider_id = instances.back().provider_id;
      node.labels = {{"karpenter.sh/initialized", "true"}, {"karpenter.sh/registered", "true"}};
      node.capacity = node.allocatable = instances.back().capacity;
      node.ready = node.has_finalizer = true;
      story.fact(events::NodeObserved{node});
    }
    story.answer(command, model::OutcomeKind::kDone, instances);
  }
  story.step();
  story.step();
  return names;
}

std::vector<std::string> deleted_claims(Story& story) {
  std::vector<std::string> names;
  for (const auto& command : story.take<model::DeleteObject>())
    names.push_back(std::get<model::DeleteObject>(command.spec).object.name);
  return names;
}

TEST(StaticPools, HaveTheirNodesWithoutAnyPod) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log, static_gate_on());
  set_the_stage(story, static_pool(3));
  const auto created = story.take<model::CreateNodeClaim>();
  ASSERT_EQ(created.size(), 3u);
  EXPECT_EQ(story.state().commands().find(created[0].id.position)->command.reason, "provisioned");
  const model::NodeClaim& claim = std::get<model::CreateNodeClaim>(created[0].spec).claim;
  EXPECT_EQ(model::label_value(claim.labels, model::kNodePoolLabel), "fixed");
  for (const model::RequirementSpec& spec : claim.requirements) {
    EXPECT_NE(spec.key, model::kInstanceTypeLabel) << "the cloud chooses";
    EXPECT_NE(spec.key, model::kZoneLabel);
  }
  story.step(60'000);
  EXPECT_TRUE(story.take<model::CreateNodeClaim>().empty()) << "asked for once";
  EXPECT_EQ(verified(log).difference, std::nullopt);
}

TEST(StaticPools, DoNothingWhileTheGateIsOff) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story, static_pool(3));
  story.step(60'000);
  EXPECT_TRUE(story.take<model::CreateNodeClaim>().empty());
}

TEST(StaticPools, StopAtTheirLimitOfNodesAndSaySo) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log, static_gate_on());
  model::NodePool pool = static_pool(5);
  pool.limits = {{"nodes", 2}};
  set_the_stage(story, pool);
  EXPECT_EQ(story.take<model::CreateNodeClaim>().size(), 2u);
  const auto* verdict = story.state().verdicts().find(
      std::pair<std::string, std::string>("nodepool/fixed", "static_pools"));
  ASSERT_NE(verdict, nullptr);
  EXPECT_EQ(verdict->verdict.code, "node_limit_reached");
}

TEST(StaticPools, ReplaceANodeThatIsTakenAway) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log, static_gate_on());
  set_the_stage(story, static_pool(2));
  const auto names = bring_up(story);
  ASSERT_EQ(names.size(), 2u);
  model::NodeClaim gone = story.state().claims().find(model::ClaimName(names[0]))->claim;
  gone.deletion_millis = story.now();
  story.fact(events::NodeClaimObserved{gone});
  story.step();
  EXPECT_EQ(story.take<model::CreateNodeClaim>().size(), 1u);
}

// Three nodes, of which one is busy, one is held, one is empty: the empty one goes first, the held
// one last.
TEST(StaticPools, GiveUpFirstWhatCostsLeast) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log, static_gate_on());
  set_the_stage(story, static_pool(3));
  const auto names = bring_up(story);
  ASSERT_EQ(names.size(), 3u);
  model::PodShape plain = shape_of(100);
  model::PodShape held = shape_of(200);
  held.do_not_disrupt = model::DoNotDisrupt::kForever;
  for (const model::PodShape* shape : {&plain, &held}) {
    story.fact(events::ShapeRecorded{model::hash_of(*shape), *shape});
    const bool is_held = shape == &held;
    model::Pod pod = pending_pod(is_held ? "held" : "plain", *shape);
    pod.unschedulable = false;
    pod.phase = model::PodPhase::kRunning;
    pod.node = model::NodeName("node-" + names[is_held ? 0 : 1]);
    story.fact(events::PodObserved{pod});
  }
  story.step();
  struct Row {
    std::int64_t replicas;
    std::vector<std::string> goes;
  };
  const Row rows[] = {{2, {names[2]}}, {1, {names[1]}}, {0, {names[0]}}};
  for (const Row& row : rows) {
    story.fact(events::NodePoolObserved{static_pool(row.replicas)});
    story.step();
    EXPECT_EQ(deleted_claims(story), row.goes) << row.replicas;
    for (const std::string& name : row.goes)
      EXPECT_EQ(story.state().claims().find(model::ClaimName(name))->delete_reason,
                "overprovisioned");
  }
  EXPECT_TRUE(story.take<model::CreateNodeClaim>().empty());
  EXPECT_EQ(verified(log).difference, std::nullopt);
}

}  // namespace
}  // namespace karst::engine
