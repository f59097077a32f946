// Objects that the state keeps as they are: told once, listed in brackets, gone when a list no
// longer names them; a template's shape lives as long as somebody refers to it.
#include "tests/engine/stage.h"

namespace karst::engine {
namespace {

using namespace testing;

model::VolumeClaim volume_claim(const std::string& name, const std::string& volume) {
  model::VolumeClaim claim;
  claim.namespace_name = "shop";
  claim.name = name;
  claim.volume = volume;
  return claim;
}

std::size_t count_of(const Story& story, std::string_view kind) {
  std::size_t count = 0;
  for (const auto& [key, slot] : story.state().objects().slots()) count += key.kind == kind;
  return count;
}

TEST(NamedObjects, WhatIsKnownCostsNoLogAndWhatAListLeavesOutIsGone) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  const std::vector<events::Body> both = {events::ObjectObserved{volume_claim("a", "")},
                                          events::ObjectObserved{volume_claim("b", "v1")},
                                          events::ObjectObserved{model::Namespace{"shop", {}}}};
  for (const events::Body& body : both) story.fact(body);
  story.step();
  EXPECT_EQ(story.state().objects().size(), 3u);
  ASSERT_NE(story.state().object<model::VolumeClaim>("shop", "b"), nullptr);
  EXPECT_EQ(story.state().object<model::VolumeClaim>("shop", "b")->volume, "v1");
  EXPECT_EQ(story.state().object<model::VolumeClaim>("other", "b"), nullptr);
  const auto end = log.end();
  for (const events::Body& body : both) story.fact(body);
  story.step();
  EXPECT_EQ(log.end(), end) << "told again, nothing is new";
  story.list("PersistentVolumeClaim", {both[1]});
  story.step();
  EXPECT_EQ(story.state().object<model::VolumeClaim>("shop", "a"), nullptr);
  EXPECT_NE(story.state().object<model::VolumeClaim>("shop", "b"), nullptr);
  EXPECT_EQ(count_of(story, "Namespace"), 1u) << "a list says nothing of other kinds";
  EXPECT_TRUE(story.state().listed("PersistentVolumeClaim"));
  EXPECT_FALSE(story.state().listed("Namespace"));
  story.fact(events::ObjectGone{{"Namespace", "", "shop"}});
  story.fact(events::ObjectGone{{"Namespace", "", "never"}});
  story.step();
  EXPECT_EQ(count_of(story, "Namespace"), 0u);
  EXPECT_FALSE(verified(log).difference);
}

TEST(NamedObjects, ATemplatesShapeLivesWithItsUsers) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  const model::PodShape shape = shape_of(100), other = shape_of(200);
  const model::ShapeHash hash = model::hash_of(shape), other_hash = model::hash_of(other);
  story.fact(events::ObjectObserved{model::PodTemplate{"shop", "early", hash, {}}});
  story.step();
  EXPECT_EQ(story.state().objects().size(), 0u) << "its shape is not known: refused";
  story.fact(events::ShapeRecorded{hash, shape});
  story.fact(events::ObjectObserved{model::PodTemplate{"shop", "room", hash, {}}});
  model::Workload workload{"Deployment", "shop", "web", "u1", "", "", 3, hash, {}};
  story.fact(events::ObjectObserved{workload});
  story.step();
  ASSERT_NE(story.state().shapes().find(hash), nullptr);
  EXPECT_EQ(story.state().shapes().find(hash)->users, 2u);
  story.fact(events::ShapeRecorded{other_hash, other});
  workload.shape = other_hash;
  story.fact(events::ObjectObserved{workload});
  story.fact(events::ObjectGone{{"PodTemplate", "shop", "room"}});
  story.step();
  EXPECT_EQ(story.state().shapes().find(hash), nullptr);
  ASSERT_NE(story.state().shapes().find(other_hash), nullptr);
  workload.shape = {};
  story.fact(events::ObjectObserved{workload});
  story.step();
  EXPECT_EQ(story.state().shapes().size(), 0u) << "a workload may say nothing of its pods";
  EXPECT_EQ(count_of(story, "Deployment"), 1u);
}

TEST(NamedObjects, ASnapshotHoldsThemAll) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  model::PersistentVolume volume;
  volume.name = "v1";
  volume.topology = {{{"zone", model::Operator::kIn, {"a", "b"}, 0}}, {}};
  model::CsiNode limits{"n1", {{"ebs.csi.aws.com", 25}}};
  model::NodeOverlay overlay;
  overlay.name = "cheap";
  overlay.percent_micros = -10'000'000;
  for (const model::NamedObject& object :
       {model::NamedObject(volume), model::NamedObject(limits), model::NamedObject(overlay)})
    story.fact(events::ObjectObserved{object});
  story.fact(events::EpochOpened{3, "me"});
  story.fact(events::LeadershipLost{2});
  story.step();
  EXPECT_FALSE(story.state().leadership_lost()) << "of an older epoch";
  story.fact(events::LeadershipLost{3});
  story.step();
  EXPECT_TRUE(story.state().leadership_lost());
  projections::ClusterState loaded;
  const auto status = loaded.load(story.state().save());
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(loaded.digest(), story.state().digest());
  ASSERT_NE(loaded.object<model::PersistentVolume>("", "v1"), nullptr);
  EXPECT_EQ(*loaded.object<model::PersistentVolume>("", "v1"), volume);
  EXPECT_EQ(*loaded.object<model::CsiNode>("", "n1"), limits);
  EXPECT_EQ(*loaded.object<model::NodeOverlay>("", "cheap"), overlay);
  std::size_t volumes = 0;
  loaded.for_each<model::PersistentVolume>([&](const auto&, const auto&) { ++volumes; });
  EXPECT_EQ(volumes, 1u);
  EXPECT_TRUE(loaded.leadership_lost());
  story.fact(events::EpochOpened{4, "me"});
  story.step();
  EXPECT_FALSE(story.state().leadership_lost());
}

}  // namespace
}  // namespace karst::engine
