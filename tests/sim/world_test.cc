#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "tests/sim/fixture.h"

namespace karst::sim {
namespace {

using model::OutcomeKind;
using model::RefusalCode;

Workload web(std::int64_t cpu_millis, std::vector<ReplicaStep> timeline) {
  Workload workload;
  workload.name = "web";
  workload.shape = pod_of(cpu_millis);
  workload.timeline = std::move(timeline);
  return workload;
}

model::NodeClaim claim_named(const std::string& name, const std::string& command) {
  model::NodeClaim claim;
  claim.name = model::ClaimName(name);
  claim.pool = model::PoolName("default");
  claim.has_finalizer = true;
  model::set_label(claim.annotations, model::kCommandIdAnnotation, command);
  return claim;
}

// Launches one machine for a fresh claim, adopts its node, and returns the claim's uid.
std::string bring_up(Bench& bench, const std::string& name) {
  const std::string uid = bench.ask(model::CreateNodeClaim{claim_named(name, name)}).object_uid;
  model::Launch launch = order_for(uid, 1, "token-" + name);
  launch.items[0].name = model::ClaimName(name);
  bench.ask(launch);
  bench.run(70'000);
  const NodeEntry& node = bench.world.api().nodes().begin()->second;
  model::SyncNode sync;
  sync.node = node.node.name;
  sync.uid = node.node.uid;
  sync.remove_taints = {
      {std::string(model::kUnregisteredTaintKey), "", model::TaintEffect::kNoExecute}};
  sync.add_finalizer = true;
  sync.owner_uid = model::ClaimUid(uid);
  bench.ask(sync);
  return uid;
}

TEST(Hands, GiveTaintsToANodeUntilItIsRegistered) {
  Bench bench(plain_scenario());
  bring_up(bench, "c");
  const auto node = [&]() -> const model::Node& {
    return bench.world.api().nodes().begin()->second.node;
  };
  const model::Taint startup{"cni-not-ready", "", model::TaintEffect::kNoSchedule};
  model::SyncNode sync;
  sync.node = node().name;
  sync.uid = node().uid;
  sync.labels = {{std::string(model::kRegisteredLabel), "true"}};
  sync.add_taints = {startup};
  bench.ask(sync);
  EXPECT_EQ(node().taints, std::vector<model::Taint>{startup});
  bench.ask(model::TaintNode{sync.node, sync.uid, startup, false});
  bench.ask(sync);
  EXPECT_TRUE(node().taints.empty()) << "its owner took it away: it does not come back";
}

TEST(Watches, ListInBracketsWithShapesBeforePods) {
  Scenario scenario = plain_scenario();
  scenario.workloads = {web(100, {{0, 3}})};
  Bench bench(scenario);
  bench.run(5'000);
  bench.facts.all.clear();
  bench.world.connect();
  bench.run(5'000);
  std::set<std::string> open;
  std::set<std::string> closed;
  std::set<model::ShapeHash> shapes;
  for (const ports::Fact& fact : bench.facts.all) {
    if (const auto* started = std::get_if<events::ListStarted>(&fact.body))
      open.insert(started->kind);
    if (const auto* ended = std::get_if<events::ListEnded>(&fact.body)) {
      EXPECT_TRUE(open.contains(ended->kind)) << ended->kind;
      closed.insert(ended->kind);
    }
    if (const auto* shape = std::get_if<events::ShapeRecorded>(&fact.body))
      shapes.insert(shape->hash);
    if (const auto* pod = std::get_if<events::PodObserved>(&fact.body)) {
      EXPECT_TRUE(open.contains("Pod"));
      EXPECT_TRUE(shapes.contains(pod->pod.shape));
    }
  }
  std::set<std::string> kinds{"Pod",       "Node",      "NodeClaim", "NodePool",
                              "NodeClass", "DaemonSet", "Instance"};
  kinds.insert(std::begin(model::kNamedKinds), std::end(model::kNamedKinds));
  EXPECT_EQ(closed, kinds);
  EXPECT_EQ(bench.facts.of<events::PodObserved>().size(), 3u);
}

TEST(Watches, NothingArrivesWhileDisconnectedAndAnswersAreLost) {
  Bench bench;
  bench.run(2'000);
  bench.world.kube().submit({{model::LogId("log"), model::Position(9)},
                             1,
                             model::CreateNodeClaim{claim_named("a", "9")}});
  bench.world.disconnect();
  bench.facts.all.clear();
  bench.run(60'000);
  EXPECT_TRUE(bench.facts.all.empty());
  EXPECT_NE(bench.world.api().claim("a"), nullptr) << "what was submitted happens all the same";
}

TEST(Claims, AlreadyExistsIsDoneForTheSameCommandOnly) {
  Bench bench;
  const auto first = bench.ask(model::CreateNodeClaim{claim_named("a", "log-1")});
  const auto again = bench.ask(model::CreateNodeClaim{claim_named("a", "log-1")});
  const auto other = bench.ask(model::CreateNodeClaim{claim_named("a", "log-2")});
  EXPECT_EQ(first.kind, OutcomeKind::kDone);
  EXPECT_EQ(again.kind, OutcomeKind::kDone);
  EXPECT_EQ(again.object_uid, first.object_uid);
  EXPECT_EQ(std::tuple(other.kind, other.code),
            std::tuple(OutcomeKind::kRefused, RefusalCode::kConflict));
}

TEST(Claims, DeletionWaitsForTheFinalizerAndAnotherUidIsLeftAlone) {
  Bench bench;
  const std::string uid = bench.ask(model::CreateNodeClaim{claim_named("a", "1")}).object_uid;
  const model::ObjectRef other{model::ObjectKind::kNodeClaim, "", "a", "another"};
  EXPECT_EQ(bench.ask(model::DeleteObject{other}).code, RefusalCode::kGone);
  EXPECT_EQ(bench.world.api().claim("a")->deletion_millis, 0);
  const model::ObjectRef ref{model::ObjectKind::kNodeClaim, "", "a", uid};
  bench.ask(model::DeleteObject{ref});
  ASSERT_NE(bench.world.api().claim("a"), nullptr);
  EXPECT_NE(bench.world.api().claim("a")->deletion_millis, 0);
  bench.ask(model::SetFinalizer{ref, false});
  EXPECT_EQ(bench.world.api().claim("a"), nullptr);
  EXPECT_EQ(bench.facts.of<events::NodeClaimGone>().size(), 1u);
  EXPECT_EQ(bench.ask(model::DeleteObject{ref}).kind, OutcomeKind::kDone);
}

TEST(Cloud, SameTokenSameInstances) {
  Bench bench;
  const auto first = bench.ask(order_for("c-1", 1, "t-1"));
  const auto again = bench.ask(order_for("c-1", 1, "t-1"));
  ASSERT_EQ(first.instances.size(), 1u);
  ASSERT_EQ(again.instances.size(), 1u);
  EXPECT_EQ(first.instances[0].provider_id, again.instances[0].provider_id);
  EXPECT_EQ(bench.world.history().instances.size(), 1u);
}

TEST(Cloud, SameTokenOtherBytesIsRefused) {
  Bench bench;
  bench.ask(order_for("c-1", 1, "t-1"));
  model::Launch changed = order_for("c-1", 1, "t-1");
  changed.request = "something else";
  const auto outcome = bench.ask(changed);
  EXPECT_EQ(std::tuple(outcome.kind, outcome.code),
            std::tuple(OutcomeKind::kRefused, RefusalCode::kInvalid));
  EXPECT_EQ(bench.world.history().instances.size(), 1u);
}

TEST(Cloud, AnOfferThatItDoesNotHaveIsNoCapacity) {
  Bench bench;
  model::Launch order = order_for("c-1", 1, "t-1");
  order.offers = {{"huge", "zone-a", "spot", 10}};
  const auto outcome = bench.ask(order);
  EXPECT_EQ(std::tuple(outcome.kind, outcome.code),
            std::tuple(OutcomeKind::kRefused, RefusalCode::kCapacity));
  EXPECT_EQ(outcome.exhausted, order.offers);
}

TEST(Cloud, TerminateIsIdempotentAndFindTellsTheTruth) {
  Bench bench;
  const model::ProviderId id = bench.ask(order_for("c-1", 1, "t-1")).instances.at(0).provider_id;
  EXPECT_EQ(bench.ask(model::FindInstances{model::ClaimUid("c-1"), {}}).instances.size(), 1u);
  EXPECT_EQ(bench.ask(model::Terminate{id, model::ClaimUid("c-1")}).kind, OutcomeKind::kDone);
  EXPECT_EQ(bench.ask(model::Terminate{id, model::ClaimUid("c-1")}).kind, OutcomeKind::kDone);
  bench.run(120'000);
  const auto gone = bench.ask(model::FindInstances{{}, id});
  EXPECT_EQ(gone.kind, OutcomeKind::kDone);
  EXPECT_TRUE(gone.instances.empty());
  EXPECT_GE(bench.world.history().instances.at(id.str()).gone_at, 0);
}

TEST(Scheduler, MarksUnschedulableThenBindsOnceANodeFits) {
  Scenario scenario = plain_scenario();
  scenario.workloads = {web(3'000, {{0, 2}})};
  Bench bench(scenario);
  bench.run(5'000);
  ASSERT_EQ(bench.world.api().unbound().size(), 2u);
  for (const auto& [uid, entry] : bench.world.api().pods()) EXPECT_TRUE(entry.pod.unschedulable);
  bring_up(bench, "a");
  bench.run(10'000);
  EXPECT_EQ(bench.world.api().unbound().size(), 1u) << "4 cores hold one pod of 3";
  std::size_t running = 0;
  for (const auto& [uid, entry] : bench.world.api().pods())
    running += entry.pod.phase == model::PodPhase::kRunning;
  EXPECT_EQ(running, 1u);
}

TEST(Scheduler, SelectsByLabelsAndAffinity) {
  const model::Labels labels{{"size", "8"}, {"zone", "a"}};
  const struct {
    const char* name;
    model::RequirementSpec expression;
    bool want;
  } cases[] = {
      {"in", {"zone", model::Operator::kIn, {"a", "b"}, 0}, true},
      {"in other", {"zone", model::Operator::kIn, {"c"}, 0}, false},
      {"in absent", {"rack", model::Operator::kIn, {"c"}, 0}, false},
      {"not in absent", {"rack", model::Operator::kNotIn, {"c"}, 0}, true},
      {"not in", {"zone", model::Operator::kNotIn, {"a"}, 0}, false},
      {"exists", {"zone", model::Operator::kExists, {}, 0}, true},
      {"does not exist", {"zone", model::Operator::kDoesNotExist, {}, 0}, false},
      {"greater", {"size", model::Operator::kGt, {"7"}, 0}, true},
      {"not greater", {"size", model::Operator::kGt, {"8"}, 0}, false},
      {"at least", {"size", model::Operator::kGte, {"8"}, 0}, true},
      {"less", {"size", model::Operator::kLt, {"8"}, 0}, false},
      {"no number", {"zone", model::Operator::kLt, {"8"}, 0}, false},
  };
  for (const auto& one : cases) EXPECT_EQ(matches(one.expression, labels), one.want) << one.name;
}

TEST(Scheduler, TaintsAndCordonsKeepPodsAway) {
  Bench bench;
  bring_up(bench, "a");
  const model::Node node = bench.world.api().nodes().begin()->second.node;
  const model::Taint disrupted{std::string(model::kDisruptedTaintKey), "",
                               model::TaintEffect::kNoSchedule};
  EXPECT_EQ(bench.ask(model::TaintNode{node.name, node.uid, disrupted, true}).kind,
            OutcomeKind::kDone);
  const auto back = bench.ask(model::ReadBackNode{node.name, node.uid});
  ASSERT_TRUE(back.read_back.has_value());
  EXPECT_TRUE(back.read_back->exists);
  EXPECT_TRUE(back.read_back->tainted);
  EXPECT_EQ(bench.ask(model::TaintNode{node.name, model::NodeUid("x"), disrupted, true}).code,
            RefusalCode::kGone);
}

TEST(Drain, BudgetsHoldAnEvictionBackAndForceGoesThrough) {
  Scenario scenario = plain_scenario();
  scenario.workloads = {web(500, {{0, 1}})};
  scenario.workloads[0].min_available = 1;
  Bench bench(scenario);
  bring_up(bench, "a");
  bench.run(10'000);
  const PodEntry& pod = bench.world.api().pods().begin()->second;
  ASSERT_TRUE(pod.pod.ready);
  model::EvictPod evict{pod.pod.uid, pod.pod.namespace_name, pod.pod.name, pod.pod.node, false, -1};
  EXPECT_EQ(bench.ask(evict).code, RefusalCode::kBlocked);
  evict.force = true;
  evict.grace_seconds = 1;
  EXPECT_EQ(bench.ask(evict).kind, OutcomeKind::kDone);
  EXPECT_EQ(bench.ask(evict).code, RefusalCode::kGone);
}

TEST(Machines, ADeadOneTakesItsNodeDownAndItsPodsComeBack) {
  Scenario scenario = plain_scenario();
  scenario.workloads = {web(500, {{0, 2}})};
  scenario.kills = {{200'000, ""}};
  Bench bench(scenario);
  const std::string uid = bring_up(bench, "a");
  ASSERT_LT(bench.world.now() - bench.world.scenario().start_unix_millis, 200'000);
  bench.run(260'000);
  const auto& node = bench.world.api().nodes().begin()->second.node;
  EXPECT_FALSE(node.ready);
  const model::ObjectRef ref{model::ObjectKind::kNode, "", node.name.str(), node.uid.str()};
  bench.ask(model::DeleteObject{ref});
  bench.ask(model::SetFinalizer{ref, false});
  bench.run(30'000);
  EXPECT_TRUE(bench.world.api().nodes().empty());
  EXPECT_EQ(bench.world.api().pods().size(), 2u);
  EXPECT_EQ(bench.world.api().unbound().size(), 2u);
}

TEST(Queue, AMessageComesAgainUntilItIsAcknowledged) {
  Scenario scenario = plain_scenario();
  scenario.interruptions = {{150'000, "spot"}};
  Bench bench(scenario);
  bring_up(bench, "a");
  bench.run(160'000);
  auto received = [&] {
    std::vector<ports::Fact> facts;
    for (const ports::Fact& fact : bench.facts.all)
      if (std::holds_alternative<events::InterruptionReceived>(fact.body)) facts.push_back(fact);
    return facts;
  };
  const std::vector<ports::Fact> first = received();
  ASSERT_GE(first.size(), 2u);
  const auto& message = std::get<events::InterruptionReceived>(first[0].body).interruption;
  EXPECT_EQ(message.deadline_millis, message.sent_millis + 120'000);
  bench.world.queue().acknowledge(first[0].receipt);
  const std::size_t before = received().size();
  bench.run(120'000);
  EXPECT_EQ(received().size(), before);
  EXPECT_EQ(bench.world.messages().waiting(), 0u);
  EXPECT_GE(bench.world.history().instances.begin()->second.gone_at, message.deadline_millis);
}

// As EC2's queue is read: an event that says why, deleted like any other.
TEST(Queue, WhatIsNothingForUsIsAMessageLikeAnyOther) {
  Scenario scenario = plain_scenario();
  scenario.storm_from_millis = 1'000;
  scenario.storm_until_millis = 20'000;
  scenario.faults = {{Fault::kMessageMalformed, 10'000}, {Fault::kMessageForeign, 10'000}};
  Bench bench(scenario);
  bench.run(20'000);
  std::set<std::pair<std::string, std::string>> told;
  for (const auto& one : bench.facts.of<events::InterruptionReceived>())
    told.emplace(model::interruption_kind_name(one.interruption.kind), one.interruption.reason);
  EXPECT_EQ(told, (std::set<std::pair<std::string, std::string>>{{"spot_interrupted", ""},
                                                                 {"other", "not a JSON object"}}));
  EXPECT_TRUE(bench.facts.of<events::InputRefused>().empty());
  EXPECT_GT(bench.world.messages().waiting(), 0u);
  for (const ports::Fact& fact : bench.facts.all)
    if (!fact.receipt.empty()) bench.world.queue().acknowledge(fact.receipt);
  EXPECT_EQ(bench.world.messages().waiting(), 0u);
}

TEST(World, TheSameSeedGivesTheSameFacts) {
  const auto facts_of = [](std::uint64_t seed) {
    Bench bench(random_scenario(seed, one_type()), seed);
    bench.run(30 * 60'000);
    std::vector<std::pair<events::EventType, std::string>> facts;
    for (const ports::Fact& fact : bench.facts.all)
      facts.emplace_back(events::type_of(fact.body), events::stream_of(fact.body));
    return facts;
  };
  EXPECT_EQ(facts_of(3), facts_of(3));
  EXPECT_NE(facts_of(3), facts_of(4));
}

}  // namespace
}  // namespace karst::sim
