// The contract of every cloud's hands, in the words of their port: one attempt, one outcome; the
// same order never makes a second machine; what is unclear can be found; a removal can be asked for
// twice; a failed part costs the others nothing; a lack of room is told of the offer that lacks it.
// Where clouds differ in how they keep it, the test says which way was taken.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "tests/cloud/cloud_case.h"

namespace karst::cloud {
namespace {

using model::OutcomeKind;

struct Kind {
  const char* name;
  std::unique_ptr<CloudCase> (*make)();
};
void PrintTo(const Kind& kind, std::ostream* out) {
  *out << kind.name;
}

void took(const char* way) {
  std::printf("[   WAY    ] %s\n", way);
}

std::string told(const model::Outcome& outcome) {
  return "kind " + std::to_string(static_cast<int>(outcome.kind)) + ", code " +
         std::to_string(static_cast<int>(outcome.code)) + ": " + outcome.message;
}

struct CloudContract : ::testing::TestWithParam<Kind> {
  std::vector<model::Instance> find(const char* claim) {
    const model::Outcome found = cloud->ask(model::FindInstances{model::ClaimUid(claim), {}});
    EXPECT_EQ(found.kind, OutcomeKind::kDone) << told(found);
    return found.instances;
  }
  // One machine of claim uid-0.
  model::Instance launched() {
    const model::Outcome made = cloud->ask(cloud->order(1, "token-1"));
    EXPECT_EQ(made.kind, OutcomeKind::kDone) << told(made);
    EXPECT_EQ(made.instances.size(), 1u);
    return made.instances.empty() ? model::Instance() : made.instances.front();
  }
  static bool alive(const model::Instance& one) {
    return one.state == model::InstanceState::kPending ||
           one.state == model::InstanceState::kRunning;
  }
  std::unique_ptr<CloudCase> cloud = GetParam().make();
};

TEST_P(CloudContract, AnOrderThatIsSentTwiceMakesOneMachine) {
  const model::Instance first = launched();
  EXPECT_EQ(first.claim.str(), "uid-0");
  const model::Outcome again = cloud->ask(cloud->order(1, "token-1"), 2);
  EXPECT_EQ(again.kind, OutcomeKind::kDone) << told(again);
  ASSERT_EQ(again.instances.size(), 1u);
  EXPECT_EQ(again.instances.front().provider_id, first.provider_id);
  EXPECT_EQ(cloud->running().size(), 1u);
  switch (cloud->remembers()) {
    case Remembers::kToken:
      return took("the cloud knows the token");
    case Remembers::kName:
      return took("the machine's name is taken, and its token is the order's");
    case Remembers::kByFinding:
      return took("the driver found the machine before it asked for another");
  }
}

TEST_P(CloudContract, AnUnclearLaunchIsFoundAndStaysOneMachine) {
  cloud->lose_answer();
  const model::Outcome lost = cloud->ask(cloud->order(1, "token-1"));
  EXPECT_EQ(lost.kind, OutcomeKind::kUnclear) << told(lost);
  ASSERT_EQ(cloud->running().size(), 1u);
  const auto found = find("uid-0");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].provider_id.str(), cloud->running().front());
  EXPECT_EQ(found[0].attempt, 1u);
  const model::Outcome again = cloud->ask(cloud->order(1, "token-1"), 2);
  EXPECT_EQ(again.kind, OutcomeKind::kDone) << told(again);
  ASSERT_EQ(again.instances.size(), 1u);
  EXPECT_EQ(again.instances[0].provider_id, found[0].provider_id);
  EXPECT_EQ(cloud->running().size(), 1u);
}

TEST_P(CloudContract, ALaunchThatNeverArrivedIsNotFoundAndCanBeSentAgain) {
  cloud->lose_request();
  const model::Outcome lost = cloud->ask(cloud->order(1, "token-1"));
  EXPECT_EQ(lost.kind, OutcomeKind::kUnclear) << told(lost);
  EXPECT_TRUE(cloud->running().empty());
  EXPECT_TRUE(find("uid-0").empty());
  const model::Outcome again = cloud->ask(cloud->order(1, "token-1"), 2);
  EXPECT_EQ(again.kind, OutcomeKind::kDone) << told(again);
  EXPECT_EQ(cloud->running().size(), 1u);
}

TEST_P(CloudContract, AnotherOrderUnderTheSameTokenMakesNoSecondMachine) {
  launched();
  model::Launch other = cloud->order(1, "token-1");
  other.offers.erase(other.offers.begin());
  other.request += " ";
  (void)cloud->ask(other, 2);
  EXPECT_EQ(cloud->running().size(), 1u);
}

