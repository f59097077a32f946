// Addresses that orders may take of subnets, between two counts of them.
#include <gtest/gtest.h>

#include "projections/cluster_state.h"

namespace karst::projections {
namespace {

const model::NodeClassRef kClass{"g", "K", "default"};

struct Promised : ::testing::Test {
  Promised() {
    model::NodeClass node_class;
    node_class.ref = kClass;
    node_class.uid = "c1";
    tell(events::NodeClassObserved{node_class});
  }
  Position tell(events::Body body) {
    events::Envelope at;
    at.position = state.next_position();
    at.log_time = base::LogTime(1'800'000'000'000);
    state.apply(at, body);
    return at.position;
  }
  Position ask(model::CommandSpec spec) {
    model::Command command;
    command.spec = std::move(spec);
    return tell(command);
  }
  // An order for two machines, which may be in either of two zones.
  Position order() {
    model::Launch launch;
    for (int i = 0; i < 2; ++i) {
      model::NodeClaim claim;
      claim.name = model::ClaimName("claim-" + std::to_string(++claims));
      claim.uid = model::ClaimUid("uid-" + std::to_string(claims));
      claim.node_class = kClass;
      tell(events::NodeClaimObserved{claim});
      launch.items.push_back({claim.uid, claim.name, 1});
    }
    launch.addresses = {{"subnet-a", "a", 29}, {"subnet-b", "b", 29}};
    return ask(launch);
  }
  void answer(Position command, std::vector<std::string> zones,
              std::vector<std::string> full_subnets = {}) {
    model::Outcome outcome;
    outcome.command = command;
    outcome.attempt = 1;
    outcome.full_subnets = std::move(full_subnets);
    outcome.kind = zones.empty() ? model::OutcomeKind::kRefused : model::OutcomeKind::kDone;
    outcome.code = zones.empty() ? model::RefusalCode::kCapacity : model::RefusalCode::kNone;
    for (const std::string& zone : zones) {
      model::Instance made;
      made.provider_id = model::ProviderId("aws:///" + zone + "/i-" + std::to_string(++machines));
      made.claim = model::ClaimUid("uid-" + std::to_string(machines));
      made.attempt = 1;
      made.offer.zone = zone;
      outcome.instances.push_back(made);
    }
    tell(outcome);
  }
  Position count() {
    model::ResolveNodeClass spec;
    spec.ref = kClass;
    spec.uid = "c1";
    return ask(spec);
  }
  void counted(Position command) {
    model::Outcome outcome;
    outcome.command = command;
    outcome.resolution = "found";
    tell(outcome);
  }
  std::string promised() const {
    std::string text;
    for (const PromiseRow& one : state.node_classes().find(kClass)->promised)
      text += one.use.subnet + " " +
              (one.use.each == kAllAddresses ? "all" : std::to_string(one.machines)) + "; ";
    return text;
  }
  ClusterState state;
  int claims = 0;
  int machines = 0;
};

TEST_F(Promised, AnOrderMayComeToBeInAnyOfItsZonesUntilItIsAnswered) {
  const Position one = order();
  EXPECT_EQ(promised(), "subnet-a 2; subnet-b 2; ");
  answer(one, {"b"});
  EXPECT_EQ(promised(), "subnet-b 1; ") << "one was not had";
  answer(order(), {});
  EXPECT_EQ(promised(), "subnet-b 1; ");
}

TEST_F(Promised, ACountThatWasAskedForAfterTheAnswerHasIt) {
  const Position first = order();
  const Position early = count();  // may have been taken before or after the machines came
  answer(first, {"a", "a"});
  counted(early);
  EXPECT_EQ(promised(), "subnet-a 2; ");
  const Position second = order();
  counted(count());
  EXPECT_EQ(promised(), "subnet-a 2; subnet-b 2; ") << "the open order's; the first is counted";
  tell(model::CommandAbandoned{second, "searched"});
  EXPECT_EQ(promised(), "subnet-a 2; subnet-b 2; ") << "nobody knows what came of it";
  counted(count());
  EXPECT_EQ(promised(), "");
}

TEST_F(Promised, ASubnetThatIsFullHasNothingUntilTheNextCount) {
  const Position one = order();
  const Position early = count();
  answer(one, {}, {"subnet-a"});
  EXPECT_EQ(promised(), "subnet-a all; ");
  counted(early);
  EXPECT_EQ(promised(), "subnet-a all; ");
  answer(order(), {"b"}, {"subnet-a"});
  EXPECT_EQ(promised(), "subnet-a all; subnet-a all; subnet-b 1; ");
  counted(count());
  EXPECT_EQ(promised(), "");
}

}  // namespace
}  // namespace karst::projections
