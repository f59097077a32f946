// What a new claim takes over of its pool.
#include "tests/engine/stage.h"

namespace karst::engine {
namespace {

using namespace testing;

constexpr const char* kFamily = "karpenter.kwok.sh/instance-family";

TEST(NewClaims, SayWhetherMinValuesWereRelaxedAndWhatIsLeftOfThem) {
  struct Case {
    int asked;
    const char* relaxed;
    int left;
  };
  for (const Case& test : {Case{2, "false", 2}, Case{5, "true", 3}}) {
    events::MemoryLog log(model::LogId("log"));
    events::Config config;
    config.min_values_best_effort = true;
    Story story(log, config);
    model::NodePool pool = pool_of("default");
    pool.requirements = {{kFamily, model::Operator::kExists, {}, test.asked}};
    set_the_stage(story, pool);
    add_pods(story, 1);
    story.step(1'100);
    const auto created = story.take<model::CreateNodeClaim>();
    ASSERT_EQ(created.size(), 1u) << test.asked;
    const model::NodeClaim& claim = std::get<model::CreateNodeClaim>(created[0].spec).claim;
    EXPECT_EQ(model::label_value(claim.annotations, "karpenter.sh/nodeclaim-min-values-relaxed"),
              test.relaxed);
    const auto of_family =
        std::find_if(claim.requirements.begin(), claim.requirements.end(),
                     [](const model::RequirementSpec& one) { return one.key == kFamily; });
    ASSERT_NE(of_family, claim.requirements.end());
    EXPECT_EQ(of_family->min_values, test.left) << test.asked;
    EXPECT_EQ(verified(log).difference, std::nullopt);
  }
}

TEST(NewClaims, RepeatHowExpireAfterIsWritten) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  model::NodePool pool = pool_of("default");
  pool.expire_after = "12h30m";
  pool.expire_after_millis = 750 * base::kMillisPerMinute;
  set_the_stage(story, pool);
  add_pods(story, 1);
  story.step(1'100);
  const auto created = story.take<model::CreateNodeClaim>();
  ASSERT_EQ(created.size(), 1u);
  EXPECT_EQ(std::get<model::CreateNodeClaim>(created[0].spec).claim.expire_after, "12h30m");
}

}  // namespace
}  // namespace karst::engine
