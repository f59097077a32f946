// Claims that another log's process, or Karpenter, has launched.
#include <map>
#include <set>

#include "tests/engine/stage.h"

namespace karst::engine {
namespace {

using namespace testing;

model::NodeClaim launched_claim() {
  model::NodeClaim claim;
  claim.name = model::ClaimName("default-a");
  claim.uid = model::ClaimUid("uid-a");
  claim.pool = model::PoolName("default");
  claim.node_class = {"karpenter.kwok.sh", "KWOKNodeClass", "default"};
  claim.provider_id = model::ProviderId("kwok://a");
  return claim;
}

TEST(Adopted, ClaimsHaveThePriceOfTheirOffer) {
  struct Case {
    const char* name;
    model::Labels labels;
    std::int64_t want;
  };
  const std::vector<Case> cases = {
      {"in the catalogue",
       {{"karpenter.sh/capacity-type", "spot"},
        {"node.kubernetes.io/instance-type", "c-1x-amd64-linux"},
        {"topology.kubernetes.io/zone", "test-zone-a"}},
       19'003'239},
      {"in a zone that is not",
       {{"karpenter.sh/capacity-type", "spot"},
        {"node.kubernetes.io/instance-type", "c-1x-amd64-linux"},
        {"topology.kubernetes.io/zone", "elsewhere"}},
       0},
      {"without labels", {}, 0},
  };
  for (const Case& row : cases) {
    events::MemoryLog log(model::LogId("log"));
    Story story(log);
    set_the_stage(story);
    model::NodeClaim claim = launched_claim();
    claim.labels = row.labels;
    story.fact(events::NodeClaimObserved{claim});
    story.step();
    const auto* known = story.state().claims().find(claim.name);
    ASSERT_NE(known, nullptr);
    EXPECT_EQ(known->instance.offer.price_nanos_per_hour, row.want) << row.name;
    EXPECT_EQ(verified(log).difference, std::nullopt);
  }
}

TEST(Adopted, OnlyClaimsOfItsOwnClassesExpire) {
  for (const bool ours : {true, false}) {
    events::MemoryLog log(model::LogId("log"));
    Story story(log);
    set_the_stage(story);
    model::NodeClaim claim = launched_claim();
    if (!ours) claim.node_class = {"karpenter.azure.com", "AKSNodeClass", "default"};
    claim.has_finalizer = true;
    claim.creation_millis = story.now();
    claim.expire_after_millis = base::kMillisPerMinute;
    story.fact(events::NodeClaimObserved{claim});
    story.step();
    story.step(2 * base::kMillisPerMinute);
    EXPECT_EQ(story.take<model::DeleteObject>().size(), ours ? 1u : 0u);
  }
}

// Claims of one order, whose machines the cloud tells apart by their places in it.
struct Siblings : ::testing::Test {
  Siblings() {
    set_the_stage(story);
    for (const char* letter : {"a", "b"}) {
      story.fact(events::NodeClaimObserved{claim(letter, std::string("kwok://") + letter)});
      observe(letter, letter);
    }
    story.step();
  }
  static model::NodeClaim claim(const std::string& letter, const std::string& machine) {
    model::NodeClaim claim;
    claim.name = model::ClaimName("default-" + letter);
    claim.uid = model::ClaimUid("uid-" + letter);
    claim.pool = model::PoolName("default");
    claim.node_class = {"karpenter.kwok.sh", "KWOKNodeClass", "default"};
    claim.provider_id = model::ProviderId(machine);
    claim.has_finalizer = true;
    return claim;
  }
  void observe(const std::string& machine, const std::string& owner, std::uint32_t attempt = 0) {
    model::Instance instance;
    instance.provider_id = model::ProviderId("kwok://" + machine);
    instance.claim = model::ClaimUid("uid-" + owner);
    instance.attempt = attempt;
    instance.state = model::InstanceState::kRunning;
    story.fact(events::InstanceObserved{instance});
  }
  void wait() {
    for (int i = 0; i < 20; ++i) story.step(10'000);
  }
  events::MemoryLog log{model::LogId("log")};
  Story story{log};
};

TEST_F(Siblings, AMachineStaysItsClaimsWhenTheCloudHasForgottenTheOneBeforeIt) {
  story.fact(events::NodeClaimGone{model::ClaimUid("uid-a"), model::ClaimName("default-a")});
  story.fact(events::InstanceGone{model::ProviderId("kwok://a")});
  story.step();
  observe("b", "a");  // the first place in the order is now its
  wait();
  for (const auto& command : story.take<model::FindInstances>())
    EXPECT_NE(std::get<model::FindInstances>(command.spec).provider_id.str(), "kwok://b")
        << "nobody doubts whose it is";
  EXPECT_TRUE(story.take<model::Terminate>().empty());
  EXPECT_FALSE(story.state().loose_instances().contains(model::ProviderId("kwok://b")));
  story.fact(events::NodeClaimGone{model::ClaimUid("uid-b"), model::ClaimName("default-b")});
  story.step();
  EXPECT_TRUE(story.state().loose_instances().contains(model::ProviderId("kwok://b")))
      << "with its own claim it loses its owner";
  EXPECT_EQ(verified(log).difference, std::nullopt);
}

// Lists come in any order: a claim that waits for its launch is no claim without capacity.
TEST(Adopted, AClaimWaitsUntilItIsKnownWhatCanBeBought) {
  for (const char* last : {"NodeClass", "NodePool", "NodeOverlay"}) {
    events::MemoryLog log(model::LogId("log"));
    events::Config config;
    config.node_overlay = true;
    Story story(log, config);
    model::NodeClaim claim = Siblings::claim("a", "");
    claim.requests.cpu_millis = 500;
    const std::map<std::string, std::vector<events::Body>> objects = {
        {"NodeClaim", {events::NodeClaimObserved{claim}}},
        {"NodePool", {events::NodePoolObserved{pool_of("default")}}},
        {"NodeClass", {events::NodeClassObserved{{claim.node_class, "c1", 1, true, 0, "{}"}}}}};
    std::set<std::string> kinds = {"DaemonSet", "Node",     "Pod",      "Instance",
                                   "NodeClaim", "NodePool", "NodeClass"};
    for (const std::string_view kind : model::kNamedKinds) kinds.emplace(kind);
    const auto list = [&](const std::string& kind) {
      const auto found = objects.find(kind);
      story.list(kind, found == objects.end() ? std::vector<events::Body>() : found->second);
    };
    ASSERT_EQ(kinds.erase(last), 1u) << last;
    for (const std::string& kind : kinds) list(kind);
    for (int i = 0; i < 20; ++i) story.step();
    EXPECT_TRUE(story.take<model::DeleteObject>().empty()) << last;
    EXPECT_TRUE(story.take<model::Launch>().empty()) << last;
    list(last);
    story.step();
    EXPECT_TRUE(story.take<model::DeleteObject>().empty()) << last;
    EXPECT_EQ(story.take<model::Launch>().size(), 1u) << last;
    EXPECT_EQ(verified(log).difference, std::nullopt);
  }
}

// Another replica died between its claim and the claim's launch: its log said whose the claim was.
TEST(Adopted, NothingIsBoughtBesideAClaimThatIsBeingLaunched) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  model::NodeClaim claim = Siblings::claim("a", "");
  claim.requests.cpu_millis = 500;
  story.fact(events::NodeClaimObserved{claim});
  add_pods(story, 1);
  story.step(1'100);
  const auto launches = story.take<model::Launch>();
  ASSERT_EQ(launches.size(), 1u);
  for (int i = 0; i < 20; ++i) story.step(1'000);
  EXPECT_TRUE(story.take<model::CreateNodeClaim>().empty());
  const auto& launch = std::get<model::Launch>(launches[0].spec);
  story.answer(launches[0], model::OutcomeKind::kDone, {instance_for(launch, 0, launches[0].id)});
  for (int i = 0; i < 20; ++i) story.step(1'000);
  EXPECT_TRUE(story.take<model::CreateNodeClaim>().empty());
  EXPECT_EQ(story.state().pods().row_of("pod-0").expected_claim, claim.name);
  EXPECT_EQ(verified(log).difference, std::nullopt);
}

// One that the cloud refuses keeps nobody waiting.
TEST(Adopted, AClaimThatCannotBeLaunchedIsNotWaitedFor) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  story.fact(events::NodeClaimObserved{Siblings::claim("a", "")});
  add_pods(story, 1);
  story.step(1'100);
  for (const auto& launch : story.take<model::Launch>())
    story.answer(launch, model::OutcomeKind::kRefused, {}, model::RefusalCode::kDenied);
  story.step();
  EXPECT_EQ(story.take<model::CreateNodeClaim>().size(), 1u);
}

// A replica that has lost its log began to count anew with every restart.
TEST(Adopted, TimersCountFromTheCreation) {
  const struct {
    const char* name;
    std::int64_t age_millis;
    bool clock_wrong;
    std::int64_t gone_after_millis;
  } cases[] = {
      {"14 of 15 minutes are over", 14 * base::kMillisPerMinute, false, base::kMillisPerMinute},
      {"all of them are", 20 * base::kMillisPerMinute, false, 0},
      {"a clock that is wrong", 20 * base::kMillisPerMinute, true, 15 * base::kMillisPerMinute},
      {"born in the future", -base::kMillisPerMinute, false, 15 * base::kMillisPerMinute},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.name);
    events::MemoryLog log(model::LogId("log"));
    Story story(log);
    set_the_stage(story);
    if (one.clock_wrong) story.fact(events::WallClockJumped{base::kMillisPerHour});
    model::NodeClaim claim = Siblings::claim("a", "kwok://a");
    claim.creation_millis = story.now() - one.age_millis;
    story.fact(events::NodeClaimObserved{claim});
    story.step(0);
    if (one.gone_after_millis > 0) {
      story.step(one.gone_after_millis - 1'000);
      EXPECT_TRUE(story.take<model::DeleteObject>().empty());
    }
    story.step(1'000);
    EXPECT_EQ(story.take<model::DeleteObject>().size(), 1u);
    EXPECT_EQ(verified(log).difference, std::nullopt);
  }
}

TEST_F(Siblings, AMachineOfAClaimIsNotGivenToAnother) {
  story.fact(events::NodeClaimObserved{claim("c", "")});
  story.step();
  const auto* other = story.state().claims().find(model::ClaimName("default-c"));
  ASSERT_NE(other, nullptr);
  observe("b", "c", other->attempts);
  story.step();
  other = story.state().claims().find(model::ClaimName("default-c"));
  EXPECT_FALSE(other->launched());
  const auto* owner = story.state().claim_by_provider_id(model::ProviderId("kwok://b"));
  ASSERT_NE(owner, nullptr);
  EXPECT_EQ(owner->claim.name.str(), "default-b");
  EXPECT_EQ(verified(log).difference, std::nullopt);
}

// A machine that Karpenter launched carries no claim's uid. The cloud tells whose it is by name.
TEST(Adopted, AMachineThatNamesItsClaimIsEndedLikeOnesOwn) {
  const struct {
    const char* name;
    const char* uid;
    const char* claim;
    bool ends;
  } cases[] = {
      {"by its uid", "uid-a", "", true},
      {"by its name", "", "default-a", true},
      {"another's by uid, whatever its name says", "uid-b", "default-a", false},
      {"another's by name", "", "default-b", false},
      {"nobody's", "", "", false},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.name);
    events::MemoryLog log(model::LogId("log"));
    Story story(log);
    set_the_stage(story);
    model::NodeClaim claim = Siblings::claim("a", "kwok://a");
    story.fact(events::NodeClaimObserved{claim});
    story.step();
    claim.deletion_millis = story.now();
    story.fact(events::NodeClaimObserved{claim});
    story.step();
    model::Instance machine;
    machine.provider_id = claim.provider_id;
    machine.claim = model::ClaimUid(one.uid);
    machine.claim_name = model::ClaimName(one.claim);
    machine.state = model::InstanceState::kRunning;
    const auto looked_up = story.take<model::FindInstances>();
    ASSERT_EQ(looked_up.size(), 1u);
    story.answer(looked_up[0], model::OutcomeKind::kDone, {machine});
    story.step();
    const auto ends = story.take<model::Terminate>();
    ASSERT_EQ(ends.size(), one.ends ? 1u : 0u);
    const auto* verdict = story.state().verdicts().find(
        std::pair<std::string, std::string>("instance/kwok://a", "termination"));
    EXPECT_EQ(verdict != nullptr && verdict->verdict.code == "claim_tag_differs", !one.ends);
    EXPECT_TRUE(story.take<model::SetFinalizer>().empty()) << "not before it is proven gone";
    if (one.ends) {
      EXPECT_EQ(std::get<model::Terminate>(ends[0].spec),
                (model::Terminate{claim.provider_id, claim.uid, claim.name, claim.pool}));
      machine.state = model::InstanceState::kTerminated;
      story.answer(ends[0], model::OutcomeKind::kDone, {machine});
      story.step();
      EXPECT_EQ(story.take<model::SetFinalizer>().size(), 1u);
    }
    EXPECT_EQ(verified(log).difference, std::nullopt);
  }
}

// Without its claim nobody knows whose it was: Karpenter may have been told to keep it.
TEST(Adopted, AMachineThatNamesAClaimWhichIsGoneIsLeftAlone) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  model::Instance machine;
  machine.provider_id = model::ProviderId("kwok://a");
  machine.claim_name = model::ClaimName("default-a");
  machine.state = model::InstanceState::kRunning;
  story.fact(events::InstanceObserved{machine});
  for (int i = 0; i < 20; ++i) story.step(10'000);
  EXPECT_TRUE(story.take<model::FindInstances>().empty());
  EXPECT_TRUE(story.take<model::Terminate>().empty());
  story.fact(events::InstanceGone{machine.provider_id});
  story.step();
  EXPECT_EQ(story.state().instances().size(), 0U) << "nobody is left to ask for it";
  EXPECT_TRUE(story.take<model::FindInstances>().empty());
}

// Beside a Karpenter, whose claims and machines come and go: nothing of them stays behind.
TEST(Adopted, WhatAShadowSawOfMachinesGoesWithThem) {
  for (const bool machine_first : {false, true}) {
    events::MemoryLog log(model::LogId("log"));
    events::Config config;
    config.shadow = true;
    Story story(log, config);
    set_the_stage(story);
    model::NodeClaim claim;
    claim.name = model::ClaimName("default-a");
    claim.uid = model::ClaimUid("uid-a");
    claim.pool = model::PoolName("default");
    claim.provider_id = model::ProviderId("kwok://a");
    story.fact(events::NodeClaimObserved{claim});
    model::Instance machine;
    machine.provider_id = claim.provider_id;
    machine.claim_name = claim.name;
    machine.state = model::InstanceState::kRunning;
    story.fact(events::InstanceObserved{machine});
    story.step();
    EXPECT_EQ(story.state().instances().size(), 1U);
    for (const bool now_machine : {machine_first, !machine_first}) {
      if (now_machine)
        story.fact(events::InstanceGone{machine.provider_id});
      else
        story.fact(events::NodeClaimGone{claim.uid, claim.name});
      story.step();
    }
    EXPECT_EQ(story.state().instances().size(), 0U) << machine_first;
    EXPECT_FALSE(verified(log).difference);
  }
}

}  // namespace
}  // namespace karst::engine
