#include "daemon/log_time.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace karst::daemon {
namespace {

using base::LogTime;
using base::WallTime;

constexpr std::int64_t kWall = 1'800'000'000'000;  // where the wall clock stands at the start
constexpr std::int64_t kMonotonic = 5'000;         // and the monotonic one

TEST(LogTime, RunsWithTheMonotonicClock) {
  struct Case {
    std::string name;
    std::optional<std::int64_t> last;  // log time of the last event, relative to kWall
    std::vector<std::int64_t> at;      // milliseconds after the start
    std::vector<std::int64_t> want;    // relative to kWall
  };
  const std::vector<Case> cases = {
      {"a new log starts at the wall clock", std::nullopt, {0, 1, 1'000}, {0, 1, 1'000}},
      {"an old log behind the wall clock jumps to it", -60'000, {0, 10}, {0, 10}},
      {"an old log ahead runs at half speed",
       10'000,
       {0, 1, 2, 3, 4, 10'000},
       {10'000, 10'000, 10'001, 10'001, 10'002, 15'000}},
      {"and at full speed once it is caught up with",
       1'000,
       {0, 1'000, 2'000, 3'000},
       {1'000, 1'500, 2'000, 3'000}},
      {"the monotonic clock never steps back, and if it did time would stand",
       std::nullopt,
       {1'000, 500, 1'500},
       {1'000, 1'000, 1'500}},
  };
  for (const Case& c : cases) {
    std::optional<LogTime> last;
    if (c.last) last = LogTime(kWall + *c.last);
    LogTimeline timeline(last, WallTime(kWall), kMonotonic);
    for (std::size_t i = 0; i < c.at.size(); ++i) {
      EXPECT_EQ(timeline.now(kMonotonic + c.at[i]).value() - kWall, c.want[i])
          << c.name << ", at " << c.at[i];
    }
  }
}

TEST(LogTime, FollowsABetterClock) {
  struct Case {
    std::string name;
    std::int64_t date;  // what the better clock says one second after the start, relative to kWall
    std::int64_t after_one_second;
    std::int64_t after_eleven_seconds;
  };
  const std::vector<Case> cases = {
      {"less than the noise changes nothing", 2'900, 1'000, 11'000},
      {"behind: steps forward", 61'000, 61'000, 71'000},
      {"ahead: never back, but slower", -59'000, 1'000, 6'000},
  };
  for (const Case& c : cases) {
    LogTimeline timeline(std::nullopt, WallTime(kWall), kMonotonic);
    timeline.anchor(WallTime(kWall + c.date), kMonotonic + 1'000);
    EXPECT_EQ(timeline.now(kMonotonic + 1'000).value() - kWall, c.after_one_second) << c.name;
    EXPECT_EQ(timeline.now(kMonotonic + 11'000).value() - kWall, c.after_eleven_seconds) << c.name;
  }
}

TEST(LogTime, NeverStepsBackWhateverTheAnchorSays) {
  LogTimeline timeline(std::nullopt, WallTime(kWall), 0);
  std::int64_t before = 0;
  std::uint64_t chance = 12345;
  for (std::int64_t i = 0; i < 10'000; ++i) {
    chance = chance * 6364136223846793005ULL + 1442695040888963407ULL;
    const auto jump = static_cast<std::int64_t>(chance >> 40) % 1'000'000 - 500'000;
    if (i % 7 == 0) timeline.anchor(WallTime(kWall + jump), i * 13);
    const std::int64_t now = timeline.now(i * 13).value();
    ASSERT_GE(now, before) << "step " << i;
    before = now;
  }
}

TEST(LogTime, TellsAWallClockThatJumped) {
  LogTimeline timeline(std::nullopt, WallTime(kWall), 0);
  struct Step {
    std::string name;
    std::int64_t offset;
    std::optional<std::int64_t> want;
  };
  const std::int64_t limit = kWallOffsetMaxMillis;
  const std::vector<Step> steps = {
      {"right", 0, std::nullopt},
      {"at the limit", limit, std::nullopt},
      {"above it", limit + 1, limit + 1},
      {"still there: told once", limit + 2, std::nullopt},
      {"much further: told again", 3 * limit, 3 * limit},
      {"back: told", 10, 10},
      {"still right", -limit, std::nullopt},
      {"the other way", -limit - 1, -limit - 1},
  };
  std::int64_t monotonic = 0;
  for (const Step& step : steps) {
    monotonic += 1'000;
    EXPECT_EQ(timeline.jump(WallTime(kWall + monotonic + step.offset), monotonic), step.want)
        << step.name;
  }
}

}  // namespace
}  // namespace karst::daemon
