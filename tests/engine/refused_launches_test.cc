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

}  // namespace
}  // namespace karst::engine
