// A hand-driven engine on a memory log: tests put facts in, step the time, and look at what it
// decided. Answers to commands are given by the test, so every order of things can be told.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/replay.h"
#include "events/memory_log.h"
#include "providers/provider.h"

namespace karst::engine::testing {

inline model::PodShape shape_of(std::int64_t cpu_millis) {
  model::PodShape shape;
  shape.requests.cpu_millis = cpu_millis;
  shape.requests.memory_bytes = 64 << 20;
  shape.requests.pods = 1;
  shape.owner_kind = model::OwnerKind::kReplicaSet;
  return shape;
}

inline model::Pod pending_pod(const std::string& uid, const model::PodShape& shape) {
  model::Pod pod;
  pod.uid = model::PodUid(uid);
  pod.namespace_name = "default";
  pod.name = uid;
  pod.shape = model::hash_of(shape);
  pod.unschedulable = true;
  return pod;
}

inline model::NodePool pool_of(const std::string& name) {
  model::NodePool pool;
  pool.name = model::PoolName(name);
  pool.uid = "uid-" + name;
  pool.node_class = {"karpenter.kwok.sh", "KWOKNodeClass", "default"};
  pool.consolidate_after_millis = 0;
  pool.budgets = {{"100%", {}, "", 0}};
  return pool;
}

class Story {
 public:
  // `provider`, if given, outlives the story.
  explicit Story(events::MemoryLog& log, events::Config config = {},
                 const providers::Provider* provider = nullptr)
      : log_(log),
        config_(std::move(config)),
        provider_(provider == nullptr ? providers::find_provider("kwok") : provider) {
    config_.cluster_uid = "cluster";
    start();
  }

  void start() {
    EngineOptions options;
    options.config = config_;
    options.version = "test";
    options.decision_version = "test";
    engine_ = std::make_unique<Engine>(log_, nullptr, *provider_, options);
    auto recovered = engine_->recover(base::LogTime(now_), base::WallTime(now_));
    ASSERT_TRUE(recovered) << recovered.error().message;
  }
  // An empty list of every kind but NodeClass and NodePool, which the test gives.
  void list_all() {
    for (const char* kind : {"DaemonSet", "Node", "NodeClaim", "Pod", "Instance"}) list(kind, {});
    for (const std::string_view kind : model::kNamedKinds) list(std::string(kind), {});
  }
  void list(const std::string& kind, std::vector<events::Body> objects) {
    fact(events::ListStarted{kind});
    for (auto& body : objects) fact(std::move(body));
    fact(events::ListEnded{kind, "1"});
  }
  // `order`: ports::Fact's.
  void fact(events::Body body, std::uint64_t order = 0) {
    facts_.push_back({std::move(body), base::WallTime(now_), "", order});
  }
  Round step(std::int64_t millis = 100) {
    now_ += millis;
    auto round =
        engine_->step(base::LogTime(now_), base::WallTime(now_), std::exchange(facts_, {}));
    EXPECT_TRUE(round) << round.error().message;
    for (const auto& command : round->to_dispatch) sent_.push_back(command);
    return *round;
  }
  // Commands of that kind that were dispatched and not taken yet.
  template <class Spec>
  std::vector<ports::IssuedCommand> take() {
    std::vector<ports::IssuedCommand> taken;
    std::erase_if(sent_, [&](const ports::IssuedCommand& command) {
      if (!std::holds_alternative<Spec>(command.spec)) return false;
      taken.push_back(command);
      return true;
    });
    return taken;
  }
  void answer(const ports::IssuedCommand& command, model::OutcomeKind kind,
              std::vector<model::Instance> instances = {},
              model::RefusalCode code = model::RefusalCode::kNone) {
    model::Outcome outcome;
    outcome.command = command.id.position;
    outcome.attempt = command.attempt;
    outcome.kind = kind;
    outcome.code = code;
    outcome.instances = std::move(instances);
    fact(std::move(outcome));
  }
  const projections::ClusterState& state() const { return engine_->state(); }
  std::int64_t now() const { return now_; }

 private:
  events::MemoryLog& log_;
  events::Config config_;
  const providers::Provider* provider_;
  std::unique_ptr<Engine> engine_;
  std::vector<ports::Fact> facts_;
  std::vector<ports::IssuedCommand> sent_;
  std::int64_t now_ = 1'800'000'000'000;
};

inline model::Instance instance_for(const model::Launch& launch, std::size_t item,
                                    const model::CommandId& id) {
  const model::LaunchItem& claim = launch.items[item];
  model::Instance instance;
  instance.provider_id =
      model::ProviderId("kwok://" + claim.name.str() + "-" + std::to_string(claim.attempt));
  instance.claim = claim.claim;
  instance.attempt = claim.attempt;
  instance.command_tag = to_string(id);
  instance.offer = launch.offers.front();
  instance.state = model::InstanceState::kRunning;
  instance.capacity.cpu_millis = 4000;
  instance.capacity.memory_bytes = std::int64_t{8} << 30;
  instance.capacity.pods = 100;
  instance.allocatable = instance.capacity;
  return instance;
}

}  // namespace karst::engine::testing
