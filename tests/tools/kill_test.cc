// A power cut at any moment: `karst run --embedded` is killed with SIGKILL at random moments and at
// every named place. Afterwards the log opens, decides the same again, a further run goes on, and
// what was acknowledged is in the log.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <iostream>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "daemon/kill_points.h"
#include "tests/sanitized.h"
#include "tests/tools/program.h"

namespace karst::tests {
namespace {

constexpr const char* kSpeed = "40";
constexpr int kRandomKills = kSanitized ? 3 : 20;
constexpr std::uint64_t kKillWithinMillis = 2'500;

// One cluster's data, killed again and again.
class Cluster {
 public:
  std::vector<std::string> run_arguments() const {
    return {"run", "--embedded", "--data", data_, "--speed", kSpeed, "--listen", "127.0.0.1:0"};
  }
  Environment environment() const {
    return {"KARST_ACK_FILE=" + acknowledged_, "KARST_SNAPSHOT_DISTANCE=100"};
  }
  const TempFolder& folder() const { return folder_; }

  Ended run_for(const std::string& duration, Environment more = {}) const {
    std::vector<std::string> arguments = run_arguments();
    arguments.insert(arguments.end(), {"--for", duration});
    const Environment base = environment();
    more.insert(more.end(), base.begin(), base.end());
    return karst(arguments, more);
  }

  void expect_sound(const std::string& after) const {
    const Ended verified = karst({"replay", "--data", data_, "--verify"});
    EXPECT_EQ(verified.code, 0) << after << "\n" << verified.out << verified.err;
    // Every round, or it has shown nothing.
    const Ended dumped = karst({"log", "dump", "--data", data_});
    std::size_t rounds = 0;
    for (std::size_t at = 0; (at = dumped.out.find("\"RoundClosed\"", at)) != std::string::npos;
         ++at)
      ++rounds;
    EXPECT_NE(verified.out.find(" " + std::to_string(rounds) + " rounds decided again"),
              std::string::npos)
        << after << "\n"
        << rounds << " rounds; " << verified.out;
    ASSERT_EQ(dumped.code, 0) << after << "\n" << dumped.err;
    for (const std::string& message : acknowledged())
      EXPECT_NE(dumped.out.find("\"" + message + "\""), std::string::npos)
          << after << ": message " << message << " was acknowledged and is not in the log";
  }
  std::set<std::string> acknowledged() const {
    std::set<std::string> messages;
    std::istringstream lines(read_file(acknowledged_));
    for (std::string line; std::getline(lines, line);)
      messages.insert(line.substr(0, line.rfind('/')));  // the receipt is MESSAGE/DELIVERY
    return messages;
  }

 private:
  TempFolder folder_;
  const std::string data_ = folder_ / "data";
  const std::string acknowledged_ = folder_ / "acknowledged";
};

std::uint64_t seed() {
  const char* given = std::getenv("KARST_KILL_SEED");
  return given == nullptr ? 20'261'121 : std::strtoull(given, nullptr, 10);
}

TEST(Kill, AtRandomMoments) {
  std::uint64_t chance = seed();
  const Cluster cluster;
  ASSERT_EQ(cluster.run_for("500ms").code, 0) << "so that there is a log";
  for (int i = 0; i < kRandomKills; ++i) {
    chance = chance * 6364136223846793005ULL + 1442695040888963407ULL;
    const auto millis = static_cast<std::int64_t>((chance >> 33) % kKillWithinMillis);
    SCOPED_TRACE("KARST_KILL_SEED=" + std::to_string(seed()) + ", kill " + std::to_string(i) +
                 " after " + std::to_string(millis) + " ms");
    Program daemon(cluster.folder(), cluster.run_arguments(), cluster.environment());
    std::this_thread::sleep_for(std::chrono::milliseconds(millis));
    daemon.send(SIGKILL);
    const Ended ended = daemon.wait();
    ASSERT_EQ(ended.signal, SIGKILL) << ended.err;
    cluster.expect_sound("kill " + std::to_string(i));
  }
  const Ended further = cluster.run_for("3s");
  EXPECT_EQ(further.code, 0) << further.err;
  cluster.expect_sound("the further run");
  EXPECT_FALSE(cluster.acknowledged().empty()) << "nothing was acknowledged: the test saw nothing";
}

// How often a place is passed before the kill, so that it falls into the middle of things; and what
// the run needs to get there.
std::string armed(std::string_view name) {
  const bool often = name.find("append") != std::string_view::npos ||
                     name.find("dispatch") != std::string_view::npos;
  return "KARST_KILL_POINT=" + std::string(name) + (often ? ":12" : ":1");
}

class KillPoint : public testing::TestWithParam<std::string> {};

TEST_P(KillPoint, LosesNothing) {
  const Cluster cluster;
  const bool at_the_end = GetParam() == "before-stop";
  const Ended killed = cluster.run_for(at_the_end ? "1s" : "30s", {armed(GetParam())});
  ASSERT_EQ(killed.signal, SIGKILL) << "the place was not passed\n" << killed.err;
  cluster.expect_sound("the kill");
  const Ended further = cluster.run_for("1s");
  EXPECT_EQ(further.code, 0) << further.err;
  cluster.expect_sound("the further run");
}

// But those of trimming and of expiry: trim_test.cc, expire_test.cc. Builds with sanitizers kill at
// every fourth.
std::vector<std::string> killable_places() {
  std::vector<std::string> names;
  for (const std::string_view name : daemon::kKillPointNames)
    if (name.find("trim") == std::string_view::npos && name.find("expir") == std::string_view::npos)
      names.emplace_back(name);
  if (!kSanitized) return names;
  std::vector<std::string> some;
  for (std::size_t i = 0; i < names.size(); i += 4) some.push_back(names[i]);
  return some;
}

INSTANTIATE_TEST_SUITE_P(EveryPlace, KillPoint, testing::ValuesIn(killable_places()),
                         [](const auto& place) {
                           std::string name = place.param;
                           for (char& c : name)
                             if (c == '-') c = '_';
                           return name;
                         });

TEST(Kill, ThePlacesAreListed) {
  std::string want;
  for (const std::string_view name : daemon::kKillPointNames) want += std::string(name) + "\n";
  EXPECT_EQ(karst({"version", "--kill-points"}).out, want);
}

}  // namespace
}  // namespace karst::tests
