// Node pools as the API server shows them: counts, conditions, hash; and what a pool that is not
// ready does.
#include <functional>

#include "model/pool_hash.h"
#include "tests/engine/stage.h"

namespace karst::engine {
namespace {

using namespace testing;
using model::Condition;
using model::ConditionStatus;

const Condition* condition_of(const std::vector<Condition>& conditions, std::string_view type) {
  const auto at = std::find_if(conditions.begin(), conditions.end(),
                               [&](const Condition& one) { return one.type == type; });
  return at == conditions.end() ? nullptr : &*at;
}

// What is written of the pool last; carried out, as the API server would.
std::optional<model::MirrorPool> mirror_told(Story& story) {
  std::optional<model::MirrorPool> last;
  for (const auto& command : story.take<model::MirrorPool>()) {
    last = std::get<model::MirrorPool>(command.spec);
    model::NodePool pool = story.state().pools().find(last->name)->pool;
    pool.status_resources = last->resources;
    pool.status_nodes = last->nodes;
    pool.node_class_observed_generation = last->node_class_observed_generation;
    pool.conditions = last->conditions;
    std::sort(pool.conditions.begin(), pool.conditions.end(),
              [](const auto& a, const auto& b) { return a.type < b.type; });
    if (!last->hash.empty()) pool.hash = last->hash;
    if (!last->hash.empty()) pool.hash_version = last->hash_version;
    story.answer(command, model::OutcomeKind::kDone);
    story.fact(events::NodePoolObserved{pool});
  }
  return last;
}

TEST(Pools, AReadyPoolIsShownAsReadyAndThenLeftAlone) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  const auto first = mirror_told(story);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->hash, model::pool_hash(pool_of("default")));
  EXPECT_EQ(first->hash_version, "v3");
  EXPECT_EQ(first->node_class_observed_generation, 1);
  for (const char* type : {"ValidationSucceeded", "NodeClassReady", "Ready"}) {
    const Condition* one = condition_of(first->conditions, type);
    ASSERT_NE(one, nullptr) << type;
    EXPECT_EQ(one->status, ConditionStatus::kTrue) << type;
    EXPECT_EQ(one->reason, type);
  }
  EXPECT_EQ(first->conditions.back().type, "Ready") << "the root comes last";
  const Condition* healthy = condition_of(first->conditions, "NodeRegistrationHealthy");
  ASSERT_NE(healthy, nullptr) << "Karpenter says at once that it is not known yet";
  EXPECT_EQ(healthy->status, ConditionStatus::kUnknown);
  EXPECT_EQ(healthy->reason, "AwaitingReconciliation");
  for (int i = 0; i < 5; ++i) story.step(10'000);
  EXPECT_FALSE(mirror_told(story)) << "what is shown is not written again";
  EXPECT_FALSE(verified(log).difference);
}

// `kubectl wait` compares the generation of the object with that of the condition.
TEST(Pools, AnEditThatChangesNoConditionMovesTheirGeneration) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  ASSERT_TRUE(mirror_told(story));
  story.step();
  model::NodePool edited = story.state().pools().find(model::PoolName("default"))->pool;
  edited.generation += 1;
  edited.weight = 7;
  story.fact(events::NodePoolObserved{edited});
  story.step(6'000);
  const auto mirror = mirror_told(story);
  ASSERT_TRUE(mirror);
  for (const Condition& one : mirror->conditions)
    EXPECT_EQ(one.observed_generation, edited.generation) << one.type;
  for (int i = 0; i < 5; ++i) story.step(10'000);
  EXPECT_FALSE(mirror_told(story)) << "once is enough";
  // What somebody else says there, of whatever generation, is left alone.
  edited = story.state().pools().find(model::PoolName("default"))->pool;
  edited.conditions.push_back({"Theirs", ConditionStatus::kTrue, "Theirs", "", 0, 1});
  story.fact(events::NodePoolObserved{edited});
  for (int i = 0; i < 5; ++i) story.step(10'000);
  EXPECT_FALSE(mirror_told(story));
}

TEST(Pools, CountsFollowTheClaims) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  (void)mirror_told(story);
  bring_up_an_empty_node(story);
  story.step();
  story.step(6'000);
  auto up = mirror_told(story);
  ASSERT_TRUE(up);
  EXPECT_EQ(up->nodes, 1);
  EXPECT_EQ(up->resources.cpu_millis, 4000);
  EXPECT_EQ(up->resources.amount("nodes"), 1);
  const Condition* healthy = condition_of(up->conditions, "NodeRegistrationHealthy");
  ASSERT_NE(healthy, nullptr);
  EXPECT_EQ(healthy->status, ConditionStatus::kTrue);
  model::NodeClaim claim = story.state().claims().slots().begin()->second.row.claim;
  claim.has_finalizer = true;
  claim.deletion_millis = story.now();
  story.fact(events::NodeClaimObserved{claim});
  story.step();
  story.step(6'000);
  up = mirror_told(story);
  ASSERT_TRUE(up);
  EXPECT_EQ(up->nodes, 0) << "what leaves does not count";
  EXPECT_EQ(up->resources, model::Resources{});
}

// A class that changes may be what its nodes failed for, or what they needed.
TEST(Pools, AnotherClassGenerationMakesTheirRegistrationUnknown) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  (void)mirror_told(story);
  bring_up_an_empty_node(story);
  story.step();
  story.step(6'000);
  const auto up = mirror_told(story);
  ASSERT_TRUE(up);
  ASSERT_EQ(condition_of(up->conditions, "NodeRegistrationHealthy")->status,
            ConditionStatus::kTrue);
  model::NodeClass changed = story.state().node_classes().slots().begin()->second.row.node_class;
  changed.generation = 2;
  story.fact(events::NodeClassObserved{changed});
  story.step();
  story.step(6'000);
  const auto after = mirror_told(story);
  ASSERT_TRUE(after);
  EXPECT_EQ(condition_of(after->conditions, "NodeRegistrationHealthy")->status,
            ConditionStatus::kUnknown);
}

TEST(Pools, WithoutItsClassNothingIsSaidOfRegistration) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  story.list("NodeClass", {});
  story.list("NodePool", {events::NodePoolObserved{pool_of("default")}});
  story.list_all();
  story.step();
  const auto first = mirror_told(story);
  ASSERT_TRUE(first);
  EXPECT_EQ(condition_of(first->conditions, "NodeRegistrationHealthy"), nullptr);
}

struct Fault {
  const char* name;
  std::function<void(model::NodePool&, model::NodeClass&)> make;
  const char* type;
  const char* reason;
  const char* message;
};

TEST(Pools, AFaultIsTheConditionsAndKeepsClaimsBack) {
  const auto class_condition = [](ConditionStatus status, const char* reason) {
    return [status, reason](model::NodePool&, model::NodeClass& node_class) {
      node_class.ready = false;
      node_class.ready_condition = {"Ready", status, reason, "because", 1, 1};
    };
  };
  const Fault faults[] = {
      {"no class", [](auto& pool, auto&) { pool.node_class.name = "other"; }, "NodeClassReady",
       "NodeClassNotFound", "NodeClass not found on cluster"},
      {"a class that goes", [](auto&, auto& node_class) { node_class.deletion_millis = 1; },
       "NodeClassReady", "NodeClassTerminating", "NodeClass is Terminating"},
      {"a class that is not ready", class_condition(ConditionStatus::kFalse, "SubnetsNotFound"),
       "NodeClassReady", "SubnetsNotFound", "because"},
      {"a class that does not know", class_condition(ConditionStatus::kUnknown, "Waiting"),
       "NodeClassReady", "NodeClassReadinessUnknown", "Node Class Readiness Unknown"},
      {"a restricted label",
       [](auto& pool, auto&) { pool.template_labels = {{"karpenter.sh/custom", "a"}}; },
       "ValidationSucceeded", "NodePoolValidationFailed",
       "using label karpenter.sh/custom is not allowed as it might interfere with the internal "
       "provisioning logic; specify a well known label: ["},
      {"a misspelt label of the cloud",
       [](auto& pool, auto&) {
         pool.requirements = {{"karpenter.kwok.sh/instance-famly", model::Operator::kIn, {"m"}, 0}};
       },
       "ValidationSucceeded", "NodePoolValidationFailed",
       "a custom label that does not use a restricted domain: [karpenter.kwok.sh karpenter.sh]"},
      {"a template label that no machine of the cloud has",
       [](auto& pool, auto&) { pool.template_labels = {{"a.karpenter.kwok.sh/team", "a"}}; },
       "ValidationSucceeded", "NodePoolValidationFailed",
       "using label a.karpenter.kwok.sh/team is not allowed"},
      {"a requirement on the pool",
       [](auto& pool, auto&) {
         pool.requirements = {{"karpenter.sh/nodepool", model::Operator::kIn, {"a"}, 0}};
       },
       "ValidationSucceeded", "NodePoolValidationFailed", "karpenter.sh/nodepool"},
      {"a bound that is none",
       [](auto& pool, auto&) {
         pool.requirements = {{"example.com/a", model::Operator::kGt, {"-1"}, 0}};
       },
       "ValidationSucceeded", "NodePoolValidationFailed",
       "key example.com/a with operator Gt must have a single positive integer value"},
      {"a value that is no label's",
       [](auto& pool, auto&) {
         pool.requirements = {{"example.com/a", model::Operator::kIn, {"a b"}, 0}};
       },
       "ValidationSucceeded", "NodePoolValidationFailed", "it is no value of a label"},
      {"capacity types that nobody knows",
       [](auto& pool, auto&) {
         pool.requirements = {{"karpenter.sh/capacity-type", model::Operator::kIn, {"cheap"}, 0}};
       },
       "ValidationSucceeded", "NodePoolValidationFailed", "no valid values found in [cheap]"},
      {"a taint in both lists",
       [](auto& pool, auto&) {
         pool.taints = {{"a", "b", model::TaintEffect::kNoSchedule}};
         pool.startup_taints = {{"a", "c", model::TaintEffect::kNoSchedule}};
       },
       "ValidationSucceeded", "NodePoolValidationFailed", "duplicate taint Key/Effect pair"},
  };
  for (const Fault& fault : faults) {
    events::MemoryLog log(model::LogId("log"));
    Story story(log);
    model::NodePool pool = pool_of("default");
    model::NodeClass node_class{pool.node_class, "c1", 1, true, 0, "{}", {}};
    fault.make(pool, node_class);
    story.list("NodeClass", {events::NodeClassObserved{node_class}});
    story.list("NodePool", {events::NodePoolObserved{pool}});
    story.list_all();
    story.step();
    const auto mirror = mirror_told(story);
    ASSERT_TRUE(mirror) << fault.name;
    const Condition* one = condition_of(mirror->conditions, fault.type);
    ASSERT_NE(one, nullptr) << fault.name;
    EXPECT_EQ(one->status, ConditionStatus::kFalse) << fault.name;
    EXPECT_EQ(one->reason, fault.reason) << fault.name;
    EXPECT_NE(one->message.find(fault.message), std::string::npos) << one->message;
    const Condition* ready = condition_of(mirror->conditions, "Ready");
    ASSERT_NE(ready, nullptr);
    EXPECT_EQ(ready->reason, "UnhealthyDependents") << fault.name;
    EXPECT_EQ(ready->message, std::string(fault.type) + "=False") << fault.name;

    add_pods(story, 1);
    story.step(1100);
    EXPECT_TRUE(story.take<model::CreateNodeClaim>().empty()) << fault.name;
    const auto* verdict = story.state().verdicts().find(
        std::pair<std::string, std::string>("nodepool/default", "provisioning"));
    ASSERT_NE(verdict, nullptr) << fault.name;
    EXPECT_EQ(verdict->verdict.code, "not_ready");
    EXPECT_EQ(verdict->verdict.args, std::vector<std::string>{fault.reason});

    story.fact(events::NodePoolObserved{pool_of("default")});
    story.fact(
        events::NodeClassObserved{{pool_of("default").node_class, "c1", 2, true, 0, "{}", {}}});
    story.step();
    story.step(11'000);
    EXPECT_EQ(story.take<model::CreateNodeClaim>().size(), 1u) << fault.name << " is mended";
    EXPECT_FALSE(verified(log).difference) << fault.name;
  }
}

TEST(Pools, APoolThatNoMachineFitsIsToldOf) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  model::NodePool pool = pool_of("default");
  pool.requirements = {{"kubernetes.io/arch", model::Operator::kIn, {"riscv64"}, 0}};
  story.list("NodeClass",
             {events::NodeClassObserved{{pool.node_class, "c1", 1, true, 0, "{}", {}}}});
  story.list("NodePool", {events::NodePoolObserved{pool}});
  story.list_all();
  story.step();
  add_pods(story, 1);
  story.step(1100);
  const auto code = [&] {
    const auto* verdict = story.state().verdicts().find(
        std::pair<std::string, std::string>("nodepool/default", "provisioning"));
    return verdict == nullptr ? std::string() : verdict->verdict.code;
  };
  EXPECT_EQ(code(), "no_instance_types");
  story.fact(events::NodePoolObserved{pool_of("default")});
  story.step();
  story.step(11'000);
  EXPECT_EQ(code(), "ready");
}

TEST(Pools, HalfOfTheLastFourClaimsFailingIsUnhealthyUntilTheSpecChanges) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  add_pods(story, 1);
  // Nothing is launched: the claim is given up, and its pod asks for the next one.
  for (int i = 0; i < 2; ++i) {
    ASSERT_FALSE(create_claims(story).empty()) << i;
    story.step(6 * base::kMillisPerMinute);
    for (const auto& command : story.take<model::DeleteObject>()) {
      const std::string name = std::get<model::DeleteObject>(command.spec).object.name;
      story.answer(command, model::OutcomeKind::kDone);
      story.fact(events::NodeClaimGone{model::ClaimUid("uid-" + name), model::ClaimName(name)});
    }
    story.step();
  }
  EXPECT_EQ(story.state().pools().find(model::PoolName("default"))->registrations, "ff");
  std::optional<model::MirrorPool> last;
  for (int i = 0; i < 4; ++i) {
    if (auto mirror = mirror_told(story)) last = mirror;
    story.step(6'000);
  }
  ASSERT_TRUE(last);
  const Condition* healthy = condition_of(last->conditions, "NodeRegistrationHealthy");
  ASSERT_NE(healthy, nullptr);
  EXPECT_EQ(healthy->status, ConditionStatus::kFalse);
  EXPECT_EQ(healthy->reason, "RegistrationFailed");
  EXPECT_EQ(condition_of(last->conditions, "Ready")->status, ConditionStatus::kTrue)
      << "it is told, and holds nothing up";

  model::NodePool changed = story.state().pools().find(model::PoolName("default"))->pool;
  changed.generation = 2;
  story.fact(events::NodePoolObserved{changed});
  story.step();
  story.step(6'000);
  const auto after = mirror_told(story);
  ASSERT_TRUE(after);
  EXPECT_EQ(condition_of(after->conditions, "NodeRegistrationHealthy")->status,
            ConditionStatus::kUnknown);
}

TEST(Pools, AnotherRecipesHashIsReplacedOnTheClaimsFirst) {
  for (const bool drifted : {false, true}) {
    events::MemoryLog log(model::LogId("log"));
    Story story(log);
    model::NodePool pool = pool_of("default");
    pool.hash = "7";
    pool.hash_version = "v2";
    story.list("NodeClass",
               {events::NodeClassObserved{{pool.node_class, "c1", 1, true, 0, "{}", {}}}});
    story.list("NodePool", {events::NodePoolObserved{pool}});
    story.list_all();
    model::NodeClaim claim;
    claim.name = model::ClaimName("default-a");
    claim.uid = model::ClaimUid("uid-a");
    claim.pool = pool.name;
    claim.node_class = pool.node_class;
    claim.has_finalizer = true;
    claim.creation_millis = story.now();
    claim.annotations = {{"karpenter.sh/nodepool-hash", "7"},
                         {"karpenter.sh/nodepool-hash-version", "v2"}};
    claim.provider_id = model::ProviderId("kwok://a");
    if (drifted) claim.conditions = {{"Drifted", ConditionStatus::kTrue, "NodePoolDrifted", "", 1}};
    story.fact(events::NodeClaimObserved{claim});
    story.step();
    const auto first = mirror_told(story);
    ASSERT_TRUE(first);
    EXPECT_EQ(first->hash, "") << "the claims come first";
    std::string version, hash;
    for (int i = 0; i < 3 && version.empty(); ++i) {
      for (const auto& command : story.take<model::MirrorClaim>()) {
        const auto& mirror = std::get<model::MirrorClaim>(command.spec);
        story.answer(command, model::OutcomeKind::kDone);
        std::erase_if(claim.conditions,
                      [](const model::Condition& one) { return one.type != "Drifted"; });
        claim.conditions.insert(claim.conditions.end(), mirror.conditions.begin(),
                                mirror.conditions.end());
        for (const auto& [key, value] : mirror.labels) model::set_label(claim.labels, key, value);
        story.fact(events::NodeClaimObserved{claim});
        version = model::label_value(mirror.annotations, "karpenter.sh/nodepool-hash-version");
        hash = model::label_value(mirror.annotations, "karpenter.sh/nodepool-hash");
      }
      story.step(6'000);
    }
    EXPECT_EQ(version, "v3");
    EXPECT_EQ(hash, drifted ? "" : model::pool_hash(pool)) << "what has drifted stays drifted";
    model::set_label(claim.annotations, "karpenter.sh/nodepool-hash-version", "v3");
    story.fact(events::NodeClaimObserved{claim});
    story.step(6'000);
    story.step(6'000);
    std::string written;
    for (int i = 0; i < 3 && written.empty(); ++i) {
      if (const auto mirror = mirror_told(story)) written = mirror->hash;
      story.step(6'000);
    }
    EXPECT_EQ(written, model::pool_hash(pool));
  }
}

}  // namespace
}  // namespace karst::engine
