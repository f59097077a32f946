// Offers that lacked capacity, or were taken back: how long they are left alone.
#include <gtest/gtest.h>

#include "projections/cluster_state.h"

namespace karst::projections {
namespace {

constexpr std::int64_t kMinute = base::kMillisPerMinute;
const model::Offer kSpot{"m5.large", "us-east-1a", "spot", 0, ""};
const model::Offer kOther{"m5.large", "us-east-1b", "spot", 0, ""};

struct Exhausted : ::testing::Test {
  Position tell(events::Body body) {
    events::Envelope at;
    at.position = state.next_position();
    at.log_time = now;
    state.apply(at, body);
    return at.position;
  }
  Position order(const std::string& claim) {
    model::NodeClaim made;
    made.name = model::ClaimName(claim);
    made.uid = model::ClaimUid("uid-" + claim);
    tell(events::NodeClaimObserved{made});
    model::Launch launch;
    launch.items = {{made.uid, made.name, 1}};
    launch.offers = {kSpot, kOther};
    model::Command command;
    command.spec = launch;
    return tell(command);
  }
  void answer(Position command, std::vector<model::Offer> exhausted,
              std::vector<model::Instance> instances = {}) {
    model::Outcome outcome;
    outcome.command = command;
    outcome.attempt = 1;
    outcome.kind = instances.empty() ? model::OutcomeKind::kRefused : model::OutcomeKind::kDone;
    if (instances.empty()) outcome.code = model::RefusalCode::kCapacity;
    outcome.exhausted = std::move(exhausted);
    outcome.instances = std::move(instances);
    tell(outcome);
  }
  void miss() { answer(order("claim-" + std::to_string(++claims)), {kSpot}); }
  model::Instance machine(const std::string& claim, const model::Offer& offer) {
    model::Instance made;
    made.provider_id = model::ProviderId("aws:///us-east-1a/i-" + claim);
    made.claim = model::ClaimUid("uid-" + claim);
    made.attempt = 1;
    made.state = model::InstanceState::kRunning;
    made.offer = offer;
    return made;
  }
  // Minutes from now for which the offer is left alone; 0: it is not.
  std::int64_t shut_for(const model::Offer& offer) const {
    const ExhaustedRow* row = state.exhausted().find(offer);
    return row == nullptr || row->until <= now ? 0 : (row->until.value() - now.value()) / kMinute;
  }

