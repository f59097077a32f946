#include "daemon/story.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "daemon/words.h"

namespace karst::daemon {
namespace {

Happening at(std::int64_t millis, HappeningKind kind) {
  Happening h;
  h.kind = kind;
  h.time = base::LogTime(1'800'000'000'000 + millis);
  h.claim = "default-abcde";
  h.node = "node-1";
  return h;
}

Happening pod(std::int64_t millis, HappeningKind kind, const std::string& name,
              const std::string& owner) {
  Happening h = at(millis, kind);
  h.pod = name;
  h.owner = owner;
  return h;
}

TEST(Words, Texts) {
  EXPECT_EQ(names_list({"a", "b", "c"}, 2), "a, b and 1 other(s)");
  EXPECT_EQ(names_list({"a", "b"}, 2), "a, b");
  EXPECT_EQ(names_list({}), "");
  struct Money {
    std::int64_t nanos;
    std::string want;
  };
  for (const Money& m : std::vector<Money>{{42'100'000, "$0.0421"},
                                           {1'234'567'890, "$1.2346"},
                                           {0, "$0.0000"},
                                           {-50'000, "-$0.0001"},
                                           {999'950'000, "$1.0000"}})
    EXPECT_EQ(dollars(m.nanos), m.want) << m.nanos;
  struct Duration {
    std::int64_t millis;
    std::string want;
  };
  for (const Duration& d : std::vector<Duration>{{0, "0ms"},
                                                 {999, "999ms"},
                                                 {1'500, "1s"},
                                                 {60'000, "1m"},
                                                 {90'000, "1m30s"},
                                                 {3'600'000, "1h"},
                                                 {3'900'000, "1h5m"},
                                                 {-1'000, "-1s"}})
    EXPECT_EQ(duration_text(d.millis), d.want) << d.millis;
  model::Resources resources;
  resources.cpu_millis = 1'500;
  resources.memory_bytes = std::int64_t{3} << 29;
  EXPECT_EQ(size_text(resources), "1.5 cpu, 1.5 GiB");
}

TEST(Story, TellsPodsThatComeTogetherAsOneLine) {
  Story story(false);
  const Watcher watcher;
  const auto lines = story.tell({pod(0, HappeningKind::kPodWaiting, "web-1", "web"),
                                 pod(0, HappeningKind::kPodWaiting, "web-2", "web"),
                                 pod(1'250, HappeningKind::kPodWaiting, "db-1", "db"),
                                 pod(1'300, HappeningKind::kPodWaiting, "web-3", "web"),
                                 pod(1'300, HappeningKind::kPodWaiting, "web-4", "web")},
                                watcher);
  EXPECT_EQ(lines, (std::vector<std::string>{
                       "   0.0s  + 4 pods of web wait for a node (web-1, web-2, web-3 and 1 "
                       "other(s))",
                       "   1.2s  + 1 pod of db waits for a node (db-1)"}));
}

TEST(Story, TellsTheLifeOfANode) {
  Story story(false);
  const Watcher watcher;
  Happening created = at(0, HappeningKind::kClaimCreated);
  created.resources.cpu_millis = 2'000;
  created.resources.memory_bytes = std::int64_t{4} << 30;
  Happening launched = at(400, HappeningKind::kLaunched);
  launched.offer = {"c-4x", "zone-a", "spot", 42'100'000};
  Happening refused = at(500, HappeningKind::kLaunchRefused);
  refused.reason = "capacity";
  Happening interrupted = at(9'000, HappeningKind::kInterrupted);
  interrupted.reason = "spot_interrupted";
  interrupted.millis = 120'000;
  Happening leaving = at(9'100, HappeningKind::kLeaving);
  leaving.reason = "spot_interrupted";
  const auto lines =
      story.tell({created, launched, refused, pod(5'000, HappeningKind::kPodBound, "web-1", "web"),
                  interrupted, leaving},
                 watcher);
  EXPECT_EQ(lines, (std::vector<std::string>{
                       "   0.0s  claim default-abcde created: its pods need 2 cpu, 4.0 GiB",
                       "   0.4s  launched default-abcde: c-4x, spot in zone-a at $0.0421/h",
                       "   0.5s  ! default-abcde could not be launched: capacity",
                       "   5.0s  1 pod has a place on node-1 (web-1)",
                       "   9.0s  ! spot_interrupted: the machine of node-1 goes in 2m",
                       "   9.1s  node-1 is to go: its machine is taken away"}));
}

TEST(Story, CountsTimeFromItsFirstLine) {
  Story story(false);
  const Watcher watcher;
  ASSERT_EQ(story.tell({at(60'000, HappeningKind::kRegistered)}, watcher).size(), 1U);
  EXPECT_EQ(story.tell({at(62'000, HappeningKind::kRegistered)}, watcher),
            (std::vector<std::string>{"   2.0s  node node-1 has joined"}));
}

TEST(Story, ColoursOnlyWhenAsked) {
  const Watcher watcher;
  Happening leaving = at(0, HappeningKind::kLeaving);
  leaving.reason = "empty";
  EXPECT_EQ(Story(false).tell({leaving}, watcher)[0].find('\x1b'), std::string::npos);
  EXPECT_NE(Story(true).tell({leaving}, watcher)[0].find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace karst::daemon
