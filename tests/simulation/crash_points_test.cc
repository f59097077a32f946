// One crash, everywhere: a small story is played once for every append and every send, with the
// process dying right before it, right after it, and right after it with a loss of power. Every
// invariant holds each time. Builds with sanitizers play every 15th of them.
#include <gtest/gtest.h>

#include "providers/provider.h"
#include "tests/sanitized.h"
#include "tests/simulation/runner.h"

namespace karst::simulation {
namespace {

constexpr std::uint64_t kStride = kSanitized ? 15 : 1;

RunOptions story(CrashPoint crash) {
  RunOptions options;
  options.scenario = small_story(providers::find_provider("kwok")->embedded_catalogue());
  options.crash = crash;
  return options;
}

std::string all_of(const RunResult& result) {
  std::string text;
  for (const Violation& violation : result.violations)
    text += "  " + violation.invariant + ": " + violation.what + "\n";
  return text;
}

TEST(CrashPoints, WithoutACrashTheStoryRunsToItsEnd) {
  const RunResult result = run(story({}));
  EXPECT_TRUE(result.violations.empty()) << all_of(result);
  EXPECT_EQ(result.crashes, 0u);
  EXPECT_GE(result.machines, 3u) << "two for the pods, one more after the interruption";
}

class Everywhere : public testing::TestWithParam<CrashPoint::Where> {};

TEST_P(Everywhere, EveryInvariantHolds) {
  const RunResult plain = run(story({}));
  const std::uint64_t places =
      GetParam() == CrashPoint::Where::kBeforeSend ? plain.sends : plain.appends;
  ASSERT_GT(places, 20u);
  for (std::uint64_t number = 1; number <= places; number += kStride) {
    const RunOptions options = story({GetParam(), number});
    const RunResult result = run(options);
    EXPECT_EQ(result.crashes, 1u) << replay_line(options);
    EXPECT_TRUE(result.violations.empty()) << replay_line(options) << "\n" << all_of(result);
  }
}

INSTANTIATE_TEST_SUITE_P(CrashPoints, Everywhere,
                         testing::Values(CrashPoint::Where::kBeforeAppend,
                                         CrashPoint::Where::kAfterAppend,
                                         CrashPoint::Where::kAfterAppendWithoutPower,
                                         CrashPoint::Where::kBeforeSend),
                         [](const auto& chosen) {
                           std::string name(crash_name(chosen.param));
                           name[name.find('-')] = '_';
                           return name;
                         });

}  // namespace
}  // namespace karst::simulation
