// What a node is given when it is registered.
#include "tests/engine/stage.h"

namespace karst::engine {
namespace {

using namespace testing;
using model::TaintEffect;

const model::Taint kUnregistered{std::string(model::kUnregisteredTaintKey), "",
                                 TaintEffect::kNoExecute};
const model::Taint kKept{"team", "web", TaintEffect::kPreferNoSchedule};
const model::Taint kStartup{"cni-not-ready", "", TaintEffect::kNoExecute};

// The machine of a claim whose pool has labels, annotations and taints joins as "node-1" with these
// labels; the registration that is asked for.
model::SyncNode registration_of(Story& story, const model::Labels& labels) {
  model::NodePool pool = pool_of("default");
  pool.template_labels = {{"team", "web"}};
  pool.template_annotations = {{"note", "kept"}};
  pool.taints = {kKept};
  pool.startup_taints = {kStartup};
  set_the_stage(story, pool);
  const ports::IssuedCommand launched = launch_for_one_pod(story);
  const auto& launch = std::get<model::Launch>(launched.spec);
  const model::Instance instance = instance_for(launch, 0, launched.id);
  story.answer(launched, model::OutcomeKind::kDone, {instance});
  model::Node node = node_up(instance);
  node.labels = labels;
  node.taints = {kUnregistered};
  story.fact(events::NodeObserved{node});
  story.step();
  const auto asked = story.take<model::SyncNode>();
  EXPECT_EQ(asked.size(), 1u);
  return asked.empty() ? model::SyncNode() : std::get<model::SyncNode>(asked[0].spec);
}

TEST(Registration, GivesANodeWhatItsClaimSays) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  const model::SyncNode sync = registration_of(story, {});
  const auto& row = story.state().claims().slots().begin()->second.row;
  EXPECT_EQ(sync.node.str(), "node-1");
  EXPECT_EQ(sync.uid.str(), "node-uid-1");
  EXPECT_EQ(model::label_value(sync.labels, model::kRegisteredLabel), "true");
  EXPECT_EQ(model::label_value(sync.labels, model::kNodePoolLabel), "default");
  EXPECT_EQ(model::label_value(sync.labels, "team"), "web");
  EXPECT_EQ(model::label_value(sync.labels, model::kZoneLabel), row.instance.offer.zone)
      << "the machine's own";
  EXPECT_FALSE(model::has_label(sync.labels, model::kInitializedLabel)) << "that comes later";
  EXPECT_EQ(model::label_value(sync.annotations, "note"), "kept");
  EXPECT_EQ(sync.add_taints, (std::vector<model::Taint>{kKept, kStartup}));
  EXPECT_EQ(sync.remove_taints, std::vector<model::Taint>{kUnregistered});
  EXPECT_TRUE(sync.add_finalizer);
  EXPECT_EQ(sync.owner, row.claim.name);
  EXPECT_EQ(sync.owner_uid, row.claim.uid);
  EXPECT_FALSE(sync.owner_uid.empty());
  EXPECT_FALSE(verified(log).difference);
}

TEST(Registration, LeavesTheTaintsOfANodeThatSaysSo) {
  for (const char* value : {"true", "false"}) {
    events::MemoryLog log(model::LogId("log"));
    Story story(log);
    const model::SyncNode sync =
        registration_of(story, {{"karpenter.sh/do-not-sync-taints", value}});
    EXPECT_EQ(sync.add_taints.size(), std::string(value) == "true" ? 0u : 2u) << value;
    EXPECT_EQ(sync.remove_taints, std::vector<model::Taint>{kUnregistered}) << value;
    EXPECT_EQ(model::label_value(sync.labels, "team"), "web") << "labels come all the same";
  }
}

}  // namespace
}  // namespace karst::engine
