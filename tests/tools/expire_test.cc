// `karst log expire`: what goes from an archive, and that what is left comes back as a trimmed log.
#include <algorithm>
#include <map>

#include "base/sha256.h"
#include "projections/cluster_state.h"
#include "tests/sanitized.h"
#include "tests/tools/trim_fixture.h"

namespace karst::tests {
namespace {

// An archive of short segments, and the log trimmed to position 769.
class Expire : public TrimFixture {
 protected:
  void SetUp() override {
    TrimFixture::SetUp();
    whole_ = lines_of(karst({"log", "dump", "--data", long_story()}).out);
    seal({"256", "512", "768", "1000"});
  }
  void seal(const std::vector<std::string>& until) {
    std::filesystem::remove_all(archive_);
    for (const std::string& last : until)
      ASSERT_EQ(
          karst({"log", "archive", "--data", data_, "--archive", archive_, "--until", last}).code,
          0);
    ASSERT_EQ(archive().code, 0);
  }
  void trim_to_769() { ASSERT_EQ(trim({"--before", "769"}).code, 0); }

  std::string time_of(std::uint64_t position) const {
    return Json::parse(whole_[position - 1])["log_time"].get<std::string>();
  }
  // The first log time at which the event at `position` is older.
  std::string time_after(std::uint64_t position) const {
    std::uint64_t next = position;
    while (time_of(next) == time_of(position)) ++next;
    return time_of(next);
  }
  std::vector<std::string> command(const std::vector<std::string>& more) const {
    std::vector<std::string> all = {"log",       "expire", "--data", data_,
                                    "--archive", archive_, "-o",     "json"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  Ended expire(const std::vector<std::string>& more) { return karst(command(more)); }
  Json expired(const std::vector<std::string>& more) {
    const Ended ended = expire(more);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return Json::parse(ended.out, nullptr, false);
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(archive_))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
  std::map<std::string, std::string> contents() const {
    std::map<std::string, std::string> all;
    for (const std::string& name : files()) all[name] = read_file(archive_ + "/" + name);
    return all;
  }
  static std::string segment(std::uint64_t first, std::uint64_t last) {
    const auto digits = [](std::uint64_t number) {
      const std::string text = std::to_string(number);
      return std::string(20 - text.size(), '0') + text;
    };
    return digits(first) + "-" + digits(last) + ".seg";
  }
  bool has(std::uint64_t first, std::uint64_t last) const {
    return std::filesystem::exists(archive_ + "/" + segment(first, last));
  }

  // A log made of the archive, which must be the whole one from `first` on.
  std::string restored(std::uint64_t first, const std::string& name = "again") {
    const std::string again = folder_ / name;
    const Ended ended = karst({"log", "restore", "--archive", archive_, "--data", again});
    EXPECT_EQ(ended.code, 0) << ended.err;
    const std::vector<std::string> lines = lines_of(karst({"log", "dump", "--data", again}).out);
    EXPECT_GT(lines.size(), last_ - first);
    for (std::uint64_t at = first; at <= last_; ++at)
      EXPECT_EQ(lines[at - first], whole_[at - 1]) << at;
    EXPECT_EQ(summary({"log", "stat"}, again).value("first_position", 1U), first);
    for (std::uint64_t at = first; at <= last_; at += (last_ - first) / 3 + 1)
      EXPECT_EQ(state_at(at, again), state_at(at, long_story())) << at;
    const Ended verified = karst({"replay", "--verify", "--data", again});
    EXPECT_EQ(verified.code, 0) << verified.out << verified.err;
    return again;
  }

  std::vector<std::string> whole_;  // lines of the whole log
};

TEST_F(Expire, WhatIsLeftComesBackAsATrimmedLogUnderTheSameHead) {
  const std::string key = karst({"audit", "keygen", "--out", folder_ / "key", "--name", "k"}).out;
  const auto run = [&](std::vector<std::string> words, const std::string& data) {
    words.insert(words.end(), {"--signing-key", folder_ / "key", "--data", data});
    const Ended ended = karst(words);
    EXPECT_EQ(ended.code, 0) << ::testing::PrintToString(words) << ended.err;
    return ended.out;
  };
  const auto verified = [&](const std::string& bytes, std::vector<std::string> more = {}) {
    write_file(folder_ / "taken", bytes);
    std::vector<std::string> words = {"audit", "verify", "--key", key.substr(0, key.find('\n')),
                                      folder_ / "taken"};
    words.insert(words.end(), more.begin(), more.end());
    const Ended ended = karst(words);
    EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
    return ended.out;
  };
  write_file(folder_ / "old", run({"audit", "checkpoint"}, data_));
  trim_to_769();
  const Json told = expired({"--before", time_after(512)});
  EXPECT_EQ(told["segments_that_go"], 2);
  EXPECT_EQ(told["events_that_go"], 512);
  EXPECT_EQ(told["first_position"], 513);
  EXPECT_FALSE(has(1, 256));
  EXPECT_FALSE(has(257, 512));
  EXPECT_TRUE(has(513, 768));

  const std::string again = restored(513);
  EXPECT_EQ(run({"audit", "checkpoint"}, again), run({"audit", "checkpoint"}, data_));
  const std::string growth =
      verified(run({"audit", "prove", "--from", std::to_string(last_)}, again),
               {"--since", folder_ / "old"});
  EXPECT_NE(growth.find("the log only grew"), std::string::npos) << growth;
  EXPECT_NE(verified(run({"audit", "prove", "600"}, again)).find("1 events are in the log"),
            std::string::npos);
  const std::string trail = verified(run({"audit", "export"}, again));
  EXPECT_NE(trail.find("events from position 513 on"), std::string::npos) << trail;
  // It can be gone on with, trimmed, and archived.
  EXPECT_EQ(karst({"log", "trim", "--data", again, "--archive", archive_, "--before", "1024"}).code,
            0);
  EXPECT_EQ(karst({"replay", "--verify", "--data", again}).code, 0);
}

TEST_F(Expire, TheDecisionIsInTheLogAndEveryReaderSaysWhatIsNowhere) {
  trim_to_769();
  const auto gone = [&](const std::string& data) {
    return karst({"log", "dump", "--from", "5", "--data", data}).err;
  };
  EXPECT_NE(gone(data_).find("makes the whole log of it"), std::string::npos) << gone(data_);
  expired({"--before", time_after(512)});
  const std::vector<std::string> lines = lines_of(karst({"log", "dump", "--data", data_}).out);
  const Json last = Json::parse(lines.back());
  EXPECT_EQ(last["type"], "ArchiveExpired") << lines.back();
  EXPECT_EQ(last["payload"]["before"], 513);
  EXPECT_EQ(last["payload"]["segments"], 2);
  const std::string baseline =
      read_file(archive_ + "/" + segment(512, 1).substr(0, 20) + ".baseline");
  EXPECT_EQ(last["payload"]["digest"], base::hex_lower(base::sha256(baseline)));
  EXPECT_NE(gone(data_).find("has those from 513 on"), std::string::npos) << gone(data_);
  const std::string again = restored(513);
  EXPECT_NE(gone(again).find("they themselves are nowhere"), std::string::npos) << gone(again);
  // The daemon goes on with the live one.
  const Ended ended = karst({"run", "--embedded", "--data", data_, "--archive", archive_, "--speed",
                             "60", "--for", "2s", "--listen", "127.0.0.1:0"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(karst({"replay", "--verify", "--data", data_}).code, 0);
}

TEST_F(Expire, TwiceAndTheSecondFoldsOnFromTheFirst) {
  trim_to_769();
  EXPECT_EQ(expired({"--before", time_after(256)})["first_position"], 257);
  restored(257, "first");
  EXPECT_EQ(expired({"--before", time_after(768)})["first_position"], 769);
  EXPECT_TRUE(has(769, 1000));
  restored(769, "second");
  std::size_t baselines = 0;
  for (const std::string& name : files()) baselines += name.ends_with(".baseline") ? 1 : 0;
  EXPECT_EQ(baselines, 1U);
  const std::map<std::string, std::string> before = contents();
  EXPECT_EQ(expired({"--before", time_after(768)})["segments_that_go"], 0);
  EXPECT_TRUE(contents() == before) << "there is nothing more";
}

// A log begins with a tile: a segment that holds a part of one stays.
TEST_F(Expire, SegmentsThatEndBetweenTiles) {
  seal({"300", "600", "900"});
  trim_to_769();
  const Json told = expired({"--before", time_after(600)});
  EXPECT_EQ(told["first_position"], 513);
  EXPECT_EQ(told["segments_that_go"], 1);
  EXPECT_TRUE(has(301, 600));
  restored(513);
}

TEST_F(Expire, NothingGoesThatIsYoungOrStillInTheLog) {
  const std::map<std::string, std::string> before = contents();
  EXPECT_EQ(expired({"--before", time_after(768)})["segments_that_go"], 0) << "it is not trimmed";
  trim_to_769();
  const std::uint64_t events = summary({"log", "stat"})["events"];
  for (const std::string& time : {time_of(1), time_of(256)})
    EXPECT_EQ(expired({"--before", time})["segments_that_go"], 0) << time;
  EXPECT_EQ(expired({"--keep", "1000d"})["segments_that_go"], 0);
  EXPECT_TRUE(contents() == before);
  EXPECT_EQ(summary({"log", "stat"})["events"], events) << "nothing to be told of";
  // However old: what is at hand stays in the archive.
  EXPECT_EQ(expired({"--keep", "1ms"})["first_position"], 769);
  EXPECT_TRUE(has(769, 1000));
}

TEST_F(Expire, ADryRunChangesNothing) {
  trim_to_769();
  const std::map<std::string, std::string> before = contents();
  const std::uint64_t events = summary({"log", "stat"})["events"];
  const Json told = expired({"--before", time_after(512), "--dry-run"});
  EXPECT_EQ(told["dry_run"], true);
  EXPECT_EQ(told["segments_that_go"], 2);
  EXPECT_EQ(told["first_position"], 513);
  EXPECT_TRUE(contents() == before);
  EXPECT_EQ(summary({"log", "stat"})["events"], events);
}

TEST_F(Expire, ADamagedArchiveKeepsAll) {
  trim_to_769();
  EXPECT_EQ(expired({"--before", time_after(256)})["first_position"], 257);
  const std::string sound = folder_ / "sound";
  std::filesystem::copy(archive_, sound);
  const std::uint64_t events = summary({"log", "stat"})["events"];
  for (const std::string& name : files()) {
    if (name == "log") continue;
    std::filesystem::remove_all(archive_);
    std::filesystem::copy(sound, archive_);
    std::string bytes = read_file(archive_ + "/" + name);
    ASSERT_FALSE(bytes.empty()) << name;
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    write_file(archive_ + "/" + name, bytes);
    const std::map<std::string, std::string> before = contents();
    for (const bool dry : {true, false}) {
      std::vector<std::string> more = {"--before", time_after(512)};
      if (dry) more.emplace_back("--dry-run");
      const Ended ended = expire(more);
      EXPECT_EQ(ended.code, 3) << name << ended.out;
      EXPECT_TRUE(says(ended, name)) << name << ": " << ended.err;
    }
    EXPECT_TRUE(contents() == before) << name;
  }
  EXPECT_EQ(summary({"log", "stat"})["events"], events);
}

// Whole in itself, and of this log, with another history: of what the log has no more, and of what
// it still has.
TEST_F(Expire, AnArchiveOfAnotherHistoryKeepsAll) {
  for (const std::size_t at : {99, 699, 1050}) {
    std::vector<events::Record> records = records_of(long_story());
    records[at].wall_time = base::WallTime(records[at].wall_time.value() + 1);
    const std::string changed = folder_ / ("changed" + std::to_string(at));
    std::filesystem::copy(long_story(), changed, std::filesystem::copy_options::recursive);
    rewrite(changed, records);
    const std::string other = changed + "-archive";
    for (const char* until : {"256", "512", "768", "99999"}) {
      std::vector<std::string> words = {"log", "archive", "--data", changed, "--archive", other};
      if (until != std::string("99999")) words.insert(words.end(), {"--until", until});
      ASSERT_EQ(karst(words).code, 0);
    }
    if (at == 99) trim_to_769();
    const Ended ended =
        karst({"log", "expire", "--data", data_, "--archive", other, "--before", time_after(512)});
    EXPECT_EQ(ended.code, 3) << at << ended.out;
    EXPECT_TRUE(says(ended, "holds another event at position " + std::to_string(at + 1)))
        << ended.err;
    EXPECT_TRUE(std::filesystem::exists(other + "/" + segment(1, 256)));
  }
}

TEST_F(Expire, ABaselineOfAnotherProjectionVersionIsNotFoldedFrom) {
  trim_to_769();
  expired({"--before", time_after(256)});
  std::string text = read_file(archive_ + "/expired");
  text.resize(text.find("sha256 "));
  const std::string own = "projection " + std::string(projections::kProjectionVersion) + "\n";
  ASSERT_NE(text.find(own), std::string::npos) << text;
  text.replace(text.find(own), own.size(), "projection 1\n");
  text += "sha256 " + base::hex_lower(base::sha256(text)) + "\n";
  write_file(archive_ + "/expired", text);
  const std::map<std::string, std::string> before = contents();
  const Ended ended = expire({"--before", time_after(512)});
  EXPECT_NE(ended.code, 0) << ended.out;
  EXPECT_TRUE(says(ended, "nothing of the archive is deleted")) << ended.err;
  EXPECT_TRUE(says(ended, "as projection version 1 has it")) << ended.err;
  EXPECT_TRUE(says(ended, "of the build that wrote it")) << ended.err;
  EXPECT_TRUE(contents() == before);
  EXPECT_EQ(expired({"--before", time_after(256)})["segments_that_go"], 0)
      << "no word of it while nothing would go";
}

TEST_F(Expire, KilledAtEachPlaceItComesBackAndGoesOn) {
  trim_to_769();
  struct Case {
    std::string place;
    std::uint64_t first;  // of what comes back
  };
  const std::string sound_archive = folder_ / "sound-archive", sound_data = folder_ / "sound-data";
  std::filesystem::copy(archive_, sound_archive);
  std::filesystem::copy(data_, sound_data, std::filesystem::copy_options::recursive);
  const std::vector<std::string> words = command({"--before", time_after(512)});
  for (const Case& c : {Case{"before-expiry-mark", 1}, Case{"after-expiry-mark", 513},
                        Case{"after-expired-segment", 513}, Case{"after-expired-segment:2", 513}}) {
    for (const auto& [from, to] : {std::pair{sound_archive, archive_}, {sound_data, data_}}) {
      std::filesystem::remove_all(to);
      std::filesystem::copy(from, to, std::filesystem::copy_options::recursive);
    }
    const Ended killed = karst(words, {"KARST_KILL_POINT=" + c.place});
    ASSERT_EQ(killed.signal, SIGKILL) << c.place << " was not passed\n" << killed.err;
    EXPECT_EQ(has(1, 256), !c.place.starts_with("after-expired")) << c.place;
    EXPECT_EQ(has(257, 512), c.place != "after-expired-segment:2") << c.place;
    restored(c.first, "killed-" + c.place);
    EXPECT_EQ(karst({"replay", "--verify", "--data", data_}).code, 0) << c.place;
    const Ended again = karst(words);
    EXPECT_EQ(again.code, 0) << c.place << again.err;
    EXPECT_FALSE(has(1, 256)) << c.place;
    EXPECT_FALSE(has(257, 512)) << c.place;
    restored(513, "again-" + c.place);
  }
}

// What the program does by hand the daemon does once a day, and when it starts: here with spans so
// short that all is too old which the log has not at hand.
TEST_F(Expire, TheDaemonIsKilledAtEachPlaceAndGoesOn) {
  trim_to_769();
  const std::string sound_archive = folder_ / "sound-archive", sound_data = folder_ / "sound-data";
  std::filesystem::copy(archive_, sound_archive);
  std::filesystem::copy(data_, sound_data, std::filesystem::copy_options::recursive);
  const auto run = [&](const std::string& span, std::vector<std::string> environment = {}) {
    return karst({"run", "--embedded", "--data", data_, "--archive", archive_, "--retain",
                  "1ms/1ms", "--for", span, "--listen", "127.0.0.1:0"},
                 environment);
  };
  std::vector<std::string> places = {"before-expiry-mark", "after-expiry-mark",
                                     "after-expired-segment", "after-expired-segment:3"};
  if (kSanitized) places.resize(2);
  for (const std::string& place : places) {
    for (const auto& [from, to] : {std::pair{sound_archive, archive_}, {sound_data, data_}}) {
      std::filesystem::remove_all(to);
      std::filesystem::copy(from, to, std::filesystem::copy_options::recursive);
    }
    const Ended killed = run("60s", {"KARST_KILL_POINT=" + place});
    ASSERT_EQ(killed.signal, SIGKILL) << place << " was not passed\n" << killed.err;
    EXPECT_TRUE(has(769, 1000)) << place << ": the log has it at hand";
    restored(place == "before-expiry-mark" ? 1 : 769, "killed-" + place);
    for (int start = 1; start <= 8 && (start == 1 || has(513, 768)); ++start) {
      const Ended again = run(std::to_string(start) + "s");  // as long as a busy machine needs
      ASSERT_EQ(again.code, 0) << place << again.err;
    }
    EXPECT_FALSE(has(1, 256) || has(257, 512) || has(513, 768)) << place;
    restored(769, "again-" + place);
    EXPECT_EQ(karst({"replay", "--verify", "--data", data_}).code, 0) << place;
  }
}

TEST_F(Expire, SaysWhatIsWrong) {
  trim_to_769();
  const std::map<std::string, std::string> before = contents();
  struct Case {
    std::vector<std::string> more;
    std::string part;
  };
  const Case cases[] = {{{}, "--before"},
                        {{"--before", "513"}, "expected a time"},
                        {{"--keep", "long"}, "expected a duration"},
                        {{"--before", time_of(600), "--keep", "1h"}, "--keep"}};
  for (const Case& c : cases) {
    const Ended ended = expire(c.more);
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_TRUE(says(ended, c.part)) << ended.err;
  }
  EXPECT_TRUE(contents() == before);
  // A log that an older copy of the archive made again has more than the archive.
  const std::string older = folder_ / "older";
  ASSERT_EQ(karst({"log", "restore", "--archive", archive_, "--data", older}).code, 0);
  expired({"--before", time_after(512)});
  const Ended refused =
      karst({"log", "trim", "--data", older, "--archive", archive_, "--before", "769"});
  EXPECT_EQ(refused.code, 2) << refused.out;
  EXPECT_TRUE(says(refused, "has expired there")) << refused.err;
}

}  // namespace
}  // namespace karst::tests
