// Launches that the cloud refuses for a reason that will not pass by itself: a right that is
// missing, an order that it cannot take.
#include "tests/engine/stage.h"

namespace karst::engine {
namespace {

using namespace testing;
using model::RefusalCode;

struct Tally {
  std::size_t orders = 0;
  std::size_t claims = 0;
  std::vector<std::string> removed;  // why
};

// Every launch is refused at once, in steps of a tenth of a second.
Tally refuse_all(Story& story, RefusalCode code, std::int64_t millis) {
  Tally tally;
  for (std::int64_t passed = 0; passed < millis; passed += 100) {
    story.step();
    for (const auto& launch : story.take<model::Launch>()) {
      ++tally.orders;
      story.answer(launch, model::OutcomeKind::kRefused, {}, code);
    }
    tally.claims += story.take<model::CreateNodeClaim>().size();
    for (const auto& removal : story.take<model::DeleteObject>()) {
      const auto& object = std::get<model::DeleteObject>(removal.spec).object;
      const auto* claim = story.state().claims().find(model::ClaimName(object.name));
      tally.removed.push_back(claim == nullptr ? "?" : claim->delete_reason);
    }
  }
  return tally;
}

// Two claims that no order takes together, and one order of two.
struct Refused : ::testing::TestWithParam<RefusalCode> {
  Refused() {
    set_the_stage(story);
    story.fact(events::ShapeRecorded{model::hash_of(shape_of(150'000)), shape_of(150'000)});
    for (const char* pod : {"pod-a", "pod-b"})
      story.fact(events::PodObserved{pending_pod(pod, shape_of(150'000))});
    story.step();
    for (const auto& launch : create_claims(story)) {
      claims += std::get<model::Launch>(launch.spec).items.size();
      story.answer(launch, model::OutcomeKind::kRefused, {}, GetParam());
    }
  }
  std::size_t claims = 0;
  events::MemoryLog log{model::LogId("log")};
  Story story{log};
};

TEST_P(Refused, TheSameClaimsAreTriedAgainLessAndLessOften) {
  ASSERT_EQ(claims, 2u) << "one order of two";
  const Tally first = refuse_all(story, GetParam(), 60'000);
  EXPECT_EQ(first.claims, 0u) << "no claim is made in place of one that waits";
  EXPECT_TRUE(first.removed.empty());
  EXPECT_LE(first.orders, 12u) << "after 1, 2, 4, 8, 16, 32 s, for each of two claims at most";
  EXPECT_GE(first.orders, 4u);
  const Tally second = refuse_all(story, GetParam(), 250'000);
  EXPECT_LE(second.orders, 10u) << "each minute";
  EXPECT_EQ(second.removed, std::vector<std::string>(2, "launch_timeout"));
  EXPECT_EQ(verified(log).difference, std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Codes, Refused,
                         ::testing::Values(RefusalCode::kDenied, RefusalCode::kInvalid));

// An order whose answer was lost, and that is refused when it is sent again: its machine may be
// there. With whether the refusal is the answer to its token.
struct RefusedAgain : ::testing::TestWithParam<std::pair<RefusalCode, bool>> {
  RefusedAgain() {
    set_the_stage(story);
    first = launch_for_one_pod(story);
    story.answer(first, model::OutcomeKind::kUnclear);
    refuse_the_next();
  }
  void refuse_the_next() {
    story.step();
    story.step(3'000);
    const auto again = story.take<model::Launch>();
    ASSERT_EQ(again.size(), 1u);
    ASSERT_EQ(again[0].id, first.id);
    story.answer(again[0], model::OutcomeKind::kRefused, {}, GetParam().first);
    story.step();
  }
  bool in_doubt() const { return !GetParam().second; }
  const projections::ClaimRow& claim() const {
    return *story.state().claims().find(std::get<model::Launch>(first.spec).items[0].name);
  }
  events::MemoryLog log{model::LogId("log")};
  Story story{log};
  ports::IssuedCommand first;
};

TEST_P(RefusedAgain, NoOtherMachineIsBoughtInItsPlace) {
  ASSERT_EQ(claim().launch_refused, !in_doubt());
  for (int second = 0; second < 120; ++second) {
    story.step(1'000);
    for (const auto& launch : story.take<model::Launch>()) {
      ASSERT_TRUE(in_doubt());
      EXPECT_EQ(launch.id, first.id) << "the same order, by its token";
      story.answer(launch, model::OutcomeKind::kRefused, {}, GetParam().first);
    }
  }
  EXPECT_EQ(verified(log).difference, std::nullopt);
}

TEST_P(RefusedAgain, AMachineThatIsListedIsTheClaims) {
  if (!in_doubt()) return;
  const auto& order = std::get<model::Launch>(first.spec);
  story.list("Instance", {events::InstanceObserved{instance_for(order, 0, first.id)}});
  story.step();
  EXPECT_TRUE(claim().launched());
  story.step(3'000);
  EXPECT_EQ(story.state().commands().find(first.id.position), nullptr) << "its end is known";
  EXPECT_TRUE(story.take<model::Launch>().empty());
}

TEST_P(RefusedAgain, AClaimThatIsGivenUpIsSearchedForFirst) {
  if (!in_doubt()) return;
  model::NodeClaim leaving = claim().claim;
  leaving.deletion_millis = story.now();
  story.fact(events::NodeClaimObserved{leaving});
  story.step();
  EXPECT_EQ(story.take<model::FindInstances>().size(), 1u);
  EXPECT_TRUE(story.take<model::SetFinalizer>().empty());
}

INSTANTIATE_TEST_SUITE_P(Codes, RefusedAgain,
                         ::testing::Values(std::pair{RefusalCode::kInvalid, false},
                                           std::pair{RefusalCode::kDenied, false},
                                           std::pair{RefusalCode::kGone, false},
                                           std::pair{RefusalCode::kConflict, false},
                                           std::pair{RefusalCode::kCapacity, true}));

}  // namespace
}  // namespace karst::engine
