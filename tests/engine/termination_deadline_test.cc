// The way down of a node: deadlines, what is written of them, volumes, and the node that somebody
// deletes (Karpenter 1.14).
#include "tests/engine/way_down.h"

namespace karst::engine {
namespace {

using namespace testing;

TEST(Termination, TheDeadlineDeletesWithWhatIsLeftOfTheTime) {
  WayDown down;
  PodOf held{"held", ""};
  held.hold = model::DoNotDisrupt::kForever;
  held.grace_seconds = 40;
  PodOf critical{"critical", "system-node-critical"};
  critical.grace_seconds = 100;
  down.add(held);
  down.add(critical);
  const std::int64_t deleted = down.story.now();
  down.leave(120 * kSecond);
  EXPECT_EQ(down.told_to_go(), Names{});
  down.story.step(deleted + 21 * kSecond - down.story.now());
  EXPECT_EQ(down.told_to_go(), Names{"!critical 99"})
      << "from 100 s before the deadline, out of its turn";
  down.story.step(deleted + 79 * kSecond - down.story.now());
  down.story.take<model::EvictPod>();  // critical again, whose end was not seen
  down.story.step(deleted + 81 * kSecond - down.story.now());
  const Names late = down.told_to_go();
  EXPECT_TRUE(std::find(late.begin(), late.end(), "!held 39") != late.end()) << late.size();
}

TEST(Termination, ABlockedPodIsDeletedAtItsTimeAndNotAtTheEndOfItsBackOff) {
  WayDown down;
  PodOf app{"app", ""};
  app.grace_seconds = 10;
  down.add(app);
  const std::int64_t deleted = down.story.now();
  down.leave(60 * kSecond);
  ASSERT_EQ(down.told_to_go(), Names{"app"});
  while (!down.last.empty()) refuse_and_wait(down, deleted + 49 * kSecond);
  down.story.step(deleted + 50 * kSecond + 1 - down.story.now());
  EXPECT_EQ(down.told_to_go(), Names{"!app 9"});
}

TEST(Termination, ADeletionThatWouldTakeTooLongIsMadeShorter) {
  WayDown down;
  PodOf slow{"slow", ""};
  slow.grace_seconds = 600;
  const std::int64_t now = down.story.now();
  down.add(slow, now + 600 * kSecond);  // somebody has deleted it, with all of its grace
  PodOf quick{"quick", ""};
  down.add(quick, now + 30 * kSecond);
  down.leave(60 * kSecond);
  EXPECT_EQ(down.told_to_go(), Names{"!slow 59"});
  WayDown unhurried;
  unhurried.add(slow, unhurried.story.now() + 600 * kSecond);
  unhurried.leave();
  EXPECT_EQ(unhurried.told_to_go(), Names{}) << "without a deadline it is on its way";
}

TEST(Termination, WhatIsDeletedForTheDeadlineIsDeletedOnce) {
  WayDown down;
  PodOf held{"held", ""};
  held.hold = model::DoNotDisrupt::kForever;
  held.grace_seconds = 10;
  down.add(held);
  const std::int64_t deleted = down.story.now();
  down.leave(5 * kSecond);
  const Names first = down.told_to_go();
  ASSERT_EQ(first.size(), 1u) << "its own time is longer than there is";
  down.story.answer(down.last[0], model::OutcomeKind::kDone);
  down.add(held, down.story.now() + 6 * kSecond);  // past the deadline by what the server rounds
  down.story.step();
  Round round = down.story.step(deleted + 12 * kSecond - down.story.now());
  EXPECT_EQ(down.told_to_go(), Names{}) << "no deletion would be earlier than the one it has";
  ASSERT_TRUE(round.wake_at) << "when it counts as stuck";
  EXPECT_LE(round.wake_at->value(), deleted + 70 * kSecond);
  down.story.step(60 * kSecond);
  EXPECT_EQ(down.story.take<model::ReadBackNode>().size(), 1u);
}

TEST(Termination, AnAnnotationSetsTheDeadlineToo) {
  WayDown down;
  PodOf held{"held", ""};
  held.hold = model::DoNotDisrupt::kForever;
  held.grace_seconds = 0;
  down.add(held);
  model::NodeClaim claim = down.claim();
  model::set_label(claim.annotations, model::kTerminationTimestampAnnotation,
                   base::format_rfc3339(down.story.now() + 20 * kSecond));
  down.story.fact(events::NodeClaimObserved{claim});
  down.story.step();
  down.leave();
  EXPECT_EQ(down.told_to_go(), Names{});
  down.story.step(20 * kSecond);
  EXPECT_EQ(down.told_to_go(), Names{"!held 1"}) << "never with 0 s, which is no wait at all";
}

TEST(Termination, AMachineThatIsTakenAwayBypassesNoBudget) {
  WayDown down;
  PodOf held{"held", ""};
  held.hold = model::DoNotDisrupt::kForever;
  held.grace_seconds = 600;
  down.add(held);
  down.story.fact(events::InterruptionReceived{
      {model::MessageId("m"), model::InterruptionKind::kSpotInterruption, down.claim().provider_id,
       down.story.now() + 120 * kSecond}});
  down.leave();
  EXPECT_EQ(down.told_to_go(), Names{});
}

// A machine that was only stopped, or that AWS Health gave back: nobody else would end it.
TEST(Termination, AMachineThatOutlivesItsEndIsTerminated) {
  for (const model::InstanceState seen :
       {model::InstanceState::kRunning, model::InstanceState::kShuttingDown}) {
    WayDown down;
    const std::int64_t end = down.story.now() + 10 * kSecond;
    down.story.fact(events::InterruptionReceived{{model::MessageId("m"),
                                                  model::InterruptionKind::kSpotInterruption,
                                                  down.claim().provider_id, end}});
    down.add({"app", ""});
    down.leave();
    down.gone("app");
    down.story.step(end - down.story.now());
    down.story.take<model::ReadBackNode>();
    bool was_terminated = false;
    while (down.story.now() < end + 120 * kSecond) {
      model::Instance instance = down.story.state().claims().slots().begin()->second.row.instance;
      instance.state = seen;
      for (const auto& command : down.story.take<model::FindInstances>())
        down.story.answer(command, model::OutcomeKind::kDone, {instance});
      down.answer_read_back();
      was_terminated |= !down.story.take<model::Terminate>().empty();
      if (down.story.now() < end + 30 * kSecond) {
        EXPECT_FALSE(was_terminated);
      }
      down.story.step(kSecond);
    }
    EXPECT_EQ(was_terminated, seen == model::InstanceState::kRunning);
  }
}

TEST(Termination, TheDeadlineIsWrittenToTheClaim) {
  WayDown down;
  down.add({"app", ""});
  const std::int64_t deleted = down.story.now();
  down.leave(90 * kSecond);
  down.story.step(6 * kSecond);  // the echo of what was written before
  std::string written;
  for (const auto& command : down.story.take<model::MirrorClaim>()) {
    const auto& mirror = std::get<model::MirrorClaim>(command.spec);
    written = model::label_value(mirror.annotations, model::kTerminationTimestampAnnotation);
    if (!written.empty()) break;
  }
  EXPECT_EQ(base::parse_rfc3339(written), deleted + 90 * kSecond - (deleted % kSecond)) << written;
}

TEST(Termination, LoadBalancersAreToldWhenTheDrainBegins) {
  WayDown down;
  down.add({"app", ""});
  down.leave();
  bool labelled = false;
  for (const auto& command : down.story.take<model::SyncNode>())
    labelled |= model::label_value(std::get<model::SyncNode>(command.spec).labels,
                                   "node.kubernetes.io/exclude-from-external-load-balancers") ==
                "karpenter";
  EXPECT_TRUE(labelled);
}

void attach(WayDown& down, const std::string& name, const std::string& volume,
            const std::string& node = kNode) {
  down.story.fact(events::ObjectObserved{model::VolumeAttachment{name, node, volume}});
}

TEST(Termination, TheInstanceWaitsForItsVolumes) {
  WayDown down;
  PodOf staying{"staying", ""};
  staying.tolerates_disrupted = true;
  staying.volume_claims = {"data"};
  down.add(staying);
  model::VolumeClaim data;
  data.namespace_name = "default";
  data.name = "data";
  data.volume = "pv-staying";
  down.story.fact(events::ObjectObserved{data});
  attach(down, "a", "pv-1");
  attach(down, "inline", "");
  attach(down, "of-staying", "pv-staying");
  attach(down, "elsewhere", "pv-2", "node-2");
  down.leave();
  down.answer_read_back();
  EXPECT_FALSE(down.looks_for_the_instance());
  const auto* verdict = down.story.state().verdicts().find(
      std::pair<std::string, std::string>("node/node-1", "termination"));
  ASSERT_NE(verdict, nullptr);
  EXPECT_EQ(verdict->verdict.code, "volumes_attached");
  EXPECT_EQ(verdict->verdict.args, Names{"a"});
  down.story.fact(events::ObjectGone{{"VolumeAttachment", "", "a"}});
  down.story.step();
  down.answer_read_back();
  EXPECT_TRUE(down.looks_for_the_instance());
}

TEST(Termination, PastTheDeadlineVolumesHoldNothing) {
  WayDown down;
  attach(down, "a", "pv-1");
  down.leave(60 * kSecond);
  down.answer_read_back();
  EXPECT_FALSE(down.looks_for_the_instance());
  (void)down.story.take<model::MirrorClaim>();
  down.story.step(61 * kSecond);
  down.answer_read_back();
  EXPECT_TRUE(down.looks_for_the_instance());
}

TEST(Termination, ADeletedNodeTakesItsClaimAlong) {
  WayDown down;
  model::Node deleted = down.node();
  deleted.deletion_millis = down.story.now();
  down.story.fact(events::NodeObserved{deleted});
  down.story.step();
  const auto deletes = down.story.take<model::DeleteObject>();
  ASSERT_EQ(deletes.size(), 1u);
  const auto& object = std::get<model::DeleteObject>(deletes[0].spec).object;
  EXPECT_EQ(object.kind, model::ObjectKind::kNodeClaim);
  EXPECT_EQ(object.name, down.claim().name.str());
}

}  // namespace
}  // namespace karst::engine
