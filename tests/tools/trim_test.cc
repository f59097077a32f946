// `karst log trim`: what is left is the same log, and what is gone is in the archive.
#include <unistd.h>

#include <map>

#include "daemon/trimmer.h"
#include "events/codec.h"
#include "tests/tools/trim_fixture.h"

namespace karst::tests {
namespace {

class Trim : public TrimFixture {};

TEST_F(Trim, AtEveryTileTheSameStateAndTheSameDecisions) {
  for (std::uint64_t first = 257; first <= last_; first += 256) {
    const Ended trimmed = trim({"--before", std::to_string(first + 3)});
    ASSERT_EQ(trimmed.code, 0) << trimmed.err;
    const Json told = Json::parse(trimmed.out);
    EXPECT_EQ(told["first_position"], first);
    EXPECT_EQ(told["events_that_go"], 256);
    EXPECT_EQ(summary({"log", "stat"})["first_position"], first);
    for (std::uint64_t at = first; at <= last_; at += (last_ - first) / 3 + 1)
      EXPECT_EQ(state_at(at), state_at(at, long_story())) << first;
    EXPECT_EQ(state_at(last_), state_at(last_, long_story())) << first;
    const Ended verified = karst({"replay", "--verify", "--data", data_});
    EXPECT_EQ(verified.code, 0) << verified.out << verified.err;
    EXPECT_TRUE(says(
        verified, "positions 1 to " + std::to_string(first - 1) + " were trimmed and not verified"))
        << verified.out;
    ASSERT_EQ(archive().code, 0);
  }
  // All of it comes back.
  const std::string again = folder_ / "again";
  const Ended restored = karst({"log", "restore", "--archive", archive_, "--data", again});
  ASSERT_EQ(restored.code, 0) << restored.err;
  const std::string was = karst({"log", "dump", "--data", long_story()}).out;
  const std::string is = karst({"log", "dump", "--data", again}).out;
  EXPECT_TRUE(is.starts_with(was)) << "the whole log, and the trimmings behind it";
  EXPECT_EQ(lines_of(is).size(), lines_of(was).size() + (last_ - 1) / 256);
  EXPECT_EQ(karst({"replay", "--verify", "--data", again}).code, 0);
}

TEST_F(Trim, EveryReaderBeginsWhereTheLogDoes) {
  ASSERT_EQ(trim({"--before", "513"}).code, 0);
  const std::string begins = "this log begins at position 513: positions 1 to 512 were trimmed at";
  struct Case {
    std::vector<std::string> command;
    int code;
    std::string part;
  };
  const Case cases[] = {
      {{"log", "stat"}, 0, begins},
      {{"log", "dump"}, 0, begins},
      {{"log", "dump", "--from", "513"}, 0, "\"position\":513"},
      {{"log", "dump", "--from", "512"}, 2, "the archive " + archive_ + " has them"},
      {{"log", "tail", "-n", "100000"}, 0, "     513  "},
      {{"replay"}, 0, begins},
      {{"replay", "--until", "2"}, 2, "karst log restore"},
      {{"replay", "--verify"}, 0, begins},
      {{"state", "--at", "512"}, 2, "positions 1 to 512 were trimmed"},
      {{"state", "--at", "2020-01-01T00:00:00Z"}, 2, "begins later than that, with position 513"},
      {{"state", "pods"}, 0, ""},
      {{"explain", "command/3"}, 2, "513 to"},
      {{"audit", "export"}, 0, begins},
      {{"audit", "export", "--from", "5"}, 2, "were trimmed"},
      {{"audit", "export", "--format", "csv"}, 0, begins},
      {{"audit", "export", "--format", "csv", "--view", "nodeclaims"}, 0, begins},
      {{"audit", "prove", "512"}, 2, "karst log restore"},
  };
  for (Case c : cases) {
    c.command.insert(c.command.end(), {"--data", data_});
    const Ended ended = karst(c.command);
    EXPECT_EQ(ended.code, c.code) << ::testing::PrintToString(c.command) << ended.err;
    EXPECT_TRUE(says(ended, c.part)) << ::testing::PrintToString(c.command) << ended.err;
  }
}

// Nothing ruled out, and not known, are two answers.
TEST_F(Trim, WhatWasRuledOutBeforeItIsNotKnown) {
  // A claim that came up before a tile ends and had events behind it.
  std::map<std::string, std::uint64_t> created;
  std::string subject;
  std::uint64_t first = 0;
  for (const std::string& line : lines_of(karst({"log", "dump", "--data", data_}).out)) {
    const Json event = Json::parse(line);
    const std::string stream = event["stream"];
    const std::uint64_t position = event["position"];
    if (event["type"] == "NodeClaimCreateRequested") created.try_emplace(stream, position);
    const auto found = created.find(stream);
    if (found == created.end()) continue;
    first = (found->second - 1) / 256 * 256 + 257;
    subject = stream;
    if (position >= first) break;
    subject.clear();
  }
  ASSERT_NE(subject, "");
  ASSERT_EQ(trim({"--before", std::to_string(first)}).code, 0);
  const Ended json = karst({"explain", subject, "--ruled-out", "--data", data_, "-o", "json"});
  ASSERT_EQ(json.code, 0) << json.err;
  const Json value = Json::parse(json.out);
  ASSERT_TRUE(value["ruled_out"].is_null()) << value;
  EXPECT_NE(value["ruled_out_unknown"].dump().find("where this log begins"), std::string::npos);
  const Ended table = karst({"explain", subject, "--ruled-out", "--data", data_});
  EXPECT_NE(table.out.find("what was ruled out is not known: "), std::string::npos) << table.out;
}

// What is there is never denied: it has a story, or it is said where that went.
TEST_F(Trim, WhatTheStateKnowsIsExplained) {
  ASSERT_EQ(trim({"--before", std::to_string(last_)}).code, 0);
  std::vector<std::string> subjects = {"nodepool/default"};
  for (const Json& claim : summary({"state", "claims"}))
    subjects.push_back("nodeclaim/" + claim["name"].get<std::string>());
  for (const Json& node : summary({"state", "nodes"}))
    subjects.push_back("node/" + node["name"].get<std::string>());
  const auto explained = [&](const std::string& subject, bool has_events) {
    const Ended ended = karst({"explain", "--data", data_, subject});
    EXPECT_FALSE(says(ended, "the log knows nothing of it")) << ended.err;
    if (ended.code == 0 && has_events) return;
    EXPECT_EQ(ended.code, 2) << subject;
    EXPECT_TRUE(says(ended, subject + ": it is there")) << ended.err;
    EXPECT_TRUE(says(ended, "the archive " + archive_ + " has them")) << ended.err;
  };
  for (const std::string& subject : subjects) explained(subject, true);
  {  // until what is left says nothing of any of them
    auto log = events::RocksLog::open({data_, base::WallTime(1), 0});
    ASSERT_TRUE(log) << log.error().message;
    const auto cursor = (*log)->read(model::Position((*log)->end().value() - 1));
    const auto end = (*cursor)->next();
    ASSERT_TRUE(end && *end);
    std::vector<events::Record> beats(600, events::make_record(events::SourceBeat{"Pod", ""}));
    for (events::Record& beat : beats) beat.log_time = (*end)->envelope.log_time;
    ASSERT_TRUE((*log)->append(beats, events::Durability::kSynced));
    last_ = (*log)->end().value() - 1;
  }
  ASSERT_EQ(archive().code, 0);
  ASSERT_EQ(trim({"--before", std::to_string(last_)}).code, 0);
  for (const std::string& subject : subjects) explained(subject, false);
  EXPECT_TRUE(says(karst({"explain", "--data", data_, "nodepool/none"}), "knows nothing of it"));
}

TEST_F(Trim, ItsHeadAndItsProofsAreThoseOfTheWholeLog) {
  const std::string key = karst({"audit", "keygen", "--out", folder_ / "key", "--name", "k"}).out;
  const std::vector<std::string> sign = {"--signing-key", folder_ / "key", "--data"};
  const auto run = [&](std::vector<std::string> command, const std::string& data) {
    command.insert(command.end(), sign.begin(), sign.end());
    command.push_back(data);
    const Ended ended = karst(command);
    EXPECT_EQ(ended.code, 0) << ::testing::PrintToString(command) << ended.err;
    return ended.out;
  };
  const std::string old = run({"audit", "checkpoint"}, data_);
  ASSERT_EQ(trim({"--before", "513"}).code, 0);
  ASSERT_EQ(archive().code, 0);
  std::filesystem::remove_all(data_ + "/index");  // its tiles must not be needed
  const std::string head = run({"audit", "checkpoint"}, data_);
  const std::string again = folder_ / "again";
  ASSERT_EQ(karst({"log", "restore", "--archive", archive_, "--data", again}).code, 0);
  EXPECT_EQ(run({"audit", "checkpoint"}, again), head);
  write_file(folder_ / "old", old);

  const auto verified = [&](const std::string& bytes, std::vector<std::string> more = {}) {
    write_file(folder_ / "taken", bytes);
    std::vector<std::string> command = {"audit", "verify", "--key", key.substr(0, key.find('\n')),
                                        folder_ / "taken"};
    command.insert(command.end(), more.begin(), more.end());
    const Ended ended = karst(command);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.out;
  };
  const std::string growth =
      verified(run({"audit", "prove", "--from", std::to_string(last_)}, data_),
               {"--since", folder_ / "old"});
  EXPECT_NE(growth.find("the log only grew"), std::string::npos) << growth;
  const std::string trail = verified(run({"audit", "export"}, data_));
  EXPECT_NE(trail.find("all " + std::to_string(last_ + 1 - 512) + " events from position 513 on"),
            std::string::npos)
      << trail;
  EXPECT_NE(
      trail.find("what the positions 1 to 512 hold: its writer says that the log was trimmed"),
      std::string::npos)
      << trail;
  // What went, from the archive, under the head of the trimmed log.
  const std::string one = run({"audit", "prove", "7"}, again);
  EXPECT_NE(verified(one).find("1 events are in the log"), std::string::npos);
  const Json last = Json::parse(lines_of(one).back());
  EXPECT_EQ(last["checkpoint"], head);

  run({"audit", "export", "--format", "tiles", "--out", folder_ / "tiles"}, data_);
  const Ended tiles = karst({"audit", "verify", folder_ / "tiles"});
  EXPECT_EQ(tiles.code, 0) << tiles.err;
  EXPECT_TRUE(says(tiles, "what the positions 1 to 512 hold: their leaves are here as hashes"))
      << tiles.out;
  // Only the beginning may be missing, and the hashes that stand for it must be the right ones.
  const std::string bundle = folder_ / "tiles/tile/entries/003";
  const std::string leaves = read_file(bundle);
  std::filesystem::remove(bundle);
  const Ended gap = karst({"audit", "verify", folder_ / "tiles"});
  EXPECT_EQ(gap.code, 1) << gap.out;
  EXPECT_TRUE(says(gap, "tile/entries/003")) << gap.err;
  write_file(bundle, leaves);
  std::string hashes = read_file(folder_ / "tiles/tile/0/001");
  hashes[100] = static_cast<char>(hashes[100] ^ 1);
  write_file(folder_ / "tiles/tile/0/001", hashes);
  EXPECT_EQ(karst({"audit", "verify", folder_ / "tiles"}).code, 1);
}

TEST_F(Trim, TheDaemonGoesOnWithIt) {
  ASSERT_EQ(trim({"--before", "513"}).code, 0);
  // As long as a busy machine needs.
  for (int span = 2; span <= 32 && summary({"state"})["position"] <= last_ + 50; span *= 2) {
    const Ended ended =
        karst({"run", "--embedded", "--data", data_, "--archive", archive_, "--speed", "60",
               "--for", std::to_string(span) + "s", "--listen", "127.0.0.1:0"});
    EXPECT_EQ(ended.code, 0) << ended.err;
  }
  EXPECT_GT(summary({"state"})["position"], last_ + 50);
  EXPECT_EQ(karst({"replay", "--verify", "--data", data_}).code, 0);
}

TEST_F(Trim, ADryRunComparesAndChangesNothing) {
  const Json told = Json::parse(trim({"--before", "513", "--dry-run"}).out);
  EXPECT_EQ(told["events_that_go"], 512);
  EXPECT_EQ(told["events_that_stay"], last_ - 512);
  EXPECT_GT(told["bytes_that_go"], 512 * 48);
  EXPECT_EQ(summary({"log", "stat"})["events"], last_);
  const Json nothing = Json::parse(trim({"--keep", "1000000h"}).out);
  EXPECT_EQ(nothing["events_that_go"], 0);
  EXPECT_EQ(summary({"log", "stat"})["events"], last_);
}

TEST_F(Trim, ByTime) {
  const std::vector<std::string> lines = lines_of(karst({"log", "dump", "--data", data_}).out);
  const auto time_of = [&](std::size_t line) {
    return Json::parse(lines[line])["log_time"].get<std::string>();
  };
  std::size_t line = 560;  // the first one of its time, position 561 or less
  while (time_of(line - 1) == time_of(560)) --line;
  const Json told = Json::parse(trim({"--before", time_of(560)}).out);
  const std::uint64_t first = line / 256 * 256 + 1;
  EXPECT_EQ(told["first_position"], first);
  const Json most = Json::parse(trim({"--keep", "1ms"}).out);
  EXPECT_EQ(most["first_position"].get<std::uint64_t>() % 256, 1U);
  EXPECT_GE(most["first_position"].get<std::uint64_t>(), first);
  EXPECT_EQ(karst({"replay", "--verify", "--data", data_}).code, 0);
}

// What a kill leaves behind each step: the same state, the same decisions, and trimming works.
TEST_F(Trim, WhateverAKillLeftFoldsToTheSameState) {
  std::vector<std::string> left;
  const auto keep = [&](const std::string& step) {
    std::filesystem::copy(data_, folder_ / step, std::filesystem::copy_options::recursive);
    left.push_back(folder_ / step);
  };
  {
    auto log = events::RocksLog::open({data_, base::WallTime(1), 0});
    ASSERT_TRUE(log) << log.error().message;
    auto archive = events::Archive::open_existing(archive_);
    ASSERT_TRUE(archive);
    std::uint64_t tiles = 0;
    daemon::Trimmer trimmer(**log, *archive, archive_, [&](model::Position) {
      keep("tile-" + std::to_string(++tiles));
      return true;
    });
    auto note = trimmer.prepare(model::Position(513));
    ASSERT_TRUE(note) << note.error().message;
    keep("prepared");
    events::Record record = events::make_record(events::told_of(*note));
    auto cursor = (*log)->read(model::Position(last_));
    record.log_time = (**(*cursor)->next()).envelope.log_time;
    ASSERT_TRUE((*log)->append({&record, 1}, events::Durability::kBuffered));
    keep("told");
    ASSERT_TRUE((*log)->sync());
    keep("synced");
    const auto told = trimmer.told(*note, model::Position(last_));
    ASSERT_TRUE(told && *told);
    ASSERT_TRUE((*log)->trim({*note, **told, base::WallTime(1), archive_}));
    keep("trimmed");
    ASSERT_TRUE((*log)->compact_trimmed());
    keep("compacted");
  }
  EXPECT_EQ(left.size(), 7U);
  const Json whole = state_at(last_, long_story());
  for (const std::string& data : left) {
    EXPECT_EQ(state_at(last_, data), whole) << data;
    const Ended verified = karst({"replay", "--verify", "--data", data});
    EXPECT_EQ(verified.code, 0) << data << verified.out << verified.err;
    const Ended again = karst(
        {"log", "trim", "--data", data, "--archive", archive_, "--before", std::to_string(last_)});
    EXPECT_EQ(again.code, 0) << data << again.err;
    EXPECT_EQ(state_at(last_, data), whole) << data;
  }
}

// A real kill at each place that has a name.
TEST_F(Trim, KilledAtEachPlaceItIsTheSameLogAndTrimmingGoesOn) {
  const Json whole = state_at(last_, long_story());
  for (const std::string place : {"before-trim-mark", "after-trim-mark", "after-trim-compaction"}) {
    const std::string data = folder_ / place;
    std::filesystem::copy(data_, data, std::filesystem::copy_options::recursive);
    const std::vector<std::string> command = {"log",       "trim",   "--data",   data,
                                              "--archive", archive_, "--before", "513"};
    const Ended killed = karst(command, {"KARST_KILL_POINT=" + place});
    ASSERT_EQ(killed.signal, SIGKILL) << place << " was not passed\n" << killed.err;
    EXPECT_EQ(summary({"log", "stat"}, data).value("first_position", 1),
              place == "before-trim-mark" ? 1 : 513);
    EXPECT_EQ(state_at(last_, data), whole) << place;
    EXPECT_EQ(karst({"replay", "--verify", "--data", data}).code, 0) << place;
    const Ended again = karst(command);
    EXPECT_EQ(again.code, 0) << place << again.err;
    EXPECT_EQ(summary({"log", "stat"}, data)["first_position"], 513);
    EXPECT_EQ(state_at(last_, data), whole) << place;
  }
}

// A real kill, later and later, until one comes too late.
TEST_F(Trim, KilledAtAnyMomentItIsTheSameLog) {
  const Json whole = state_at(last_, long_story());
  for (int millis = 0, finished = 0; finished == 0; millis += 4) {
    Program program(folder_,
                    {"log", "trim", "--data", data_, "--archive", archive_, "--before", "513"});
    usleep(static_cast<useconds_t>(millis) * 1000);
    program.send(SIGKILL);
    const Ended ended = program.wait();
    finished = ended.signal == 0 ? 1 : 0;
    EXPECT_EQ(ended.code, finished == 0 ? -1 : 0) << ended.err;
    EXPECT_EQ(state_at(last_), whole) << millis;
    ASSERT_LT(millis, 60'000);
  }
  EXPECT_EQ(summary({"log", "stat"})["first_position"], 513);
  EXPECT_EQ(karst({"replay", "--verify", "--data", data_}).code, 0);
}

}  // namespace
}  // namespace karst::tests
