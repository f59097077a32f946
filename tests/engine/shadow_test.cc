// A shadow: it decides like any karst, nothing leaves, and its state keeps to what the world shows.
#include "events/codec.h"
#include "reconcilers/reconciler.h"
#include "tests/engine/stage.h"

namespace karst::engine {
namespace {

using namespace testing;

events::Config config_of(bool shadow) {
  events::Config config;
  config.shadow = shadow;
  return config;
}
// How often the log holds a command of that kind, and how many of them ended as not sent.
struct Decided {
  int times = 0;
  int not_sent = 0;
};
template <class Spec>
Decided decided(const events::EventLog& log) {
  Decided found;
  std::set<model::Position> positions;
  auto cursor = log.read(model::Position(1));
  EXPECT_TRUE(cursor);
  for (auto event = (*cursor)->next(); event && *event; event = (*cursor)->next()) {
    const events::Body body = events::decode_body(**event);
    if (const auto* command = std::get_if<model::Command>(&body);
        command != nullptr && std::holds_alternative<Spec>(command->spec)) {
      positions.insert((*event)->envelope.position);
      ++found.times;
    }
    if (const auto* ended = std::get_if<model::CommandAbandoned>(&body);
        ended != nullptr && ended->reason == reconcilers::kNotSent)
      found.not_sent += positions.contains(ended->command) ? 1 : 0;
  }
  return found;
}

// A node of another product's, up and ready, with its claim.
model::NodeClaim foreign_claim(Story& story) {
  model::NodeClaim claim;
  claim.name = model::ClaimName("default-other");
  claim.uid = model::ClaimUid("uid-other");
  claim.pool = model::PoolName("default");
  claim.pool_uid = "uid-default";
  claim.node_class = {"karpenter.kwok.sh", "KWOKNodeClass", "default"};
  claim.provider_id = model::ProviderId("kwok://other");
  claim.creation_millis = story.now();
  claim.has_finalizer = true;
  claim.conditions = {{"Ready", model::ConditionStatus::kTrue, "Ready", "", 1}};
  claim.capacity.cpu_millis = claim.allocatable.cpu_millis = 4'000;
  claim.capacity.memory_bytes = claim.allocatable.memory_bytes = std::int64_t{8} << 30;
  claim.capacity.pods = claim.allocatable.pods = 100;
  model::Node node;
  node.name = model::NodeName("other");
  node.uid = model::NodeUid("node-uid-other");
  node.provider_id = claim.provider_id;
  node.labels = {{"karpenter.sh/initialized", "true"}, {"karpenter.sh/registered", "true"}};
  node.capacity = claim.capacity;
  node.allocatable = claim.allocatable;
  node.ready = true;
  story.fact(events::NodeClaimObserved{claim});
  story.fact(events::NodeObserved{node});
  return claim;
}

TEST(Shadow, AClaimIsDecidedOnceAMinuteAndNeverSent) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log, config_of(true));
  set_the_stage(story);
  add_pods(story, 3);
  EXPECT_TRUE(story.step(1'100).to_dispatch.empty());
  EXPECT_EQ(decided<model::CreateNodeClaim>(log).times, 1);
  EXPECT_EQ(decided<model::CreateNodeClaim>(log).not_sent, 1);
  EXPECT_EQ(story.state().claims().size(), 0u) << "there is none in the world";
  EXPECT_EQ(story.state().commands().size(), 0u);
  for (int i = 0; i < 58; ++i) EXPECT_TRUE(story.step(1'000).to_dispatch.empty());
  EXPECT_EQ(decided<model::CreateNodeClaim>(log).times, 1) << "its pods are covered";
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(story.step(1'000).to_dispatch.empty());
  EXPECT_EQ(decided<model::CreateNodeClaim>(log).times, 2) << "for a minute";
  EXPECT_GT(verified(log).rounds, 0u);
}

TEST(Shadow, PodsThatAreBoundElsewhereAskForNothingMore) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log, config_of(true));
  set_the_stage(story);
  add_pods(story, 2);
  story.step(1'100);
  foreign_claim(story);
  for (const char* name : {"pod-0", "pod-1"}) {
    model::Pod pod = pending_pod(name, shape_of(500));
    pod.node = model::NodeName("other");
    pod.unschedulable = false;
    story.fact(events::PodObserved{pod});
  }
  for (int i = 0; i < 90; ++i) EXPECT_TRUE(story.step(1'000).to_dispatch.empty());
  EXPECT_EQ(decided<model::CreateNodeClaim>(log).times, 1);
  EXPECT_EQ(decided<model::TaintNode>(log).times, 0) << "the node is in use";
}

TEST(Shadow, AnEmptyNodeOfAnotherProductWouldGo) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log, config_of(true));
  set_the_stage(story);
  const model::NodeClaim claim = foreign_claim(story);
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(story.step(1'000).to_dispatch.empty());
  EXPECT_EQ(decided<model::TaintNode>(log).times, 1);
  EXPECT_EQ(decided<model::TaintNode>(log).not_sent, 1);
  const auto* row = story.state().claims().find(claim.name);
  ASSERT_NE(row, nullptr);
  EXPECT_FALSE(row->candidate) << "nobody tainted it";
  EXPECT_EQ(decided<model::MirrorClaim>(log).times + decided<model::Launch>(log).times +
                decided<model::SyncNode>(log).times + decided<model::SetFinalizer>(log).times,
            0)
      << "its upkeep is the other product's";
  EXPECT_GT(verified(log).rounds, 0u);
}

TEST(Shadow, AnInterruptedNodeWouldBeReplaced) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log, config_of(true));
  set_the_stage(story);
  const model::NodeClaim claim = foreign_claim(story);
  const model::PodShape shape = shape_of(500);
  story.fact(events::ShapeRecorded{model::hash_of(shape), shape});
  model::Pod pod = pending_pod("pod-0", shape);
  pod.node = model::NodeName("other");
  pod.unschedulable = false;
  story.fact(events::PodObserved{pod});
  story.step();
  model::Interruption interruption;
  interruption.message = model::MessageId("m1");
  interruption.provider_id = claim.provider_id;
  interruption.kind = model::InterruptionKind::kSpotInterruption;
  interruption.deadline_millis = story.now() + 120'000;
  story.fact(events::InterruptionReceived{interruption});
  for (int i = 0; i < 30; ++i) EXPECT_TRUE(story.step(1'000).to_dispatch.empty());
  EXPECT_EQ(decided<model::TaintNode>(log).times, 1);
  EXPECT_EQ(decided<model::DeleteObject>(log).times, 1);
  EXPECT_EQ(decided<model::CreateNodeClaim>(log).times, 1);
  EXPECT_FALSE(story.state().claims().find(claim.name)->leaving()) << "nobody deleted it";
  EXPECT_GT(verified(log).rounds, 0u);
}

TEST(Shadow, ALogIsAShadowsOrNot) {
  for (const bool shadow : {false, true}) {
    events::MemoryLog log(model::LogId("log"));
    {
      Story story(log, config_of(shadow));
    }
    EngineOptions options;
    options.config.cluster_uid = "cluster";
    for (const bool again : {false, true}) {
      options.config.shadow = again;
      Engine engine(log, nullptr, *providers::find_provider("kwok"), options);
      const auto recovered = engine.recover(base::LogTime(1), base::WallTime(1));
      EXPECT_EQ(recovered.has_value(), again == shadow);
      if (!recovered) {
        EXPECT_EQ(recovered.error().kind, base::Kind::kInvalid);
      }
    }
  }
}

TEST(Recovery, ALogOfAnotherClusterIsRefused) {
  events::MemoryLog log(model::LogId("log"));
  const auto opens = [&](const std::string& cluster_uid) {
    EngineOptions options;
    options.config.cluster_uid = cluster_uid;
    Engine engine(log, nullptr, *providers::find_provider("kwok"), options);
    return engine.recover(base::LogTime(1), base::WallTime(1));
  };
  ASSERT_TRUE(opens("blue"));
  const auto other = opens("green");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, base::Kind::kInvalid);
  EXPECT_EQ(other.error().message,
            "this is the log of another cluster (blue; this one is green), and its open orders are "
            "not for this one: give karst an empty folder, and keep the old one for the record");
  EXPECT_TRUE(opens("blue"));
}

// It tells what it would buy itself, whatever the other product has begun for the same pods.
TEST(Shadow, ALaunchOfSomebodyElsesClaimIsNotWaitedFor) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log, config_of(true));
  set_the_stage(story);
  model::NodeClaim claim = foreign_claim(story);
  claim.name = model::ClaimName("default-begun");
  claim.uid = model::ClaimUid("uid-begun");
  claim.provider_id = {};
  claim.conditions.clear();
  story.fact(events::NodeClaimObserved{claim});
  add_pods(story, 1, 5'000);  // no room on its node
  story.step(1'100);
  EXPECT_EQ(decided<model::CreateNodeClaim>(log).times, 1);
}

}  // namespace
}  // namespace karst::engine
