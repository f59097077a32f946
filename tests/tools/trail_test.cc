// Readers of the trail: by index and snapshots, beside a daemon and without one; and that taking
// the trail home is recorded.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/replay.h"
#include "events/rocks_log.h"
#include "tests/tools/json.h"
#include "tests/tools/program.h"
#include "tests/tools/story.h"

namespace karst::tests {
namespace {

std::vector<std::string> subjects_of(const std::string& data) {
  std::set<std::string> subjects;
  std::size_t commands = 0;
  for (const std::string& line : lines_of(karst({"log", "dump", "--data", data}).out)) {
    const Json event = Json::parse(line);
    const std::string type = event["type"], stream = event["stream"];
    if (type == "PodObserved")
      subjects.insert("pod/" + event["payload"]["namespace_name"].get<std::string>() + "/" +
                      event["payload"]["name"].get<std::string>());
    if (type == "NodeObserved" || type == "NodeClaimObserved") subjects.insert(stream);
    if (type == "LaunchRequested" || (type == "EvictRequested" && ++commands % 5 == 0))
      subjects.insert("command/" + event["position"].dump());
  }
  return {subjects.begin(), subjects.end()};
}

TEST(Trail, ExplainSaysTheSameWithAndWithoutTheIndex) {
  const TempFolder folder;
  const std::string data = folder / "data", bare = folder / "bare";
  run_embedded(data, {.span = std::chrono::seconds(1), .speed = 100, .events = 150});
  ASSERT_TRUE(std::filesystem::exists(data + "/index/CURRENT"));
  std::filesystem::copy(data, bare, std::filesystem::copy_options::recursive);
  std::filesystem::remove_all(bare + "/index");
  const std::vector<std::string> subjects = subjects_of(data);
  ASSERT_GT(subjects.size(), 5U);
  for (std::size_t i = 0; i < subjects.size(); i += subjects.size() / 12 + 1) {
    const Ended by_index = karst({"explain", "--data", data, subjects[i], "-o", "json"});
    const Ended by_scan = karst({"explain", "--data", bare, subjects[i], "-o", "json"});
    EXPECT_EQ(by_index.code, 0) << subjects[i] << by_index.err;
    EXPECT_EQ(by_index.out, by_scan.out) << subjects[i];
    EXPECT_EQ(by_index.err, "") << subjects[i];
  }
}

TEST(Trail, ADamagedIndexIsSaidAndGoneWithout) {
  const TempFolder folder;
  const std::string data = folder / "data";
  std::filesystem::copy(story(), data, std::filesystem::copy_options::recursive);
  const std::string subject = subjects_of(data).back();
  const Ended before = karst({"explain", "--data", data, subject});
  for (const auto& entry : std::filesystem::directory_iterator(data + "/index"))
    if (entry.path().filename().string().starts_with("MANIFEST")) write_file(entry.path(), "x");
  const Ended after = karst({"explain", "--data", data, subject});
  EXPECT_EQ(after.code, 0);
  EXPECT_EQ(after.out, before.out);
  EXPECT_NE(after.err.find("the index cannot be used"), std::string::npos) << after.err;
}

// A reader beside a writer does not see by itself that a table is gone or cut: it shows what was
// there before.
TEST(Trail, ATableThatTheIndexLacksIsSaidAndGoneWithout) {
  const TempFolder folder;
  const std::string data = folder / "data", copy = folder / "copy";
  const std::vector<std::string> run = {"run", "--embedded", "--data",      data,    "--speed",
                                        "40",  "--listen",   "127.0.0.1:0", "--for", "500ms"};
  ASSERT_EQ(karst(run).code, 0);
  ASSERT_EQ(karst(run).code, 0);  // what the first one wrote is in tables now
  std::vector<std::string> tables;
  for (const auto& entry : std::filesystem::directory_iterator(data + "/index"))
    if (entry.path().extension() == ".sst") tables.push_back(entry.path().filename());
  ASSERT_GE(tables.size(), 3U);
  const std::string subject = subjects_of(data).back();
  const Ended before = karst({"explain", "--data", data, subject});
  EXPECT_EQ(before.err, "");
  for (const std::string& table : tables) {
    for (const bool cut : {false, true}) {
      std::filesystem::remove_all(copy);
      std::filesystem::copy(data, copy, std::filesystem::copy_options::recursive);
      const std::string path = copy + "/index/" + table;
      if (cut)
        std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
      else
        std::filesystem::remove(path);
      const Ended after = karst({"explain", "--data", copy, subject});
      EXPECT_EQ(after.code, 0) << table << after.err;
      EXPECT_EQ(after.out, before.out) << table;
      EXPECT_EQ(lines_of(after.err).size(), 1U) << table << cut << after.err;
      EXPECT_NE(after.err.find("the index cannot be used"), std::string::npos) << after.err;
      EXPECT_NE(after.err.find("/index/" + table.substr(0, 6)), std::string::npos) << after.err;
    }
  }
}

// Snapshots every 50 positions; the state at each place is that of a fold from the beginning.
TEST(Trail, StateFromSnapshotsIsThatOfAWholeFold) {
  const TempFolder folder;
  const std::string data = folder / "data";
  run_embedded(data, {.span = std::chrono::seconds(1), .speed = 100, .events = 150},
               {"KARST_SNAPSHOT_DISTANCE=50"});
  auto log = events::RocksLog::open_reader(data, folder / "scratch");
  ASSERT_TRUE(log) << log.error().message;
  const std::uint64_t last = (*log)->end().value() - 1;
  ASSERT_GT(last, 150U);
  std::uint64_t folded_from_later = 0;
  for (std::uint64_t place = 1; place <= last; place += last / 15) {
    projections::ClusterState whole, near;
    ASSERT_TRUE(engine::rebuild(**log, nullptr, model::Position(place), whole));
    const auto from = engine::rebuild(**log, &(*log)->snapshots(), model::Position(place), near);
    ASSERT_TRUE(from);
    folded_from_later += from->value() > 1 ? 1 : 0;
    EXPECT_TRUE(whole.digest() == near.digest()) << place;
    EXPECT_EQ(near.last_position().value(), place);
    const Json told = Json::parse(
        karst({"state", "--data", data, "--at", std::to_string(place), "-o", "json"}).out);
    EXPECT_EQ(told["position"], place);
  }
  EXPECT_GE(folded_from_later, 10U);
}

std::vector<std::string> recorded(const std::string& data) {
  std::vector<std::string> commands;
  for (const std::string& line :
       lines_of(karst({"log", "tail", "-n", "100000", "-o", "json", "--data", data}).out)) {
    const Json event = Json::parse(line);
    if (event["type"] != "AccessRecorded") continue;
    const std::string command = event["payload"]["command"];
    if (!command.starts_with("log tail")) commands.push_back(command);  // this look itself
  }
  return commands;
}

// Signed at the stop: what came last cannot be cut off without a head that says otherwise.
TEST(Trail, TheLastHeadIsOfTheWholeLog) {
  const TempFolder folder;
  const std::string data = folder / "data";
  {
    Program daemon(
        folder, {"run", "--embedded", "--data", data, "--speed", "20", "--listen", "127.0.0.1:0"});
    ASSERT_TRUE(daemon.await_err("starts"));
    daemon.send(SIGTERM);
    ASSERT_EQ(daemon.wait().code, 0);
  }
  const Json stat = Json::parse(karst({"log", "stat", "--data", data, "-o", "json"}).out);
  std::ifstream head(data + "/checkpoint");
  std::string origin;
  std::uint64_t size = 0;
  head >> origin >> size;
  EXPECT_EQ(size, stat["events"].get<std::uint64_t>());
  EXPECT_GT(size, 0U);
}

// Each command that shows a part of the trail, in the file that the next daemon takes over.
TEST(Trail, WhoLooksAtAPartOfItIsRecorded) {
  const TempFolder folder;
  const std::string data = folder / "data", kept = folder / "kept";
  ASSERT_EQ(karst({"run", "--embedded", "--data", data, "--speed", "40", "--listen", "127.0.0.1:0",
                   "--for", "300ms"})
                .code,
            0);
  const std::vector<std::vector<std::string>> looks = {{"state"},
                                                       {"state", "--at", "3", "pods"},
                                                       {"explain", "nodepool/default"},
                                                       {"replay", "--until", "5"},
                                                       {"replay", "--verify"},
                                                       {"audit", "prove", "2"},
                                                       {"log", "tail", "-n", "3"},
                                                       {"log", "archive", "--archive", kept}};
  for (std::vector<std::string> look : looks) {
    look.insert(look.end(), {"--data", data});
    EXPECT_EQ(karst(look).code, 0) << look[0];
  }
  for (const std::vector<std::string>& counts : {std::vector<std::string>{"log", "stat"},
                                                 {"audit", "checkpoint"},
                                                 {"explain", "nodepol/default"},
                                                 {"explain", "command/1"}})
    karst({counts[0], counts[1], "--data", data});
  std::vector<std::string> commands;
  for (const std::string& line : lines_of(read_file(data + "/access")))
    commands.push_back(line.substr(line.rfind('\t') + 1));
  EXPECT_EQ(commands, (std::vector<std::string>{
                          "state", "state --at 3 pods", "explain nodepool/default",
                          "replay --until 5", "replay --verify", "audit prove 2", "log tail -n 3",
                          "log archive --archive " + kept, "explain command/1"}))
      << "that it is no command is an answer too";
}

TEST(Trail, WhoTakesItHomeIsRecorded) {
  const TempFolder folder;
  const std::string data = folder / "data";
  const std::vector<std::string> run = {"run",     "--embedded", "--data",   data,
                                        "--speed", "40",         "--listen", "127.0.0.1:0"};
  {
    Program daemon(folder, run);
    ASSERT_TRUE(daemon.await_err("starts"));
    const Ended exported = karst({"audit", "export", "--data", data});
    EXPECT_EQ(exported.code, 0);
    EXPECT_EQ(exported.err, "");
    // The engine takes it up in a round of its own.
    for (int look = 0; look < 200 && recorded(data).empty(); ++look) continue;
    daemon.send(SIGTERM);
    EXPECT_EQ(daemon.wait().code, 0);
  }
  EXPECT_FALSE(std::filesystem::exists(data + "/access"));
  const std::vector<std::string> beside = recorded(data);
  ASSERT_EQ(beside.size(), 1U);
  EXPECT_TRUE(beside[0].starts_with("audit export")) << beside[0];
  EXPECT_EQ(karst({"log", "dump", "--data", data, "--from", "7"}).err, "");
  EXPECT_TRUE(std::filesystem::exists(data + "/access"));
  std::vector<std::string> shortly = run;
  shortly.insert(shortly.end(), {"--for", "300ms"});
  ASSERT_EQ(karst(shortly).code, 0);
  EXPECT_FALSE(std::filesystem::exists(data + "/access"));
  EXPECT_FALSE(std::filesystem::exists(data + "/access.taken"));
  const std::vector<std::string> both = recorded(data);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_TRUE(both[1].starts_with("log dump --from 7 (at ")) << both[1];
}

}  // namespace
}  // namespace karst::tests
