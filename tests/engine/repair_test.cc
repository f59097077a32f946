// Node repair: how long a node may be unhealthy, when too many are, and that its pods get no time.
#include "tests/engine/stage.h"

namespace karst::engine {
namespace {

using namespace testing;

constexpr std::int64_t kTolerated = 10 * base::kMillisPerMinute;

events::Config repair_gate_on() {
  events::Config config;
  config.node_repair = true;
  return config;
}

// A node of the pool "default", with one pod that nothing may disrupt.
struct Ailing {
  explicit Ailing(events::Config config = repair_gate_on()) : story(log, std::move(config)) {
    model::NodePool pool = pool_of("default");
    pool.consolidate_after_millis.reset();
    set_the_stage(story, pool);
    bring_up_an_empty_node(story);
    story.step();
    model::PodShape shape = shape_of(10);
    shape.do_not_disrupt = model::DoNotDisrupt::kForever;
    model::Pod pod = pending_pod("held", shape);
    pod.unschedulable = false;
    pod.node = model::NodeName("node-1");
    pod.phase = model::PodPhase::kRunning;
    story.fact(events::ShapeRecorded{model::hash_of(shape), shape});
    story.fact(events::PodObserved{pod});
    (void)deleted();
  }
  model::Node node() { return story.state().nodes().find(model::NodeName("node-1"))->node; }
  // Other nodes of the pool, so that one is at most a fifth.
  void add_nodes(int count, bool healthy) {
    for (int i = 0; i < count; ++i) {
      model::Node other;
      other.name = model::NodeName((healthy ? "well-" : "ill-") + std::to_string(i));
      other.uid = model::NodeUid("uid-" + other.name.str());
      other.labels = {{"karpenter.sh/nodepool", "default"}};
      other.ready = healthy;
      if (!healthy) other.troubles = {trouble("Ready", model::ConditionStatus::kUnknown)};
      story.fact(events::NodeObserved{other});
    }
  }
  model::Condition trouble(const char* type, model::ConditionStatus status) {
    return {type, status, "", "", story.now(), 0};
  }
  void show(std::vector<model::Condition> troubles) {
    model::Node sick = node();
    model::set_label(sick.labels, "karpenter.sh/nodepool", "default");
    sick.ready = troubles.empty();
    sick.troubles = std::move(troubles);
    story.fact(events::NodeObserved{sick});
    story.step(0);
  }
  std::vector<std::string> deleted() {
    std::vector<std::string> reasons;
    for (const auto& command : story.take<model::DeleteObject>())
      reasons.push_back(story.state().commands().find(command.id.position)->command.reason);
    return reasons;
  }
  const model::Verdict* verdict() {
    const auto* row = story.state().verdicts().find(std::pair<std::string, std::string>(
        "nodeclaim/" + story.state().claims().slots().begin()->first.str(), "repair"));
    return row == nullptr ? nullptr : &row->verdict;
  }

