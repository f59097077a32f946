// Which command an observation is caused by, and the root of its chain.
#include "tests/engine/stage.h"

namespace karst::engine {
namespace {

using namespace testing;

// Cause and root of the last event of that type.
std::pair<model::Position, model::Position> causes_of_last(const events::EventLog& log,
                                                           events::EventType type) {
  std::pair<model::Position, model::Position> causes;
  auto cursor = log.read(model::Position(1));
  while (auto event = (*cursor)->next()) {
    if (!*event) break;
    if ((*event)->envelope.type == type)
      causes = {(*event)->envelope.causation, (*event)->envelope.correlation};
  }
  return causes;
}

TEST(Causes, AnObservationNamesTheCommandWhoseEffectItShowsAndNoOther) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  bring_up_an_empty_node(story);
  story.step();
  const auto node_causes = [&] {
    return causes_of_last(log, events::EventType::kNodeObserved).first;
  };
  const auto launched = causes_of_last(log, events::EventType::kLaunchRequested);
  EXPECT_NE(node_causes(), model::Position()) << "a new node comes from its launch";
  EXPECT_EQ(causes_of_last(log, events::EventType::kNodeObserved).second, launched.second);
  const auto taints = story.take<model::TaintNode>();
  ASSERT_EQ(taints.size(), 1u);
  story.answer(taints[0], model::OutcomeKind::kDone);
  model::Node node = story.state().nodes().find(model::NodeName("node-1"))->node;
  node.ready = false;  // the kubelet's own doing, before the taint is seen
  story.fact(events::NodeObserved{node});
  story.step();
  EXPECT_EQ(node_causes(), model::Position());
  node.taints.push_back(std::get<model::TaintNode>(taints[0].spec).taint);
  story.fact(events::NodeObserved{node});
  story.step();
  EXPECT_EQ(node_causes(), taints[0].id.position);
  node.ready = true;
  story.fact(events::NodeObserved{node});
  story.step();
  EXPECT_EQ(node_causes(), model::Position()) << "an echo is heard once";
}

TEST(Causes, ADeletionThatIsSeenNamesItsCommandAndItsNotice) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  bring_up_an_empty_node(story);
  story.step();
  const auto taints = story.take<model::TaintNode>();
  ASSERT_EQ(taints.size(), 1u);
  const model::ProviderId machine =
      story.state().nodes().find(model::NodeName("node-1"))->node.provider_id;
  model::Interruption notice;
  notice.message = model::MessageId("m-1");
  notice.kind = model::InterruptionKind::kSpotInterruption;
  notice.provider_id = machine;
  story.fact(events::InterruptionReceived{notice});
  story.step();
  const auto deletes = story.take<model::DeleteObject>();
  ASSERT_EQ(deletes.size(), 1u);
  const auto& object = std::get<model::DeleteObject>(deletes[0].spec).object;
  model::NodeClaim claim = story.state().claims().find(model::ClaimName(object.name))->claim;
  claim.deletion_millis = story.now();
  story.fact(events::NodeClaimObserved{claim});
  story.step();
  const auto seen = causes_of_last(log, events::EventType::kNodeClaimObserved);
  EXPECT_EQ(seen.first, deletes[0].id.position);
  const auto notice_at = story.state().claims().find(claim.name)->interruption;
  EXPECT_EQ(seen.second, notice_at) << "the chain begins with the notice";
}

// EC2's messages name the machine without its zone, and may come before it is known whose it is.
TEST(Causes, ANoticeFindsItsClaimWithoutTheZone) {
  enum class Before { kNothing, kTheLaunchsAnswer, kTheClaimIsListed };
  for (const Before before :
       {Before::kNothing, Before::kTheLaunchsAnswer, Before::kTheClaimIsListed}) {
    SCOPED_TRACE(static_cast<int>(before));
    events::MemoryLog log(model::LogId("log"));
    Story story(log);
    set_the_stage(story);
    model::Interruption notice;
    notice.message = model::MessageId("m-1");
    notice.kind = model::InterruptionKind::kSpotInterruption;
    notice.provider_id = model::ProviderId("aws:////i-0123456789abcdef0");
    const model::ProviderId machine_id("aws:///us-east-1a/i-0123456789abcdef0");
    std::string name = "default-a";
    if (before == Before::kTheClaimIsListed) {
      story.fact(events::InterruptionReceived{notice});
      story.step();
      model::NodeClaim claim;  // of an earlier log, or of Karpenter
      claim.name = model::ClaimName(name);
      claim.uid = model::ClaimUid("uid-a");
      claim.pool = model::PoolName("default");
      claim.node_class = {"karpenter.kwok.sh", "KWOKNodeClass", "default"};
      claim.provider_id = machine_id;
      claim.has_finalizer = true;
      story.fact(events::NodeClaimObserved{claim});
    } else {
      const ports::IssuedCommand launched = launch_for_one_pod(story);
      const auto& launch = std::get<model::Launch>(launched.spec);
      name = launch.items[0].name.str();
      model::Instance machine = instance_for(launch, 0, launched.id);
      machine.provider_id = machine_id;
      if (before == Before::kTheLaunchsAnswer) story.fact(events::InterruptionReceived{notice});
      story.answer(launched, model::OutcomeKind::kDone, {machine});
      if (before == Before::kNothing) story.fact(events::InterruptionReceived{notice});
    }
    story.step();
    const auto deletes = story.take<model::DeleteObject>();
    ASSERT_EQ(deletes.size(), 1u);
    EXPECT_EQ(std::get<model::DeleteObject>(deletes[0].spec).object.name, name);
    EXPECT_FALSE(verified(log).difference.has_value());
  }
}

}  // namespace
}  // namespace karst::engine