TEST_P(CloudContract, ARemovalCanBeAskedForTwice) {
  const model::Instance made = launched();
  const model::Terminate end{made.provider_id, made.claim};
  for (const std::uint32_t attempt : {1u, 2u}) {
    const model::Outcome ended = cloud->ask(end, attempt);
    EXPECT_EQ(ended.kind, OutcomeKind::kDone) << told(ended);
    for (const model::Instance& one : ended.instances) EXPECT_FALSE(alive(one));
  }
  EXPECT_TRUE(cloud->running().empty());
  const model::Outcome found =
      cloud->ask(model::FindInstances{model::ClaimUid("uid-0"), made.provider_id});
  EXPECT_EQ(found.kind, OutcomeKind::kDone) << told(found);
  for (const model::Instance& one : found.instances) EXPECT_FALSE(alive(one));
}

TEST_P(CloudContract, AnUnclearRemovalIsAskedForAgain) {
  const model::Instance made = launched();
  const model::Terminate end{made.provider_id, made.claim};
  cloud->lose_request();
  model::Outcome lost = cloud->ask(end);
  EXPECT_EQ(lost.kind, OutcomeKind::kUnclear) << told(lost);
  EXPECT_EQ(cloud->running().size(), 1u);
  cloud->lose_answer();
  lost = cloud->ask(end, 2);
  EXPECT_EQ(lost.kind, OutcomeKind::kUnclear) << told(lost);
  EXPECT_TRUE(cloud->running().empty());
  const model::Outcome ended = cloud->ask(end, 3);
  EXPECT_EQ(ended.kind, OutcomeKind::kDone) << told(ended);
}

TEST_P(CloudContract, WhatNeverWasIsNotFoundAndIsRemoved) {
  EXPECT_TRUE(find("uid-9").empty());
  const model::Outcome found =
      cloud->ask(model::FindInstances{model::ClaimUid("uid-9"), cloud->unknown_machine()});
  EXPECT_EQ(found.kind, OutcomeKind::kDone) << told(found);
  EXPECT_TRUE(found.instances.empty());
  const model::Outcome ended =
      cloud->ask(model::Terminate{cloud->unknown_machine(), model::ClaimUid("uid-9")});
  EXPECT_EQ(ended.kind, OutcomeKind::kDone) << told(ended);
}

TEST_P(CloudContract, AMachineOfAnotherClaimIsLeftAlone) {
  const model::Instance made = launched();
  const model::Outcome refused =
      cloud->ask(model::Terminate{made.provider_id, model::ClaimUid("uid-9"),
                                  model::ClaimName("pool-9"), model::PoolName("pool")});
  EXPECT_EQ(refused.kind, OutcomeKind::kRefused) << told(refused);
  EXPECT_EQ(refused.code, model::RefusalCode::kConflict) << told(refused);
  EXPECT_EQ(cloud->running().size(), 1u);
}

TEST_P(CloudContract, AFailedPartOfAnOrderCostsTheOthersNothing) {
  cloud->fail_a_part();
  const model::Outcome made = cloud->ask(cloud->order(3, "token-1"));
  EXPECT_EQ(made.kind, OutcomeKind::kDone) << told(made);
  ASSERT_FALSE(made.instances.empty());
  ASSERT_LT(made.instances.size(), 3u) << "a part has failed";
  std::set<std::string> claims, machines;
  for (const model::Instance& one : made.instances) {
    claims.insert(one.claim.str());
    machines.insert(one.provider_id.str());
  }
  EXPECT_EQ(claims.size(), made.instances.size()) << "no claim has two";
  EXPECT_EQ(machines, [this] {
    const auto all = cloud->running();
    return std::set<std::string>(all.begin(), all.end());
  }()) << "all that runs is told, and nothing else";
  for (const char* claim : {"uid-0", "uid-1", "uid-2"})
    EXPECT_EQ(find(claim).size(), claims.count(claim)) << claim;
}

TEST_P(CloudContract, ALackOfRoomIsToldOfItsOffer) {
  if (!cloud->runs_out()) {
    const model::Outcome made = cloud->ask(cloud->order(1, "token-1"));
    EXPECT_TRUE(made.exhausted.empty());
    return took("this cloud never runs out");
  }
  cloud->sell_out();
  const model::Outcome made = cloud->ask(cloud->order(1, "token-1"));
  const std::vector<model::Offer> want = {cloud->sold_out_offer()};
  EXPECT_EQ(made.exhausted, want) << told(made);
  if (made.kind == OutcomeKind::kDone) {
    ASSERT_EQ(made.instances.size(), 1u);
    EXPECT_NE(made.instances[0].offer, want[0]);
    return took("the cloud took the order's next offer");
  }
  EXPECT_EQ(made.kind, OutcomeKind::kRefused) << told(made);
  EXPECT_EQ(made.code, model::RefusalCode::kCapacity) << told(made);
  EXPECT_TRUE(cloud->running().empty()) << "what failed leaves nothing behind";
  took("the order is refused, the next one has another offer");
}

INSTANTIATE_TEST_SUITE_P(Clouds, CloudContract,
                         ::testing::Values(Kind{"simulated", simulated_cloud},
                                           Kind{"kwok", kwok_cloud}, Kind{"ec2", ec2_cloud},
                                           Kind{"jobs", cloud_of_jobs}),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace karst::cloud
