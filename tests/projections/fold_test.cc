// What a fold keeps beside its rows, in the state that was folded and in one that is loaded: the
// digest, and which nodes are vacant.
#include <gtest/gtest.h>

#include "projections/cluster_state.h"

namespace karst::projections {
namespace {

struct Fold : ::testing::Test {
  void tell(const events::Body& body) {
    events::Envelope at;
    at.position = state.next_position();
    at.log_time = LogTime(static_cast<std::int64_t>(at.position.value()));
    state.apply(at, body);
  }
  // A claim that nothing is left to do for, with its machine and its node.
  void settle(const std::string& name) {
    model::NodeClaim claim;
    claim.name = model::ClaimName(name);
    claim.uid = model::ClaimUid("uid-" + name);
    claim.has_finalizer = true;
    claim.provider_id = model::ProviderId("kwok://" + name);
    claim.conditions = {{"Ready", model::ConditionStatus::kTrue, "", "", 0}};
    tell(events::NodeClaimObserved{claim});
    model::Instance instance;
    instance.provider_id = claim.provider_id;
    instance.claim = claim.uid;
    instance.attempt = 1;
    tell(events::InstanceObserved{instance});
    model::Node node;
    node.name = model::NodeName("node-" + name);
    node.uid = model::NodeUid("uid-node-" + name);
    node.provider_id = claim.provider_id;
    node.labels = {{std::string(model::kInitializedLabel), "true"},
                   {std::string(model::kRegisteredLabel), "true"}};
    tell(events::NodeObserved{node});
  }
  void pod(const std::string& name, const std::string& node,
           model::PodPhase phase = model::PodPhase::kRunning) {
    model::Pod pod;
    pod.uid = model::PodUid(name);
    pod.namespace_name = "default";
    pod.name = name;
    pod.shape = shape;
    pod.phase = phase;
    if (!node.empty()) pod.node = model::NodeName("node-" + node);
    tell(events::PodObserved{pod});
  }
  std::string vacant() const {
    ClusterState loaded;
    EXPECT_TRUE(loaded.load(state.save()));
    EXPECT_EQ(loaded.vacant(), state.vacant());
    std::string names;
    for (const model::ClaimName& name : state.vacant()) names += name.str();
    return names;
  }
  void SetUp() override {
    model::PodShape asked;
    asked.requests.cpu_millis = 100;
    shape = model::hash_of(asked);
    tell(events::ShapeRecorded{shape, asked});
    settle("a");
    settle("b");
  }
  ClusterState state;
  model::ShapeHash shape;
};

TEST_F(Fold, AClaimIsVacantWhileNoPodOfItsNodeWouldNeedAnotherPlace) {
  EXPECT_EQ(vacant(), "ab");
  pod("first", "a");
  EXPECT_EQ(vacant(), "b");
  pod("second", "a");
  pod("first", "a", model::PodPhase::kSucceeded);
  EXPECT_EQ(vacant(), "b") << "one of two has ended";
  pod("second", "b");  // no scheduler does that, a log may say it
  EXPECT_EQ(vacant(), "a");
  tell(events::PodGone{model::PodUid("second")});
  EXPECT_EQ(vacant(), "ab");
  pod("third", "");
  EXPECT_EQ(vacant(), "ab");
  pod("third", "b");
  EXPECT_EQ(vacant(), "a");
}

// Two notices that wait for their claim, the later one with the smaller id.
TEST_F(Fold, MessagesThatWaitAreTakenInTheirOrderAlsoByAStateThatIsLoaded) {
  const auto notice = [&](const char* id, std::int64_t deadline_millis) {
    const Position position = state.next_position();
    tell(events::InterruptionReceived{{model::MessageId(id),
                                       model::InterruptionKind::kSpotInterruption,
                                       model::ProviderId("aws:////i-c"), deadline_millis, 1}});
    return position;
  };
  const Position first = notice("m-2", 90'000);
  notice("m-1", 60'000);
  ClusterState loaded;
  ASSERT_TRUE(loaded.load(state.save()));
  model::NodeClaim claim;
  claim.name = model::ClaimName("c");
  claim.uid = model::ClaimUid("uid-c");
  claim.provider_id = model::ProviderId("aws:///us-east-1a/i-c");
  events::Envelope at;
  at.position = state.next_position();
  at.log_time = LogTime(1'000);
  for (ClusterState* each : {&state, &loaded}) {
    each->apply(at, events::NodeClaimObserved{claim});
    const ClaimRow& row = *each->claims().find(claim.name);
    EXPECT_EQ(row.interrupted_at, LogTime(1'000));
    EXPECT_EQ(row.interruption, first);
    EXPECT_EQ(row.deadline_millis, 60'000);
  }
  EXPECT_EQ(loaded.digest(), state.digest());
}

// Of one table: whether the digest is asked for after each edit or at the end, it is the same.
// The launch's answer knows neither, and may come again after the list.
TEST_F(Fold, WhereAMachineStandsIsTheCloudsListsToTell) {
  model::Instance instance;
  instance.provider_id = model::ProviderId("aws:///a/i-1");
  const auto launched = [&] {
    model::Outcome outcome;
    outcome.instances = {instance};
    tell(outcome);
  };
  const auto known = [&] {
    ClusterState loaded;
    EXPECT_TRUE(loaded.load(state.save()));
    EXPECT_EQ(loaded.digest(), state.digest());
    const model::Instance& one = loaded.instances().find(instance.provider_id)->instance;
    std::string text = one.subnet;
    for (const std::string& group : one.security_groups) text += " " + group;
    return text;
  };
  launched();
  EXPECT_EQ(known(), "");
  model::Instance listed = instance;
  listed.subnet = "subnet-a";
  listed.security_groups = {"sg-1", "sg-2"};
  tell(events::InstanceObserved{listed});
  EXPECT_EQ(known(), "subnet-a sg-1 sg-2");
  launched();
  EXPECT_EQ(known(), "subnet-a sg-1 sg-2");
  listed.security_groups = {"sg-3"};
  tell(events::InstanceObserved{listed});
  EXPECT_EQ(known(), "subnet-a sg-3");
}

TEST(TableDigest, OfEditsThatWereHashedLateOrAtOnce) {
  Table<std::string, ActivityRow> late{4}, at_once{4}, last{4};
  const auto set = [](auto& table, const char* key, std::uint64_t position) {
    table.edit(key, [&](ActivityRow& row) { row.last_pod_position = Position(position); });
  };
  const auto all = [&](auto& table, bool ask) {
    for (std::uint64_t i = 1; i <= 100; ++i) {
      set(table, i % 2 == 0 ? "even" : "odd", i);
      set(table, "goes", i);
      if (i % 3 == 0) table.erase("goes");
      if (ask) {
        EXPECT_NE(table.digest(), base::Hash128{});
      }
    }
    table.erase("goes");
  };
  all(late, false);
  all(at_once, true);
  set(last, "even", 100);
  set(last, "odd", 99);
  auto moved = std::move(late);
  EXPECT_EQ(moved.digest(), last.digest());
  EXPECT_EQ(at_once.digest(), last.digest());
  set(moved, "even", 7);
  EXPECT_NE(moved.digest(), last.digest());
}

}  // namespace
}  // namespace karst::projections
