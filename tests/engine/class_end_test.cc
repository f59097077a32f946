// How a node class ends: its finalizer keeps it until its claims are gone, and what was made for it
// in the account after them.
#include "tests/engine/kwok_machines.h"
#include "tests/engine/stage.h"

namespace karst::engine {
namespace {

using namespace testing;

// kwok's machines, of an account in which something is made for each class.
class Making final : public KwokMachines {
 public:
  bool depends_on_class() const override { return true; }
  std::string encode_release(const model::NodeClass& node_class) const override {
    return "release " + node_class.uid;
  }
};

model::NodeClass class_at(bool finalizer, bool deleted) {
  model::NodeClass node_class;
  node_class.ref = {"karpenter.kwok.sh", "KWOKNodeClass", "default"};
  node_class.uid = "c1";
  node_class.generation = 1;
  node_class.spec_json = "{}";
  node_class.has_finalizer = finalizer;
  node_class.deletion_millis = deleted ? 1 : 0;
  return node_class;
}

struct ClassEnd : ::testing::Test {
  events::MemoryLog log{model::LogId("log")};
  Making provider;
};

TEST_F(ClassEnd, ALivingClassIsKeptByTheFinalizer) {
  Story story(log, {}, &provider);
  set_the_stage(story);
  const auto asked = story.take<model::SyncNodeClass>();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_TRUE(std::get<model::SyncNodeClass>(asked[0].spec).add_finalizer);
  story.answer(asked[0], model::OutcomeKind::kDone);
  story.fact(events::NodeClassObserved{class_at(true, false)});
  story.step();
  story.step(120'000);
  EXPECT_TRUE(story.take<model::SyncNodeClass>().empty());
  EXPECT_TRUE(story.take<model::ReleaseNodeClass>().empty());
}

TEST_F(ClassEnd, WhatWasMadeGoesWhenTheLastClaimIsGoneAndTheFinalizerAfterIt) {
  Story story(log, {}, &provider);
  set_the_stage(story);
  story.fact(events::NodeClassObserved{class_at(true, false)});
  model::NodeClaim claim;
  claim.name = model::ClaimName("claim");
  claim.uid = model::ClaimUid("claim-uid");
  claim.node_class = class_at(true, false).ref;
  story.fact(events::NodeClaimObserved{claim});
  story.step();
  for (const auto& kept : story.take<model::SyncNodeClass>())
    story.answer(kept, model::OutcomeKind::kDone);
  story.fact(events::NodeClassObserved{class_at(true, true)});
  story.step();
  EXPECT_TRUE(story.take<model::ReleaseNodeClass>().empty()) << "a machine may still need it";
  const auto* told = story.state().verdicts().find(
      std::pair(std::string("nodeclass/default"), std::string("node_classes")));
  ASSERT_NE(told, nullptr);
  EXPECT_EQ(told->verdict.code, "waiting_on_claims");
  EXPECT_EQ(told->verdict.args, std::vector<std::string>{"claim"});

  story.fact(events::NodeClaimGone{claim.uid, claim.name});
  story.step();
  const auto released = story.take<model::ReleaseNodeClass>();
  ASSERT_EQ(released.size(), 1u);
  EXPECT_EQ(std::get<model::ReleaseNodeClass>(released[0].spec).request, "release c1");
  EXPECT_TRUE(story.take<model::SyncNodeClass>().empty()) << "nothing is known to be gone yet";

  // Refused: asked again, and the finalizer stays.
  story.answer(released[0], model::OutcomeKind::kRefused, {}, model::RefusalCode::kRetry);
  story.step();
  story.step(60'000);
  const auto again = story.take<model::ReleaseNodeClass>();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_TRUE(story.take<model::SyncNodeClass>().empty());
  story.answer(again[0], model::OutcomeKind::kDone);
  story.step();
  const auto freed = story.take<model::SyncNodeClass>();
  ASSERT_EQ(freed.size(), 1u);
  EXPECT_TRUE(std::get<model::SyncNodeClass>(freed[0].spec).remove_finalizer);
  story.answer(freed[0], model::OutcomeKind::kDone);
  story.fact(events::NodeClassGone{class_at(true, true).ref});
  story.step(120'000);
  EXPECT_TRUE(story.take<model::ReleaseNodeClass>().empty());
}

TEST_F(ClassEnd, AnotherClassOfTheNameStartsAnew) {
  Story story(log, {}, &provider);
  set_the_stage(story);
  story.fact(events::NodeClassObserved{class_at(true, true)});
  story.step();
  const auto released = story.take<model::ReleaseNodeClass>();
  ASSERT_EQ(released.size(), 1u);
  model::NodeClass other = class_at(true, true);
  other.uid = "c2";
  story.fact(events::NodeClassObserved{other});
  story.answer(released[0], model::OutcomeKind::kDone);
  story.take<model::SyncNodeClass>();
  story.step();
  story.step(60'000);
  EXPECT_TRUE(story.take<model::SyncNodeClass>().empty()) << "c2's things are not gone";
  EXPECT_EQ(story.take<model::ReleaseNodeClass>().size(), 1u);
}

TEST_F(ClassEnd, AShadowLeavesFinalizersAlone) {
  events::Config config;
  config.shadow = true;
  Story story(log, config, &provider);
  set_the_stage(story);
  story.fact(events::NodeClassObserved{class_at(true, true)});
  story.step();
  EXPECT_TRUE(story.take<model::SyncNodeClass>().empty());
  EXPECT_TRUE(story.take<model::ReleaseNodeClass>().empty());
}

}  // namespace
}  // namespace karst::engine