  ClusterState state;
  base::LogTime now{1'800'000'000'000};
  int claims = 0;
};

TEST_F(Exhausted, OneWaveOfOrdersIsOneMiss) {
  std::vector<Position> wave;
  for (int i = 0; i < 10; ++i) wave.push_back(order("wave-" + std::to_string(i)));
  for (const Position one : wave) answer(one, {kSpot});
  EXPECT_EQ(shut_for(kSpot), 3);
  EXPECT_EQ(shut_for(kOther), 0);
}

TEST_F(Exhausted, MissesAfterAnotherWaitLongerAndAQuietHourForgets) {
  for (const std::int64_t minutes : {3, 6, 12, 24, 24}) {
    miss();
    EXPECT_EQ(shut_for(kSpot), minutes);
    now = now + minutes * kMinute;
  }
  now = now + 59 * kMinute;
  miss();
  EXPECT_EQ(shut_for(kSpot), 24);
  now = now + (24 + 60) * kMinute;
  miss();
  EXPECT_EQ(shut_for(kSpot), 3);
}

TEST_F(Exhausted, AReservationThatTakesAMachineBackIsLeftAlone) {
  const model::Offer lent{"m5.large", "us-east-1a", "reserved", 0, "cr-1"};
  answer(order("lent"), {}, {machine("lent", lent)});
  events::InterruptionReceived notice;
  notice.interruption.message = model::MessageId("m");
  notice.interruption.provider_id = model::ProviderId("aws:///us-east-1a/i-lent");
  notice.interruption.kind = model::InterruptionKind::kReservationInterruption;
  tell(notice);
  EXPECT_EQ(shut_for(lent), 3);
  EXPECT_EQ(shut_for(kSpot), 0);
  const ClaimRow* claim = state.claims().find(model::ClaimName("lent"));
  EXPECT_EQ(claim->interruption_kind, model::InterruptionKind::kReservationInterruption);
}

TEST_F(Exhausted, AMachineProvesCapacity) {
  for (int i = 0; i < 3; ++i, now = now + 12 * kMinute) miss();
  answer(order("made"), {}, {machine("made", kSpot)});
  EXPECT_FALSE(state.exhausted().contains(kSpot));
  miss();
  EXPECT_EQ(shut_for(kSpot), 3);
}

TEST_F(Exhausted, APartOfAFleetLeavesItsOfferShut) {
  answer(order("made"), {kSpot}, {machine("made", kSpot)});
  EXPECT_EQ(shut_for(kSpot), 3);
}

TEST_F(Exhausted, AnInterruptionShutsTheMachinesOffer) {
  const auto interrupt = [&](const model::Instance& of, model::InterruptionKind kind) {
    model::Interruption message;
    message.message = model::MessageId("message-" + std::to_string(++claims));
    message.provider_id = of.provider_id;
    message.kind = kind;
    tell(events::InterruptionReceived{message});
  };
  model::Offer on_demand = kSpot;
  on_demand.capacity_type = "on-demand";
  const model::Instance other = machine("other", kOther);
  const model::Instance bought = machine("bought", on_demand);
  const model::Instance spot = machine("spot", kSpot);
  answer(order("other"), {}, {other});
  answer(order("bought"), {}, {bought});
  answer(order("spot"), {}, {spot});
  interrupt(other, model::InterruptionKind::kRebalanceRecommendation);
  interrupt(bought, model::InterruptionKind::kSpotInterruption);
  EXPECT_EQ(state.exhausted().size(), 0u);
  interrupt(spot, model::InterruptionKind::kSpotInterruption);
  EXPECT_EQ(shut_for(kSpot), 3);
  EXPECT_EQ(shut_for(kOther), 0);
  now = now + kMinute;
  interrupt(spot, model::InterruptionKind::kSpotInterruption);
  EXPECT_EQ(shut_for(kSpot), 2) << "a message that comes twice is one";
  miss();
  EXPECT_EQ(shut_for(kSpot), 3) << "it was no miss";
}

TEST_F(Exhausted, AWarningShutsTheOfferOfAMachineThatGoesForAnotherReasonAlready) {
  const model::Instance spot = machine("spot", kSpot);
  answer(order("spot"), {}, {spot});
  for (const auto& [kind, minutes] : {std::pair{model::InterruptionKind::kScheduledChange, 0},
                                      std::pair{model::InterruptionKind::kSpotInterruption, 3}}) {
    model::Interruption message;
    message.message = model::MessageId("message-" + std::to_string(++claims));
    message.provider_id = spot.provider_id;
    message.kind = kind;
    tell(events::InterruptionReceived{message});
    EXPECT_EQ(shut_for(kSpot), minutes);
  }
}

// What names a capacity type alone is about all of it.
TEST_F(Exhausted, AWholeCapacityTypeIsShutUntilAMachineOfItComes) {
  model::Offer on_demand = kSpot;
  on_demand.capacity_type = "on-demand";
  answer(order("a"), {{"", "", "spot", 0, ""}});
  EXPECT_TRUE(state.is_exhausted(kSpot, now));
  EXPECT_TRUE(state.is_exhausted(kOther, now));
  EXPECT_FALSE(state.is_exhausted(on_demand, now));
  EXPECT_FALSE(state.is_exhausted(kSpot, now + 3 * kMinute));
  answer(order("b"), {}, {machine("b", kOther)});
  EXPECT_FALSE(state.is_exhausted(kSpot, now));
}

}  // namespace
}  // namespace karst::projections