  events::MemoryLog log{model::LogId("log")};
  Story story;
};

using Reasons = std::vector<std::string>;

TEST(Repair, ANodeIsGivenUpWhenItsTimeIsOver) {
  for (const auto status : {model::ConditionStatus::kFalse, model::ConditionStatus::kUnknown}) {
    Ailing ailing;
    ailing.show({ailing.trouble("Ready", status)});
    EXPECT_EQ(ailing.deleted(), Reasons{});
    const Round waits = ailing.story.step(kTolerated - 1);
    EXPECT_EQ(ailing.deleted(), Reasons{}) << "one millisecond early";
    ASSERT_TRUE(waits.wake_at);
    EXPECT_LE(waits.wake_at->value(), ailing.story.now() + 1);
    ailing.story.step(1);
    EXPECT_EQ(ailing.deleted(), Reasons{"unhealthy"});
    EXPECT_EQ(verified(ailing.log).difference, std::nullopt);
  }
}

TEST(Repair, LeavesAlone) {
  struct Case {
    const char* name;
    events::Config config;
    std::vector<model::Condition> troubles;
  };
  const model::Condition ready{"Ready", model::ConditionStatus::kFalse, "", "", 1, 0};
  const Case cases[] = {
      {"while the gate is off", {}, {ready}},
      {"a condition of which the provider says nothing",
       repair_gate_on(),
       {{"StorageReady", model::ConditionStatus::kFalse, "", "", 1, 0}}},
      {"a node that is well again", repair_gate_on(), {}},
  };
  for (const Case& row : cases) {
    Ailing ailing(row.config);
    ailing.show({ailing.trouble("Ready", model::ConditionStatus::kFalse)});
    ailing.show(row.troubles);
    ailing.story.step(2 * kTolerated);
    EXPECT_EQ(ailing.deleted(), Reasons{}) << row.name;
  }
}

TEST(Repair, NotWhileMoreThanAFifthIsUnhealthy) {
  struct Case {
    int well, ill;
    bool goes;
  };
  // With the node itself: 1 of 5, 2 of 5, 2 of 6 (a fifth rounds up to 2), 3 of 11, 4 of 15.
  const Case cases[] = {{4, 0, true}, {3, 1, false}, {4, 1, true}, {8, 2, true}, {11, 3, false}};
  for (const Case& row : cases) {
    Ailing ailing;
    ailing.add_nodes(row.well, true);
    ailing.add_nodes(row.ill, false);
    ailing.show({ailing.trouble("Ready", model::ConditionStatus::kFalse)});
    ailing.story.step(kTolerated);
    EXPECT_EQ(ailing.deleted(), row.goes ? Reasons{"unhealthy"} : Reasons{})
        << row.well << " well, " << row.ill << " ill";
    ASSERT_EQ(ailing.verdict() == nullptr, row.goes);
    if (row.goes) continue;
    EXPECT_EQ(ailing.verdict()->code, "repair_blocked");
    EXPECT_EQ(ailing.verdict()->args, Reasons{"nodepool"});
    ailing.add_nodes(40, true);
    ailing.story.step();
    EXPECT_EQ(ailing.deleted(), Reasons{"unhealthy"}) << "as soon as most are well";
  }
}

TEST(Repair, ItsPodsAreMadeToLeaveAtOnce) {
  Ailing ailing;
  ailing.show({ailing.trouble("Ready", model::ConditionStatus::kFalse)});
  ailing.story.step(kTolerated);
  const std::int64_t asked = ailing.story.now();
  for (const auto& command : ailing.story.take<model::MirrorClaim>())
    ailing.story.answer(command, model::OutcomeKind::kDone);
  model::NodeClaim claim = ailing.story.state().claims().slots().begin()->second.row.claim;
  claim.has_finalizer = true;
  claim.deletion_millis = ailing.story.now() + 1'000;
  claim.termination_grace_millis = base::kMillisPerHour;
  ailing.story.fact(events::NodeClaimObserved{claim});
  model::Node tainted = ailing.node();
  tainted.taints = {{"karpenter.sh/disrupted", "", model::TaintEffect::kNoSchedule}};
  ailing.story.fact(events::NodeObserved{tainted});
  ailing.story.step();
  const auto evictions = ailing.story.take<model::EvictPod>();
  ASSERT_EQ(evictions.size(), 1u) << "its annotation does not hold it";
  EXPECT_TRUE(std::get<model::EvictPod>(evictions[0].spec).force);
  EXPECT_EQ(std::get<model::EvictPod>(evictions[0].spec).grace_seconds, 1);
  ailing.story.step(6'000);  // the echo of the mirror before is waited for
  const auto mirrors = ailing.story.take<model::MirrorClaim>();
  ASSERT_FALSE(mirrors.empty());
  const auto& shown = std::get<model::MirrorClaim>(mirrors.back().spec).annotations;
  const auto deadline = base::parse_rfc3339(
      model::label_value(shown, "karpenter.sh/nodeclaim-termination-timestamp"));
  ASSERT_TRUE(deadline);
  EXPECT_LE(*deadline, asked);
}

TEST(Registration, SeveralNodesWithOneProviderIdAreNobodys) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  const ports::IssuedCommand launched = launch_for_one_pod(story);
  const auto& launch = std::get<model::Launch>(launched.spec);
  const model::Instance instance = instance_for(launch, 0, launched.id);
  story.answer(launched, model::OutcomeKind::kDone, {instance});
  model::NodeClaim claim = story.state().claims().find(launch.items[0].name)->claim;
  claim.has_finalizer = true;
  story.fact(events::NodeClaimObserved{claim});
  model::Node node;
  node.provider_id = instance.provider_id;
  for (const char* name : {"first", "second"}) {
    node.name = model::NodeName(name);
    node.uid = model::NodeUid(std::string("uid-") + name);
    story.fact(events::NodeObserved{node});
  }
  story.step();
  EXPECT_TRUE(story.take<model::SyncNode>().empty()) << "none is adopted";
  const auto mirrors = story.take<model::MirrorClaim>();
  ASSERT_FALSE(mirrors.empty());
  const auto& conditions = std::get<model::MirrorClaim>(mirrors.back().spec).conditions;
  const auto registered = std::find_if(conditions.begin(), conditions.end(),
                                       [](const auto& one) { return one.type == "Registered"; });
  ASSERT_NE(registered, conditions.end());
  EXPECT_EQ(registered->status, model::ConditionStatus::kFalse);
  EXPECT_EQ(registered->reason, "MultipleNodesFound");
  story.fact(events::NodeGone{model::NodeUid("uid-second"), model::NodeName("second")});
  story.step();
  EXPECT_EQ(story.take<model::SyncNode>().size(), 1u) << "the other was a mistake";
  EXPECT_TRUE(story.take<model::DeleteObject>().empty()) << "it was not the claim's node";
  EXPECT_EQ(verified(log).difference, std::nullopt);
}

}  // namespace
}  // namespace karst::engine
