// Creates whose answers are lost on the way, as when a connection is cut after the request.
#include "tests/engine/stage.h"

namespace karst::engine {
namespace {

using namespace testing;

constexpr std::int64_t kAnswerMillisMax = 120'000;  // then the create counts as unclear

model::NodeClaim made_of(const ports::IssuedCommand& create) {
  model::NodeClaim claim = std::get<model::CreateNodeClaim>(create.spec).claim;
  claim.uid = model::ClaimUid("uid-" + claim.name.str());
  return claim;
}

// One pod's claim has been asked for, and nobody answers.
struct UnansweredCreates : ::testing::Test {
  UnansweredCreates() {
    set_the_stage(story);
    add_pods(story, 1);
    story.step(1'100);
    first = story.take<model::CreateNodeClaim>();
  }
  void SetUp() override { ASSERT_EQ(first.size(), 1u); }

  events::MemoryLog log{model::LogId("log")};
  Story story{log};
  std::vector<ports::IssuedCommand> first;
};

TEST_F(UnansweredCreates, OneWhoseClaimIsSeenIsNoRefusal) {
  model::NodeClaim claim = made_of(first[0]);
  claim.provider_id = model::ProviderId("kwok://" + claim.name.str());
  story.fact(events::NodeClaimObserved{claim});
  story.step(kAnswerMillisMax - 1'100);
  story.fact(events::ShapeRecorded{model::hash_of(shape_of(150'000)), shape_of(150'000)});
  story.fact(events::PodObserved{pending_pod("pod-1", shape_of(150'000))});
  story.step();
  EXPECT_TRUE(story.take<model::CreateNodeClaim>().empty());
  story.step(1'100);
  EXPECT_TRUE(story.state().commands().find(first[0].id.position) == nullptr) << "given up";
  EXPECT_EQ(story.take<model::CreateNodeClaim>().size(), 1u) << "its pool was not refused";
  EXPECT_FALSE(verified(log).difference);
}

TEST_F(UnansweredCreates, OneWhoseClaimIsNeverSeenIsSentAgainByItsName) {
  story.step(kAnswerMillisMax + 1'100);
  const auto again = story.take<model::CreateNodeClaim>();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].id, first[0].id);
  EXPECT_EQ(again[0].attempt, 2u);
  EXPECT_EQ(made_of(again[0]).name, made_of(first[0]).name);
}

}  // namespace
}  // namespace karst::engine
