// Condition Drifted of claims: why it is set, when it goes, and what nobody can tell.
#include <functional>

#include "tests/engine/drift_stage.h"

namespace karst::engine {
namespace {

using namespace testing;
using model::ConditionStatus;

struct Drift : ::testing::Test, DriftStage {};

TEST_F(Drift, WhatIsAsItShouldBeSaysNothing) {
  begin();
  EXPECT_EQ(shown(), "");
  EXPECT_EQ(told, "");
  EXPECT_FALSE(verified(log).difference);
}

TEST_F(Drift, APoolOfAnotherTemplateDriftsItsClaimsAndBackAgain) {
  begin();
  EXPECT_EQ(shown(), "");
  pool.template_labels = {{"team", "a"}};
  see_pool();
  story.step();
  EXPECT_EQ(shown(12'000), "") << "its stamp is on its way";
  stamp_pool();
  EXPECT_EQ(shown(), "NodePoolDrifted");
  pool.template_labels.clear();
  stamp_pool();
  EXPECT_EQ(shown(), "");
  EXPECT_EQ(told, "+NodePoolDrifted-") << "each once";
  EXPECT_FALSE(verified(log).difference);
}

TEST_F(Drift, WhatOnlySteersAPoolDriftsNothing) {
  begin();
  EXPECT_EQ(shown(), "");
  pool.weight = 7;
  pool.limits = {{"cpu", 1'000}};
  pool.budgets = {{"0", {}, "", 0}};
  pool.consolidate_after_millis = 86'400'000;
  stamp_pool();
  EXPECT_EQ(shown(), "");
  EXPECT_EQ(told, "");
}

TEST_F(Drift, ThePoolsTable) {
  const struct {
    const char* name;
    std::function<void(DriftStage&)> change;
    const char* want;
  } rows[] = {
      {"another hash", [](DriftStage& d) { d.claim.annotations[0].second = "7"; },
       "NodePoolDrifted"},
      {"another hash of a static pool",
       [](DriftStage& d) {
         d.pool.replicas = 1;
         d.claim.annotations[0].second = "7";
       },
       "NodePoolDrifted"},
      {"a claim that is ahead of its pool's stamp",
       [](DriftStage& d) {
         d.pool.template_labels = {{"team", "a"}};
         d.claim.annotations[0].second = model::pool_hash(d.pool);
       },
       ""},
      {"no hash", [](DriftStage& d) { d.claim.annotations.clear(); }, ""},
      {"a hash without its recipe", [](DriftStage& d) { d.claim.annotations.pop_back(); }, ""},
      {"of another recipe",
       [](DriftStage& d) { d.claim.annotations = {{kDriftHash, "7"}, {kDriftVersion, "v2"}}; }, ""},
      {"the pool asks for what it has",
       [](DriftStage& d) {
         d.pool.requirements = {
             {"karpenter.sh/capacity-type", model::Operator::kIn, {"on-demand", "spot"}, 0}};
       },
       ""},
      {"the pool asks for something else",
       [](DriftStage& d) {
         d.pool.requirements = {{"karpenter.sh/capacity-type", model::Operator::kIn, {"spot"}, 0}};
       },
       "RequirementsDrifted"},
      {"the pool asks for what no such machine says of itself",
       [](DriftStage& d) {
         d.pool.requirements = {{"example.com/team", model::Operator::kIn, {"a"}, 0}};
       },
       "RequirementsDrifted"},
      {"the pool rules out what it does not have",
       [](DriftStage& d) {
         d.pool.requirements = {{"example.com/team", model::Operator::kNotIn, {"a"}, 0}};
       },
       ""},
      {"a label that only its machine has",
       [](DriftStage& d) {
         d.pool.requirements = {{"kubernetes.io/arch", model::Operator::kIn, {"amd64"}, 0}};
       },
       ""},
      {"the hash comes before the requirements",
       [](DriftStage& d) {
         d.claim.annotations[0].second = "7";
         d.pool.requirements = {{"example.com/team", model::Operator::kIn, {"a"}, 0}};
       },
       "NodePoolDrifted"},
      {"the requirements come before the provider",
       [](DriftStage& d) {
         d.pool.requirements = {{"example.com/team", model::Operator::kIn, {"a"}, 0}};
         d.machine.image = "AMIDrift";
       },
       "RequirementsDrifted"},
      {"the provider's", [](DriftStage& d) { d.machine.image = "AMIDrift"; }, "AMIDrift"},
      {"a claim of no pool",
       [](DriftStage& d) {
         d.claim.pool = model::PoolName("gone");
         d.machine.image = "AMIDrift";
       },
       ""},
      {"a claim that is deleted",
       [](DriftStage& d) {
         d.claim.deletion_millis = d.claim.creation_millis;
         d.machine.image = "AMIDrift";
       },
       ""},
      {"a claim of another product's class",
       [](DriftStage& d) {
         d.claim.node_class = {"karpenter.azure.com", "AKSNodeClass", "default"};
         d.machine.image = "AMIDrift";
       },
       ""},
      {"a claim that was not launched, whatever it shows",
       [](DriftStage& d) {
         d.claim.provider_id = {};
         d.claim.conditions = {{"Drifted", ConditionStatus::kTrue, "AMIDrift", "AMIDrift", 1}};
       },
       ""},
      {"a claim without the labels of its launch",
       [](DriftStage& d) {
         d.claim.labels.clear();
         d.pool.requirements = {{"example.com/team", model::Operator::kIn, {"a"}, 0}};
         d.claim.has_finalizer = false;  // nobody gives it them
       },
       ""},
  };
  for (const auto& row : rows) {
    DriftStage one;
    row.change(one);
    one.begin();
    EXPECT_EQ(one.shown(), row.want) << row.name;
  }
}

TEST_F(Drift, TheReasonFollowsAndWhatNobodyCanTellChangesNothing) {
  begin();
  see("AMIDrift");
  EXPECT_EQ(shown(), "AMIDrift");
  const auto since = [&] {
    for (const model::Condition& one : claim.conditions)
      if (one.type == "Drifted") return one.transition_millis;
    return std::int64_t{0};
  };
  const std::int64_t first = since();
  see("SubnetDrift");
  EXPECT_EQ(shown(), "SubnetDrift");
  EXPECT_EQ(since(), first);
  see("?");
  EXPECT_EQ(shown(), "SubnetDrift");
  see("");
  EXPECT_EQ(shown(), "");
  EXPECT_EQ(told, "+AMIDrift+SubnetDrift-");
}

// What Karpenter has found is looked at anew, and a machine that nobody has listed yet is left.
TEST_F(Drift, ATakeOverDriftsNothing) {
  claim.conditions = {{"Drifted", ConditionStatus::kTrue, "SubnetDrift", "SubnetDrift", 1}};
  set_the_stage(story, pool);
  story.fact(events::NodeClaimObserved{claim});
  EXPECT_EQ(shown(), "SubnetDrift");
  EXPECT_EQ(told, "");
  see("");
  EXPECT_EQ(shown(), "");
  EXPECT_EQ(told, "-");
}

TEST_F(Drift, AForeignRecipeIsReplacedAndDriftsNothing) {
  pool.hash = "7";
  pool.hash_version = "v2";
  claim.annotations = {{kDriftHash, "7"}, {kDriftVersion, "v2"}};
  begin();
  EXPECT_EQ(shown(), "");
  EXPECT_EQ(model::label_value(claim.annotations, kDriftVersion), model::kPoolHashVersion);
  pool.hash_version = model::kPoolHashVersion;
  stamp_pool();
  EXPECT_EQ(shown(), "");
  EXPECT_EQ(told, "");
}

TEST_F(Drift, ATypeThatIsNotSoldAnyMoreCountsOfClaimsOfAnHour) {
  begin();
  EXPECT_EQ(shown(), "");
  model::Catalogue sold = provider.embedded_catalogue();
  std::erase_if(sold.types, [](const auto& type) { return type.name == kSoldType; });
  story.fact(events::CatalogueObserved{sold});
  EXPECT_EQ(shown(50 * 60'000), "");
  EXPECT_EQ(shown(12 * 60'000), "InstanceTypeNotFound");
  story.fact(events::CatalogueObserved{provider.embedded_catalogue()});
  EXPECT_EQ(shown(), "");
  sold = provider.embedded_catalogue();
  for (model::InstanceType& type : sold.types)
    std::erase_if(type.offerings, [&](const model::Offering& one) {
      return type.name == kSoldType && one.zone == "test-zone-a";
    });
  story.fact(events::CatalogueObserved{sold});
  EXPECT_EQ(shown(), "InstanceTypeNotFound") << "not in its zone";
  EXPECT_FALSE(verified(log).difference);
}

// The embedded catalogue is of another region, and older.
TEST_F(Drift, WhatTheCloudHasNotToldIsNotMissing) {
  provider.ask();
  claim.creation_millis -= 2 * 60 * 60'000;
  claim.labels[1].second = "newer.large";
  begin();
  EXPECT_EQ(shown(), "");
  claim.labels[2].second = "elsewhere";
  model::Catalogue sold = provider.embedded_catalogue();
  sold.types.pop_back();
  story.fact(events::NodeClaimObserved{claim});
  story.fact(events::CatalogueObserved{sold});
  EXPECT_EQ(shown(), "") << "nothing of its zone is known";
  EXPECT_EQ(told, "");
}

TEST_F(Drift, AClassIsComparedOnceItsSelectorsWereAnsweredAndNotWhenItGoes) {
  provider.ask();
  machine.image = "AMIDrift";
  begin();
  const auto answer = [&](std::int64_t millis) {
    for (const auto& command : story.take<model::ResolveNodeClass>()) {
      model::Outcome outcome;
      outcome.command = command.id.position;
      outcome.resolution = "found";
      story.fact(outcome);
    }
    return shown(millis);
  };
  EXPECT_EQ(shown(), "");
  EXPECT_EQ(provider.judged, 0);
  EXPECT_EQ(answer(30'000), "AMIDrift");
  model::NodeClass seen = story.state().node_classes().slots().begin()->second.row.node_class;
  seen.generation = 2;
  story.fact(events::NodeClassObserved{seen});
  see("");
  EXPECT_EQ(shown(12'000), "AMIDrift") << "of the generation before";
  EXPECT_EQ(answer(30'000), "");
  see("AMIDrift");
  EXPECT_EQ(shown(30'000), "AMIDrift");
  seen.deletion_millis = story.now();
  story.fact(events::NodeClassObserved{seen});
  EXPECT_EQ(shown(30'000), "");
}

// Facts of before the start say nothing until the cloud has been listed again.
TEST_F(Drift, NothingIsSaidBeforeTheCloudWasListed) {
  begin();
  EXPECT_EQ(shown(), "");
  story.start();
  for (const char* kind : {"NodeClaim", "Node"}) story.fact(events::ListStarted{kind});
  story.fact(events::NodeClaimObserved{claim});
  story.fact(events::NodeObserved{node_up(machine)});
  for (const char* kind : {"NodeClaim", "Node"}) story.fact(events::ListEnded{kind, "2"});
  set_the_stage_again();
  see("AMIDrift");
  EXPECT_EQ(shown(), "");
  story.list("Instance", {events::InstanceObserved{machine}});
  EXPECT_EQ(shown(), "AMIDrift");
}

// A round looks at what has changed.
TEST_F(Drift, NothingIsLookedAtTwiceForNothing) {
  begin();
  EXPECT_EQ(shown(), "");
  const int looked = provider.judged;
  EXPECT_GT(looked, 0);
  pool.status_nodes = 7;
  see_pool();
  story.fact(events::InstanceObserved{machine});
  EXPECT_EQ(shown(10 * 60'000), "");
  EXPECT_EQ(provider.judged, looked);
}

TEST_F(Drift, AShadowTouchesNoCondition) {
  events::MemoryLog other(model::LogId("shadow"));
  events::Config config;
  config.shadow = true;
  Story beside(other, config, &provider);
  set_the_stage(beside, pool);
  machine.image = "AMIDrift";
  beside.fact(events::InstanceObserved{machine});
  beside.fact(events::NodeClaimObserved{claim});
  for (int i = 0; i < 5; ++i) beside.step(60'000);
  EXPECT_TRUE(beside.take<model::MirrorClaim>().empty());
  EXPECT_FALSE(verified(other).difference);
}

}  // namespace
}  // namespace karst::engine
