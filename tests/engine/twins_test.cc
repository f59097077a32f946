// Pods that kube-scheduler has not come to, beside equal ones for which it has no place.
#include "tests/engine/stage.h"

namespace karst::engine {
namespace {

using namespace testing;

class Twins : public ::testing::Test {
 protected:
  Twins() : log_(model::LogId("log")), story_(log_) { set_the_stage(story_); }

  void see(int from, int to, bool unschedulable, const model::PodShape& shape = shape_of(500)) {
    story_.fact(events::ShapeRecorded{model::hash_of(shape), shape});
    for (int i = from; i < to; ++i) {
      model::Pod pod = pending_pod("pod-" + std::to_string(i), shape);
      pod.unschedulable = unschedulable;
      story_.fact(events::PodObserved{std::move(pod)});
    }
    story_.step();
  }
  std::size_t expected() const {
    std::size_t count = 0;
    for (const std::string& uid : story_.state().pods().all_uids())
      count += story_.state().pods().row_of(uid).expected_claim.empty() ? 0 : 1;
    return count;
  }

  events::MemoryLog log_;
  Story story_;
};

TEST_F(Twins, AreBoughtForWithTheFirstOfThem) {
  see(0, 1, true);
  see(1, 40, false);
  story_.step(1100);
  EXPECT_EQ(expected(), 40U);
  const std::size_t claims = story_.take<model::CreateNodeClaim>().size();
  EXPECT_GT(claims, 0U);
  // kube-scheduler comes to the others.
  see(1, 40, true);
  story_.step(1100);
  story_.step(11'000);
  EXPECT_EQ(expected(), 40U);
  EXPECT_TRUE(story_.take<model::CreateNodeClaim>().empty());
  EXPECT_FALSE(verified(log_).difference);
}

TEST_F(Twins, CountOnlyOnceKubeSchedulerHasNoPlaceForOne) {
  see(0, 40, false);
  story_.step(11'000);
  EXPECT_EQ(expected(), 0U);
  EXPECT_TRUE(story_.take<model::CreateNodeClaim>().empty());
}

// Who differs may have a place, who is bound has one, and another scheduler may hold pods back.
TEST_F(Twins, AreEqualAndKubeSchedulersOwn) {
  see(0, 1, true);
  see(1, 10, false, shape_of(600));
  model::PodShape other = shape_of(700);
  other.other_scheduler = true;
  see(10, 11, true, other);
  see(11, 20, false, other);
  model::PodShape gated = shape_of(500);
  gated.gated = true;
  see(20, 30, false, gated);
  model::Pod bound = pending_pod("pod-30", shape_of(500));
  bound.unschedulable = false;
  bound.node = model::NodeName("somewhere");
  story_.fact(events::PodObserved{bound});
  story_.step();
  story_.step(1100);
  EXPECT_EQ(expected(), 2U);
  for (const char* uid : {"pod-0", "pod-10"})
    EXPECT_FALSE(story_.state().pods().row_of(uid).expected_claim.empty()) << uid;
}

// The window waits for pods that come, not for kube-scheduler to come to them.
TEST_F(Twins, KeepTheWindowOpenWhenTheyComeAndNotWhenTheyAreTried) {
  see(0, 20, false);
  see(0, 1, true);
  for (int i = 1; i <= 3; ++i) {
    story_.step(600);
    see(20 + i, 21 + i, false);
    EXPECT_EQ(expected(), 0U) << "one comes each 0.6 s";
  }
  story_.step(500);
  see(1, 10, true);
  EXPECT_EQ(expected(), 0U);
  story_.step(550);
  EXPECT_EQ(expected(), 23U) << "1 s after the last one came";
}

TEST_F(Twins, DoNotKeepTheWindowOpenForEver) {
  see(0, 1, true);
  int count = 1;
  for (; expected() == 0 && count < 40; ++count) {
    story_.step(500);
    see(count, count + 1, false);
  }
  EXPECT_GE(count, 18);
  EXPECT_LE(count, 22) << "10 s are the most";
}

// What a pass left without a place is looked at again when it is time, with its twins: not for each
// of them that kube-scheduler comes to.
TEST_F(Twins, ThatHaveNoPlaceAskForNoPassOfTheirOwn) {
  const model::PodShape huge = shape_of(10'000'000);
  see(0, 1, true, huge);
  see(1, 20, false, huge);
  story_.step(1100);
  const base::LogTime held = story_.state().held_at();
  EXPECT_GT(held.value(), 0);
  see(1, 10, true, huge);
  story_.step(1100);
  EXPECT_EQ(story_.state().held_at(), held);
  see(20, 21, false, huge);
  story_.step(1100);
  EXPECT_GT(story_.state().held_at(), held) << "one that is new does";
}

// Kueue takes gates off one by one: what counts is when nothing but a place was missing.
TEST_F(Twins, WithGatesComeWhenTheirGatesAreGone) {
  model::PodShape gated = shape_of(500);
  gated.gated = true;
  see(0, 40, false, gated);
  story_.step(60'000);
  for (int i = 0; i < 3; ++i) {
    see(i * 10, i * 10 + 10, true);
    EXPECT_EQ(expected(), 0U) << "ten come each 0.6 s";
    story_.step(500);
  }
  story_.step(1100);
  EXPECT_EQ(expected(), 30U);
  EXPECT_FALSE(verified(log_).difference);
}

// A machine that is taken away asks at once, for all who are known to ask then.
TEST_F(Twins, AreBoughtForWithAPodThatMustLeave) {
  bring_up_an_empty_node(story_);
  model::Pod leaving = pending_pod("leaving", shape_of(700));
  leaving.unschedulable = false;
  leaving.node = model::NodeName("node-1");
  story_.fact(events::ShapeRecorded{leaving.shape, shape_of(700)});
  story_.fact(events::PodObserved{leaving});
  story_.step();
  const model::PodShape large = shape_of(60'000);
  see(0, 1, true, large);
  see(1, 20, false, large);
  model::Interruption taken;
  taken.message = model::MessageId("m1");
  taken.kind = model::InterruptionKind::kSpotInterruption;
  taken.provider_id = story_.state().claims().slots().begin()->second.row.instance.provider_id;
  story_.fact(events::InterruptionReceived{taken});
  story_.step();
  EXPECT_EQ(expected(), 21U) << "all of them, in that round";
}

}  // namespace
}  // namespace karst::engine
