// Objects that karst explains without owning them: what NodeOverlays and CapacityBuffers are told
// in their status, and when they are told again.
#include "tests/engine/stage.h"

namespace karst::engine {
namespace {

using namespace testing;
using model::ConditionStatus;
using model::Operator;

// "Type=True reason; …" and the other fields, of every status that was written; answers all.
std::vector<std::string> told(Story& story) {
  std::vector<std::string> all;
  for (const auto& command : story.take<model::MirrorStatus>()) {
    const auto& mirror = std::get<model::MirrorStatus>(command.spec);
    std::string text = mirror.kind + " " + mirror.name + ":";
    for (const model::Condition& one : mirror.conditions)
      text += " " + one.type + (one.status == ConditionStatus::kTrue ? "=True " : "=False ") +
              one.reason + (one.message.empty() ? "" : " (" + one.message + ")") + "@" +
              std::to_string(one.observed_generation) + ";";
    all.push_back(text + mirror.fields_json);
    story.answer(command, model::OutcomeKind::kDone);
  }
  return all;
}
using Told = std::vector<std::string>;

// The judgement is of one round, what is told of it of the next; the same object is told again
// after some seconds.
void settle(Story& story) {
  story.step();
  story.step(6'000);
}

model::NodeOverlay overlay(const std::string& name, std::int32_t weight, std::int64_t nanos) {
  model::NodeOverlay result;
  result.name = name;
  result.uid = "uid-" + name;
  result.generation = 1;
  result.weight = weight;
  result.requirements = {{std::string(model::kCapacityTypeLabel), Operator::kIn, {"spot"}, 0}};
  result.price_nanos_per_hour = nanos;
  return result;
}

events::Config gates() {
  events::Config config;
  config.node_overlay = config.capacity_buffer = true;
  return config;
}

const char* const kApplied = " ValidationSucceeded=True ValidationSucceeded@1; Ready=True Ready@1;";

TEST(OverlayStatus, IsToldOnceAndAgainWhenItChanges) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log, gates());
  set_the_stage(story);
  story.fact(events::ObjectObserved{overlay("cheap", 5, 100)});
  settle(story);
  EXPECT_EQ(told(story), Told{"NodeOverlay cheap:" + std::string(kApplied)});
  story.step(60'000);
  EXPECT_EQ(told(story), Told{}) << "nothing has changed";
  // Of two of one weight the second by name, in falling order, does nothing.
  story.fact(events::ObjectObserved{overlay("also", 5, 200)});
  settle(story);
  EXPECT_EQ(told(story),
            Told{"NodeOverlay also: ValidationSucceeded=False Conflict (conflict with another "
                 "overlay)@1; Ready=False UnhealthyDependents (ValidationSucceeded=False)@1;"});
  story.fact(events::ObjectGone{{"NodeOverlay", "", "cheap"}});
  settle(story);
  EXPECT_EQ(told(story), Told{"NodeOverlay also:" + std::string(kApplied)});
  EXPECT_FALSE(verified(log).difference);
}

TEST(OverlayStatus, OneThatIsInvalidSaysSoAndIsNotApplied) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log, gates());
  set_the_stage(story);
  model::NodeOverlay bad = overlay("bad", 1, 1);
  bad.requirements = {{"example.com/rack", Operator::kGt, {"many"}, 0}};
  story.fact(events::ObjectObserved{bad});
  settle(story);
  const Told all = told(story);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_NE(all[0].find("ValidationSucceeded=False RuntimeValidation (key example.com/rack with "
                        "operator Gt must have a single positive integer value)"),
            all[0].npos)
      << all[0];
}

TEST(OverlayStatus, OneThatMisspellsALabelOfTheCloudIsInvalid) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log, gates());
  set_the_stage(story);
  model::NodeOverlay bad = overlay("bad", 1, 1);
  bad.requirements = {{"karpenter.kwok.sh/instance-famly", Operator::kIn, {"m"}, 0}};
  story.fact(events::ObjectObserved{bad});
  settle(story);
  const Told all = told(story);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_NE(all[0].find("RuntimeValidation (using label karpenter.kwok.sh/instance-famly is not"),
            all[0].npos)
      << all[0];
}

TEST(OverlayStatus, OneThatCameAgainIsToldAnew) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log, gates());
  set_the_stage(story);
  model::NodeOverlay cheap = overlay("cheap", 5, 100);
  story.fact(events::ObjectObserved{cheap});
  settle(story);
  EXPECT_EQ(told(story).size(), 1u);
  cheap.uid = "another";
  story.fact(events::ObjectObserved{cheap});
  settle(story);
  EXPECT_EQ(told(story).size(), 1u) << "its status went with the one before it";
}

model::CapacityBuffer buffer(std::int64_t replicas) {
  model::CapacityBuffer result;
  result.namespace_name = "default";
  result.name = "spare";
  result.uid = "uid-spare";
  result.generation = 1;
  result.template_name = "room";
  result.replicas = replicas;
  return result;
}

const char* const kStrategy = R"({"provisioningStrategy":"buffer.x-k8s.io/active-capacity")";

TEST(BufferStatus, FollowsWhatItStandsForAndWhereItsRoomIs) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log, gates());
  set_the_stage(story);
  story.fact(events::ObjectObserved{buffer(2)});
  story.step();
  EXPECT_EQ(told(story),
            Told{"CapacityBuffer spare: ReadyForProvisioning=False PodTemplateNotFound "
                 "(PodTemplate room not found)@1; Provisioning=False NotReadyForProvisioning@1;" +
                 std::string(kStrategy) + R"(,"podTemplateRef":null,"replicas":null})"});
  const model::PodShape shape = shape_of(500);
  story.fact(events::ShapeRecorded{model::hash_of(shape), shape});
  story.fact(
      events::ObjectObserved{model::PodTemplate{"default", "room", model::hash_of(shape), {}}});
  story.step();
  const std::string resolved = "CapacityBuffer spare: ReadyForProvisioning=True Resolved@1; ";
  const std::string fields =
      std::string(kStrategy) + R"(,"podTemplateRef":{"name":"room"},"replicas":2})";
  Told all;
  const auto launches = create_claims(story);
  ASSERT_EQ(launches.size(), 1u);
  story.step(6'000);
  ASSERT_EQ((all = told(story)).size(), 1u);
  EXPECT_EQ(all[0], resolved + "Provisioning=True RequiresNewCapacity@1;" + fields);
  come_up(story, launches[0]);
  for (int i = 0; i < 4; ++i) story.step(31'000);
  ASSERT_EQ((all = told(story)).size(), 1u);
  EXPECT_EQ(all[0], resolved + "Provisioning=True FitsExistingCapacity@1;" + fields);
  model::CapacityBuffer none = buffer(0);
  none.generation = 2;
  story.fact(events::ObjectObserved{none});
  settle(story);
  EXPECT_EQ(told(story),
            Told{"CapacityBuffer spare: ReadyForProvisioning=True Resolved@2; Provisioning=False "
                 "BufferEmpty@2;" +
                 std::string(kStrategy) + R"(,"podTemplateRef":{"name":"room"},"replicas":0})"});
  EXPECT_FALSE(verified(log).difference);
}

TEST(BufferStatus, ABufferOfAnotherStrategyIsLeftAlone) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log, gates());
  set_the_stage(story);
  model::CapacityBuffer other = buffer(1);
  other.strategy = "example.com/theirs";
  story.fact(events::ObjectObserved{other});
  story.step();
  EXPECT_EQ(told(story), Told{});
}

}  // namespace
}  // namespace karst::engine
