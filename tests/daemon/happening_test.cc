// What is told of the events of a log.
#include "daemon/happening.h"

#include <gtest/gtest.h>

#include "tests/engine/stage.h"

namespace karst::daemon {
namespace {

using namespace engine::testing;

std::vector<Happening> told_of(const events::EventLog& log) {
  projections::ClusterState state;
  Watcher watcher;
  std::vector<Happening> told;
  const auto cursor = log.read(model::Position(1));
  EXPECT_TRUE(cursor);
  while (const auto event = (*cursor)->next()) {
    if (!*event) break;
    state.apply(**event);
    watcher.see(**event, state, told);
  }
  return told;
}

std::size_t count(const std::vector<Happening>& told, HappeningKind kind) {
  return static_cast<std::size_t>(std::count_if(
      told.begin(), told.end(), [&](const Happening& one) { return one.kind == kind; }));
}

std::vector<model::Condition> conditions(std::initializer_list<const char*> types) {
  std::vector<model::Condition> all;
  for (const char* type : types) all.push_back({type, model::ConditionStatus::kTrue, type, "", 1});
  return all;
}

// karst is started on a cluster where Karpenter has been: what its first lists show is no news, and
// what happens to the same objects later is.
TEST(Happenings, OfAFirstListAreThePast) {
  events::MemoryLog log(model::LogId("log"));
  engine::testing::Story story(log);
  model::NodePool pool = pool_of("default");
  pool.conditions = conditions({"NodeClassReady", "Ready"});
  model::NodeClaim claim;
  claim.name = model::ClaimName("default-a");
  claim.uid = model::ClaimUid("uid-a");
  claim.pool = pool.name;
  claim.node_class = pool.node_class;
  claim.provider_id = model::ProviderId("kwok://a");
  claim.conditions = conditions({"Initialized", "Launched", "Ready", "Registered"});
  model::Node node;
  node.name = model::NodeName("node-a");
  node.uid = model::NodeUid("uid-node-a");
  node.provider_id = claim.provider_id;
  node.labels = {{"karpenter.sh/initialized", "true"}, {"karpenter.sh/registered", "true"}};
  story.list("NodeClass", {events::NodeClassObserved{{pool.node_class, "c1", 1, true, 0, "{}"}}});
  story.list("NodePool", {events::NodePoolObserved{pool}});
  story.list("NodeClaim", {events::NodeClaimObserved{claim}});
  story.list("Node", {events::NodeObserved{node}});
  story.step();
  const auto first = told_of(log);
  EXPECT_EQ(count(first, HappeningKind::kConditionChanged), 0u);
  EXPECT_EQ(count(first, HappeningKind::kRegistered), 0u);
  EXPECT_EQ(count(first, HappeningKind::kInitialized), 0u);
  claim.conditions[2].status = pool.conditions[1].status = model::ConditionStatus::kFalse;
  story.fact(events::NodeClaimObserved{claim});
  story.fact(events::NodePoolObserved{pool});
  story.step();
  EXPECT_EQ(count(told_of(log), HappeningKind::kConditionChanged), 2u);
}

// Karpenter's own pods ask for nodes of no pool.
TEST(Happenings, APodThatDeclinesEveryPoolIsNobodysFailure) {
  for (const bool declines : {false, true}) {
    events::MemoryLog log(model::LogId("log"));
    engine::testing::Story story(log);
    set_the_stage(story);
    model::PodShape shape = shape_of(500);
    shape.required_terms = {
        {{{"karpenter.sh/nodepool",
           declines ? model::Operator::kDoesNotExist : model::Operator::kIn,
           declines ? std::vector<std::string>() : std::vector<std::string>{"none"}, 0}}}};
    add_pods_of(story, 1, shape);
    story.step(1'100);
    EXPECT_EQ(count(told_of(log), HappeningKind::kPodUnplaced), declines ? 0u : 1u);
  }
}

}  // namespace
}  // namespace karst::daemon
