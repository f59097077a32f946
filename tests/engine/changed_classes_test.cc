// A node class whose spec is changed: until it was asked for anew, nothing is launched from it and
// nothing is told of it.
#include "tests/engine/class_account.h"

namespace karst::engine {
namespace {

using namespace testing;

// What is written is said of the present spec.
TEST(ChangedClasses, DoNotTellWhatTheOldSpecFound) {
  ClassAccount account;
  account.found_for = 1;
  events::MemoryLog log(model::LogId("log"));
  Story story(log, {}, &account);
  set_the_stage(story);
  found(story, "small");
  const auto told = [&] {
    std::string all;
    for (const auto& command : story.take<model::MirrorStatus>()) {
      all += std::get<model::MirrorStatus>(command.spec).fields_json;
      story.answer(command, model::OutcomeKind::kDone);
    }
    return all;
  };
  told();
  for (int i = 0; i < 3; ++i) story.step(10'000);
  EXPECT_EQ(told(), R"({"found":"small"})");
  story.fact(events::NodeClassObserved{node_class(2)});
  story.step(60'000);
  story.step(60'000);
  EXPECT_EQ(told(), "");
  account.found_for = 2;
  found(story, "large");
  story.step(10'000);
  EXPECT_EQ(told(), R"({"found":"large"})");
}

// A class of generation 2, whose status is of `observed`.
model::NodeClass changed_class(ConditionStatus ready, std::int64_t observed) {
  model::NodeClass changed = node_class(2);
  changed.spec_json = R"({"changed":true})";
  changed.ready = ready == ConditionStatus::kTrue;
  changed.ready_condition = {"Ready", ready, "Ready", "", 1, observed};
  return changed;
}

// A claim that is not launched yet, while its class, which had found "small", is changed.
void change_the_class_of_a_claim(Story& story, ConditionStatus ready, std::int64_t observed) {
  set_the_stage(story);
  found(story, "small");
  story.fact(events::NodeClassObserved{changed_class(ready, observed)});
  story.fact(events::NodeClaimObserved{unlaunched_claim(story, "a", 500)});
  for (int i = 0; i < 10; ++i) story.step(1'000);
}

TEST(ChangedClasses, AClaimWaitsForWhatTheyFind) {
  ClassAccount account;
  events::MemoryLog log(model::LogId("log"));
  Story story(log, {}, &account);
  change_the_class_of_a_claim(story, ConditionStatus::kTrue, 1);
  EXPECT_TRUE(story.take<model::Launch>().empty()) << "the new spec with what the old one found";
  found(story, "large");
  story.step();
  EXPECT_TRUE(story.take<model::Launch>().empty()) << "whether it is ready is not said yet";
  EXPECT_TRUE(story.take<model::DeleteObject>().empty());
  story.fact(events::NodeClassObserved{changed_class(ConditionStatus::kTrue, 2)});
  story.step();
  const auto launches = story.take<model::Launch>();
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(std::get<model::Launch>(launches[0].spec).request, "launch with large");
}

TEST(ChangedClasses, AClaimEndsWhenTheyAreRefused) {
  for (const std::int64_t observed : {1, 2}) {
    ClassAccount account;
    events::MemoryLog log(model::LogId("log"));
    Story story(log, {}, &account);
    change_the_class_of_a_claim(story, ConditionStatus::kFalse, observed);
    EXPECT_TRUE(story.take<model::Launch>().empty());
    EXPECT_EQ(story.take<model::DeleteObject>().size(), observed == 2 ? 1u : 0u);
  }
}

TEST(ChangedClasses, AClaimDoesNotWaitForEverForAnAccountThatIsSilent) {
  ClassAccount account;
  events::MemoryLog log(model::LogId("log"));
  Story story(log, {}, &account);
  change_the_class_of_a_claim(story, ConditionStatus::kTrue, 1);
  std::vector<ports::IssuedCommand> removed;
  int asked = 0;
  for (int seconds = 0; seconds < 301 && removed.empty(); ++seconds) {
    for (const auto& question : story.take<model::ResolveNodeClass>()) {
      ++asked;
      story.answer(question, model::OutcomeKind::kRefused, {}, model::RefusalCode::kRetry);
    }
    story.step(1'000);
    removed = story.take<model::DeleteObject>();
  }
  ASSERT_EQ(removed.size(), 1u);
  EXPECT_EQ(story.state().claims().find(model::ClaimName("claim-a"))->delete_reason,
            "launch_timeout");
  EXPECT_GT(asked, 1);
  EXPECT_TRUE(story.take<model::Launch>().empty());
}

// A class that nothing is asked of has no such findings to wait for.
TEST(ChangedClasses, AMachineOfKwokDoesNotWait) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  story.fact(events::NodeClassObserved{changed_class(ConditionStatus::kTrue, 1)});
  launch_for_one_pod(story);
}

}  // namespace
}  // namespace karst::engine
