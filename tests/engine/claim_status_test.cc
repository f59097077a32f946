// The conditions of a claim on its way up and down, in Karpenter's words; and how conditions are
// kept.
#include "reconcilers/claim_status.h"

#include <functional>

#include "base/utf8.h"
#include "tests/engine/way_down.h"

namespace karst::engine {
namespace {

using namespace testing;
using model::Condition;
using model::ConditionStatus;
using reconcilers::Conditions;

// "Type=Status Reason: message" of each, in the order of writing.
std::vector<std::string> lines(const std::vector<Condition>& conditions) {
  std::vector<std::string> result;
  for (const Condition& one : conditions) {
    const char* status = one.status == ConditionStatus::kTrue    ? "True"
                         : one.status == ConditionStatus::kFalse ? "False"
                                                                 : "Unknown";
    result.push_back(one.type + "=" + status + " " + one.reason +
                     (one.message.empty() ? "" : ": " + one.message));
  }
  return result;
}

bool has(const std::vector<std::string>& all, const std::string& line) {
  return std::find(all.begin(), all.end(), line) != all.end();
}

// As a mirror of this moment would leave them.
std::vector<std::string> now_shown(const Story& story) {
  const auto& state = story.state();
  const auto& row = state.claims().slots().begin()->second.row;
  reconcilers::ClassTypes types;
  const Conditions now = reconcilers::claim_conditions(
      state, {base::LogTime(story.now()), *providers::find_provider("kwok"), types}, row);
  std::vector<Condition> said = now.said();
  std::vector<Condition> shown = row.claim.conditions;
  const auto replaced = [&](const Condition& one) {
    const auto& cleared = now.cleared();
    return std::find(cleared.begin(), cleared.end(), one.type) != cleared.end() ||
           std::any_of(said.begin(), said.end(),
                       [&](const Condition& other) { return other.type == one.type; });
  };
  std::erase_if(shown, replaced);
  shown.insert(shown.end(), said.begin(), said.end());
  return lines(shown);
}

// What the API server shows of a mirror is what was written, so that nothing more is written: a
// refusal in another language is not cut in the middle of a character.
TEST(ClaimStatus, ALongRefusalIsMirroredOnce) {
  for (const std::size_t before : {297, 298, 299, 300}) {
    events::MemoryLog log(model::LogId("log"));
    Story story(log);
    set_the_stage(story);
    const ports::IssuedCommand launch = launch_for_one_pod(story);
    model::Outcome outcome;
    outcome.command = launch.id.position;
    outcome.attempt = launch.attempt;
    outcome.kind = model::OutcomeKind::kRefused;
    outcome.code = model::RefusalCode::kDenied;
    outcome.message = std::string(before, 'x') + "\xe7\x82\xb9\xe7\x82\xb9";
    story.fact(std::move(outcome));
    story.step();
    std::size_t mirrors = 0;
    for (int i = 0; i < 30; ++i) {
      story.step();
      for (const auto& command : story.take<model::MirrorClaim>()) {
        const auto& mirror = std::get<model::MirrorClaim>(command.spec);
        model::NodeClaim shown = story.state().claims().find(mirror.name)->claim;
        shown.conditions = mirror.conditions;
        for (model::Condition& one : shown.conditions) one.message = base::as_utf8(one.message);
        story.answer(command, model::OutcomeKind::kDone);
        story.fact(events::NodeClaimObserved{shown});
        ++mirrors;
      }
    }
    EXPECT_EQ(mirrors, 1u) << before;
  }
}

// Trouble on the way to the API server passes: what people wait to see is tried each 10 s, while
// what the server forbids or does not understand is tried each minute.
TEST(ClaimStatus, TroubleOnTheWayIsNotWaitedForLong) {
  for (const auto& [code, longest] : std::vector<std::pair<model::RefusalCode, std::int64_t>>{
           {model::RefusalCode::kRetry, 10'000},
           {model::RefusalCode::kConflict, 10'000},
           {model::RefusalCode::kDenied, 60'000},
           {model::RefusalCode::kInvalid, 60'000}}) {
    events::MemoryLog log(model::LogId("log"));
    Story story(log);
    set_the_stage(story);
    const ports::IssuedCommand launch = launch_for_one_pod(story);
    story.answer(launch, model::OutcomeKind::kDone,
                 {instance_for(std::get<model::Launch>(launch.spec), 0, launch.id)});
    story.step();
    std::int64_t last = story.now(), gap = 0;
    for (int i = 0; i < 4'000; ++i) {
      for (const auto& command : story.take<model::MirrorClaim>()) {
        gap = story.now() - last;
        last = story.now();
        model::Outcome outcome;
        outcome.command = command.id.position;
        outcome.attempt = command.attempt;
        outcome.kind = model::OutcomeKind::kRefused;
        outcome.code = code;
        story.fact(std::move(outcome));
      }
      story.step();
    }
    EXPECT_GT(gap, longest / 2) << model::refusal_code_name(code);
    EXPECT_LE(gap, longest + 200) << model::refusal_code_name(code);
  }
}

TEST(ClaimStatus, EveryStepUpHasItsReason) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  model::NodePool pool = pool_of("default");
  pool.startup_taints = {{"example.com/agent", "starting", model::TaintEffect::kNoSchedule}};
  story.list("NodeClass",
             {events::NodeClassObserved{{pool.node_class, "c1", 1, true, 0, "{}", {}}}});
  story.list("NodePool", {events::NodePoolObserved{pool}});
  story.list_all();
  story.step();
  const ports::IssuedCommand launched = launch_for_one_pod(story);
  EXPECT_EQ(now_shown(story),
            (std::vector<std::string>{
                "Launched=Unknown AwaitingReconciliation: object is awaiting reconciliation",
                "Registered=Unknown AwaitingReconciliation: object is awaiting reconciliation",
                "Initialized=Unknown AwaitingReconciliation: object is awaiting reconciliation",
                "Ready=Unknown ReconcilingDependents: Launched=Unknown, Registered=Unknown, "
                "Initialized=Unknown"}));

  const auto& launch = std::get<model::Launch>(launched.spec);
  const model::Instance instance = instance_for(launch, 0, launched.id);
  story.answer(launched, model::OutcomeKind::kDone, {instance});
  story.step();
  auto shown = now_shown(story);
  EXPECT_TRUE(has(shown, "Launched=True Launched"));
  EXPECT_TRUE(has(shown, "Registered=Unknown NodeNotFound: Node not registered with cluster"));

  model::Node node;
  node.name = model::NodeName("node-1");
  node.uid = model::NodeUid("node-uid-1");
  node.provider_id = instance.provider_id;
  node.labels = {{"karpenter.sh/registered", "true"}};
  node.capacity = node.allocatable = instance.capacity;
  node.has_finalizer = true;
  struct Case {
    const char* name;
    std::function<void(model::Node&)> change;
    const char* want;
  };
  const Case cases[] = {
      {"not ready", [](model::Node&) {}, "NodeNotReady: Node status is NotReady"},
      {"its agent starts",
       [](model::Node& n) {
         n.ready = true;
         n.taints = {{"example.com/agent", "starting", model::TaintEffect::kNoSchedule}};
       },
       "StartupTaintsExist: StartupTaint \"example.com/agent=starting:NoSchedule\" still exists"},
      {"its network starts",
       [](model::Node& n) {
         n.ready = true;
         n.taints = {{"node.kubernetes.io/not-ready", "", model::TaintEffect::kNoSchedule}};
       },
       "KnownEphemeralTaintsExist: KnownEphemeralTaint "
       "\"node.kubernetes.io/not-ready:NoSchedule\" still exists"},
      {"it has no memory yet",
       [](model::Node& n) {
         n.ready = true;
         n.allocatable.memory_bytes = 0;
       },
       "ResourceNotRegistered: Resource \"memory\" was requested but not registered"},
  };
  for (const Case& test : cases) {
    model::Node changed = node;
    test.change(changed);
    story.fact(events::NodeObserved{changed});
    story.step();
    shown = now_shown(story);
    EXPECT_TRUE(has(shown, std::string("Initialized=Unknown ") + test.want)) << test.name;
    EXPECT_TRUE(has(shown, "Registered=True Registered"));
  }
  node.ready = true;
  node.labels.insert(node.labels.begin(), {"karpenter.sh/initialized", "true"});
  story.fact(events::NodeObserved{node});
  story.step();
  shown = now_shown(story);
  EXPECT_TRUE(has(shown, "Initialized=True Initialized"));
  EXPECT_TRUE(has(shown, "ConsistentStateFound=True ConsistentStateFound"));
  EXPECT_EQ(shown.back(), "Ready=True Ready");

  node.capacity.memory_bytes = instance.capacity.memory_bytes / 2;
  story.fact(events::NodeObserved{node});
  story.step();
  EXPECT_TRUE(has(now_shown(story),
                  "ConsistentStateFound=False ConsistencyCheckFailed: Consistency Check Failed: "
                  "the node has less than 90% of the claim's capacity of memory"));
}

void refuse_a_launch(Story& story, model::RefusalCode code, const std::string& reason,
                     const std::string& message) {
  model::Outcome outcome;
  outcome.command = launch_for_one_pod(story).id.position;
  outcome.kind = model::OutcomeKind::kRefused;
  outcome.code = code;
  outcome.reason = reason;
  outcome.message = message;
  story.fact(std::move(outcome));
  story.step();
}

TEST(ClaimStatus, AFailedLaunchIsToldInTheCloudsWords) {
  for (const std::size_t size : {5u, 400u}) {
    events::MemoryLog log(model::LogId("log"));
    Story story(log);
    set_the_stage(story);
    refuse_a_launch(story, model::RefusalCode::kRetry, "", std::string(size, 'x'));
    const std::string want = size < 300 ? std::string(size, 'x') : std::string(300, 'x') + "...";
    EXPECT_TRUE(has(now_shown(story), "Launched=Unknown LaunchFailed: " + want));
    const auto mirrors = story.take<model::MirrorClaim>();
    ASSERT_EQ(mirrors.size(), 1u) << "before that, an unlaunched claim tells nothing";
  }
}

// A cloud that knows better than LaunchFailed: its reason, and its message uncut.
TEST(ClaimStatus, AFailedLaunchHasTheCloudsReason) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  refuse_a_launch(story, model::RefusalCode::kDenied, "Unauthorized", std::string(400, 'x'));
  EXPECT_TRUE(has(now_shown(story), "Launched=Unknown Unauthorized: " + std::string(400, 'x')));
  EXPECT_EQ(verified(log).difference, std::nullopt);
}

// Of a removal that may still be called off; one that somebody else left behind is taken away.
TEST(ClaimStatus, ARemovalIsToldWhileItIsOpen) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  bring_up_an_empty_node(story);
  const std::string told = "DisruptionReason=True Empty: Empty";
  story.step();
  const auto taints = story.take<model::TaintNode>();
  ASSERT_EQ(taints.size(), 1u);
  model::Node node = story.state().nodes().find(model::NodeName("node-1"))->node;
  node.taints.push_back(std::get<model::TaintNode>(taints[0].spec).taint);
  story.answer(taints[0], model::OutcomeKind::kDone);
  story.fact(events::NodeObserved{node});
  EXPECT_TRUE(has(now_shown(story), told));
  story.fact(events::WallClockJumped{3'600'000});
  story.step();
  story.step(6'000);  // the echo of the first taint is waited for
  const auto off = story.take<model::TaintNode>();
  ASSERT_EQ(off.size(), 1u) << "called off";
  story.answer(off[0], model::OutcomeKind::kDone);
  EXPECT_FALSE(has(now_shown(story), told));
  model::NodeClaim claim = story.state().claims().slots().begin()->second.row.claim;
  claim.conditions.push_back({"DisruptionReason", ConditionStatus::kTrue, "Drifted", "Drifted"});
  story.fact(events::NodeClaimObserved{claim});
  EXPECT_FALSE(has(now_shown(story), "DisruptionReason=True Drifted: Drifted"));
}

// A write that met another one is refused; what is wanted by then is asked for again.
TEST(ClaimStatus, AMirrorThatMetAnotherWriteIsDecidedAnew) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  bring_up_an_empty_node(story);
  story.step();
  const auto first = story.take<model::MirrorClaim>();
  ASSERT_FALSE(first.empty());
  model::Outcome outcome;
  outcome.command = first.back().id.position;
  outcome.kind = model::OutcomeKind::kRefused;
  outcome.code = model::RefusalCode::kConflict;
  story.fact(std::move(outcome));
  model::NodeClaim claim = story.state().claims().slots().begin()->second.row.claim;
  claim.conditions.push_back({"Foreign", ConditionStatus::kTrue, "Why", "", 0});
  story.fact(events::NodeClaimObserved{claim});
  story.step();
  EXPECT_TRUE(story.take<model::MirrorClaim>().empty()) << "not at once";
  story.step(1'000);
  const auto second = story.take<model::MirrorClaim>();
  ASSERT_EQ(second.size(), 1u);
  for (const Condition& one : std::get<model::MirrorClaim>(second[0].spec).conditions)
    EXPECT_NE(one.type, "Foreign");
}

TEST(ClaimStatus, EveryStepDownHasItsReason) {
  WayDown down;
  down.add({"app", ""});
  down.story.fact(events::ObjectObserved{model::VolumeAttachment{"a", kNode, "pv-1"}});
  down.leave();
  EXPECT_TRUE(has(now_shown(down.story), "Drained=Unknown Draining: Draining"));
  down.gone("app");
  down.story.step();
  EXPECT_TRUE(has(now_shown(down.story), "Drained=True Drained"));
  EXPECT_TRUE(has(now_shown(down.story),
                  "VolumesDetached=Unknown AwaitingVolumeDetachment: AwaitingVolumeDetachment"));
  down.story.fact(events::ObjectGone{{"VolumeAttachment", "", "a"}});
  down.story.step();
  EXPECT_TRUE(has(now_shown(down.story), "VolumesDetached=True VolumesDetached"));
  EXPECT_FALSE(has(now_shown(down.story), "InstanceTerminating=True InstanceTerminating"));
  EXPECT_TRUE(has(now_shown(down.story), "Ready=True Ready")) << "what was said before stays";
}

TEST(ClaimStatus, VolumesThatOutstayTheDeadlineAreTold) {
  WayDown down;
  down.story.fact(events::ObjectObserved{model::VolumeAttachment{"a", kNode, "pv-1"}});
  down.leave(60 * kSecond);
  down.story.step(61 * kSecond);
  EXPECT_TRUE(has(now_shown(down.story),
                  "VolumesDetached=False TerminationGracePeriodElapsed: "
                  "TerminationGracePeriodElapsed"));
}

TEST(Conditions, TheTimeMovesWithTheStatusOnly) {
  const std::vector<Condition> observed = {
      {"Foreign", ConditionStatus::kTrue, "Why", "kept", 5'000, 7},
      {"Launched", ConditionStatus::kTrue, "Launched", "", 1'000, 1},
      {"Ready", ConditionStatus::kUnknown, "ReconcilingDependents", "Registered=Unknown", 1'000, 1},
      {"Registered", ConditionStatus::kUnknown, "NodeNotFound", "", 1'000, 1}};
  Conditions same(observed, 1);
  same.set_true("Launched", base::LogTime(9'999));
  same.set("Registered", ConditionStatus::kUnknown, "NodeNotFound", "", base::LogTime(9'999));
  same.set_root({"Launched", "Registered"}, base::LogTime(9'999));
  EXPECT_FALSE(same.differ());
  Conditions other(observed, 1);
  other.set_true("Launched", base::LogTime(9'999));
  other.set_true("Registered", base::LogTime(9'999));
  other.set_root({"Launched", "Registered"}, base::LogTime(9'999));
  EXPECT_TRUE(other.differ());
  const auto said = other.said();
  EXPECT_EQ(lines(said),
            (std::vector<std::string>{"Launched=True Launched", "Registered=True Registered",
                                      "Ready=True Ready"}));
  EXPECT_EQ(said[0].transition_millis, 1'000);
  EXPECT_EQ(said[1].transition_millis, 9'000) << "whole seconds";
  EXPECT_EQ(said[2].transition_millis, 9'000);
}

// What others say is not repeated: it may have changed meanwhile.
TEST(Conditions, OnlyWhatWasSetOrClearedIsSaid) {
  const std::vector<Condition> observed = {{"Foreign", ConditionStatus::kTrue, "Why", "", 0},
                                           {"Over", ConditionStatus::kTrue, "Why", "", 0}};
  Conditions conditions(observed, 1);
  conditions.clear("Over");
  EXPECT_TRUE(conditions.differ());
  conditions.set_true("Mine", base::LogTime(0));
  EXPECT_EQ(lines(conditions.said()), std::vector<std::string>{"Mine=True Mine"});
  EXPECT_EQ(conditions.cleared(), std::vector<std::string>{"Over"});
  conditions.set_true("Over", base::LogTime(0));
  EXPECT_TRUE(conditions.cleared().empty());
  conditions.clear("Mine");
  EXPECT_EQ(lines(conditions.said()), std::vector<std::string>{"Over=True Over"});
}

TEST(Conditions, OneFalseDependentMakesTheRootFalse) {
  Conditions conditions({}, 1);
  conditions.set_waiting("A", base::LogTime(0));
  conditions.set("B", ConditionStatus::kFalse, "Broken", "", base::LogTime(0));
  conditions.set_root({"A", "B"}, base::LogTime(1'000));
  EXPECT_EQ(lines(conditions.said()).back(), "Ready=False UnhealthyDependents: A=Unknown, B=False");
}

}  // namespace
}  // namespace karst::engine
