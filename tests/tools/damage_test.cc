// The program over logs that are not what was written: damaged ones are read as far as they are
// sound, tampered ones are found by deciding again.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "events/high_water.h"
#include "tests/tools/json.h"
#include "tests/tools/story.h"

namespace karst::tests {
namespace {

using events::EventType;

// In the write-ahead log: 12 to 14 bytes lie between two events of a batch, 19 more between
// batches.
constexpr std::size_t kBetweenBatches = 12 + 19;

// A copy of the story, to spoil.
class Spoiled : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::copy(story(), data_, std::filesystem::copy_options::recursive);
  }
  Ended karst_on_copy(const std::string& command) const {
    std::vector<std::string> arguments = words(command);
    arguments.insert(arguments.end(), {"--data", data_});
    return karst(arguments);
  }

  TempFolder folder_;
  const std::string data_ = folder_ / "data";
};

std::uint64_t number_after(const std::string& text, const std::string& words_before) {
  const std::size_t at = text.find(words_before);
  return at == std::string::npos ? 0 : std::strtoull(&text[at + words_before.size()], nullptr, 10);
}

class Damaged : public Spoiled {
 protected:
  // Flips a bit in a batch in the middle of the write-ahead log, and says with which position that
  // batch begins: events lie there uncompressed, each behind its position as a key.
  void SetUp() override {
    Spoiled::SetUp();
    std::string wal, bytes;
    for (const auto& entry : std::filesystem::directory_iterator(data_))
      if (entry.path().extension() == ".log" && entry.file_size() > bytes.size())
        bytes = read_file(wal = entry.path());
    const std::vector<events::Record> records = records_of(data_);
    std::size_t last_end = 0;
    for (std::size_t i = 0; i < records.size(); ++i) {
      const std::string stored = events::encode_event(model::Position(i + 1), records[i]);
      const std::size_t at = bytes.find(stored.substr(0, events::kHeaderSize));
      if (at == std::string::npos) continue;  // torn over two blocks of the file
      const bool new_batch = last_end > 0 && at - last_end >= kBetweenBatches;
      if (new_batch && i > records.size() / 2) {
        first_ = i + 1;
        bytes[at + 20] = static_cast<char>(bytes[at + 20] ^ 0x10);
        break;
      }
      last_end = at + stored.size();
    }
    ASSERT_GT(first_, 100U);
    write_file(wal, bytes);
  }

  std::uint64_t first_ = 0;  // damaged
};

TEST_F(Damaged, EveryReaderTellsWhatIsSoundAndThenWhereItEnds) {
  for (const std::string command :
       {"state", "state pods", "log stat", "log dump", "log tail", "audit export", "replay",
        "replay --verify", "explain pod/default/web-0"}) {
    const Ended ended = karst_on_copy(command);
    EXPECT_EQ(ended.code, 3) << command << ": " << ended.err;
    EXPECT_EQ(number_after(ended.err, "the first damaged position is "), first_)
        << command << ": " << ended.err;
    if (!command.starts_with("explain")) {
      EXPECT_NE(ended.out, "") << command;
    }
  }
  const std::uint64_t sound = first_ - 1;
  EXPECT_EQ(lines_of(karst_on_copy("log dump").out).size(), sound);
  EXPECT_EQ(lines_of(karst_on_copy("audit export").out).size(), sound + 1) << "no end line";
  EXPECT_EQ(Json::parse(karst_on_copy("log stat -o json").out)["events"], sound);
  EXPECT_EQ(Json::parse(karst_on_copy("state -o json").out)["position"], sound);
  EXPECT_EQ(number_after(karst_on_copy("log tail -n 1").out, ""), sound);
  EXPECT_EQ(number_after(karst_on_copy("replay --verify").out, ""), sound);
}

TEST_F(Damaged, TheDaemonNamesTheSamePositionAndChangesNothing) {
  const Ended ended = karst_on_copy("run --embedded --for 1s");
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_EQ(number_after(ended.err, "the first damaged position is "), first_) << ended.err;
  EXPECT_EQ(lines_of(karst_on_copy("log dump").out).size(), first_ - 1);
}

// What is sound of a damaged log is shown, but nothing is made that could be taken for a whole log
// which is that short: no head, no end of a trail, no file, no segment.
TEST_F(Damaged, NothingIsMadeThatCouldPassForAWholeLog) {
  const std::string out = folder_ / "out";
  ASSERT_EQ(karst({"audit", "keygen", "--out", folder_ / "key", "--name", "k"}).code, 0);
  const struct {
    std::string command;
    bool shows;  // what is sound, on stdout
  } cases[] = {
      {"audit export --signing-key KEY", true},
      {"audit export --kind PodObserved", false},
      {"audit export --from 2 --to 3", false},
      {"audit prove 2", false},
      {"audit prove --from 2", false},
      {"audit checkpoint --signing-key KEY", false},
      {"audit export --format csv", true},
      {"audit export --format cloudevents", true},
      {"audit export --format cloudevents-batch", true},
      {"audit export --format parquet", false},
      {"audit export --format csv --out OUT", false},
      {"audit export --format csv --to 3 --out OUT", false},
      {"audit export --format cloudevents --out OUT", false},
      {"audit export --format cloudevents-batch --out OUT", false},
      {"audit export --format parquet --out OUT", false},
      {"audit export --format sqlite --out OUT", false},
      {"audit export --format tiles --out OUT --signing-key KEY", false},
      {"log archive --archive OUT", false},
  };
  for (const auto& c : cases) {
    std::string command = c.command;
    for (const auto& [word, file] : {std::pair{"KEY", folder_ / "key"}, std::pair{"OUT", out}})
      if (const std::size_t at = command.find(word); at != std::string::npos)
        command.replace(at, 3, file);
    const Ended ended = karst_on_copy(command);
    EXPECT_EQ(ended.code, 3) << command << ": " << ended.err;
    EXPECT_EQ(number_after(ended.err, "the first damaged position is "), first_)
        << command << ": " << ended.err;
    EXPECT_EQ(!ended.out.empty(), c.shows) << command << ": " << ended.out.substr(0, 300);
    EXPECT_FALSE(ended.out.ends_with("]\n") || ended.out.ends_with("]")) << command;
    EXPECT_FALSE(std::filesystem::exists(out)) << command;
    EXPECT_FALSE(std::filesystem::exists(out + ".part")) << command;
    std::filesystem::remove_all(out);
    if (!ended.out.starts_with("{\"trail\"")) continue;
    write_file(folder_ / "trail", ended.out);
    const Ended verified = karst({"audit", "verify", folder_ / "trail"});
    EXPECT_NE(verified.code, 0) << verified.out;
    EXPECT_EQ(verified.out.find("proven      all"), std::string::npos) << verified.out;
  }
}

// One bit of a table of events, and an index that was made before that.
TEST_F(Spoiled, NoHeadIsMadeOfEventsThatCannotBeRead) {
  ASSERT_EQ(karst_on_copy("run --embedded --for 300ms --listen 127.0.0.1:0").code, 0);
  std::string table, bytes;
  for (const auto& entry : std::filesystem::directory_iterator(data_))
    if (entry.path().extension() == ".sst" && entry.file_size() > bytes.size())
      bytes = read_file(table = entry.path());
  ASSERT_GT(bytes.size(), 10'000U);
  bytes[bytes.size() / 3] = static_cast<char>(bytes[bytes.size() / 3] ^ 1);
  write_file(table, bytes);
  std::filesystem::remove(data_ + "/checkpoint");
  const std::string out = folder_ / "out";
  for (const std::string command :
       {"log stat", "audit checkpoint", "audit prove 2", "audit prove --from 2",
        "audit export --from 2 --to 3", "audit export --kind PodObserved",
        "audit export --format tiles --out ", "audit export --format sqlite --out ",
        "audit export --format parquet --out ", "audit export --format csv --out "}) {
    const Ended ended = karst_on_copy(command.ends_with(' ') ? command + out : command);
    EXPECT_EQ(ended.code, 3) << command << ": " << ended.err;
    EXPECT_GT(number_after(ended.err, "position "), 2U) << command << ": " << ended.err;
    EXPECT_TRUE(ended.out.empty() || command == "log stat") << command << ended.out;
    EXPECT_FALSE(std::filesystem::exists(out)) << command;
    std::filesystem::remove_all(out);
  }
}

// Copies with one event changed or dropped, as somebody with access to the folder could.
class Tampered : public Spoiled {
 protected:
  using Change = std::function<void(events::Body&)>;

  void SetUp() override {
    Spoiled::SetUp();
    records_ = records_of(data_);
  }
  // The index of the middle event of that type.
  std::size_t middle_of(EventType type) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < records_.size(); ++i)
      if (records_[i].type == type) found.push_back(i);
    return found.at(found.size() / 2);
  }
  // The index of the middle one of the pods' observations that still hold when their round closes:
  // a round's digest covers the state, so it knows nothing of an observation that a newer one of
  // the same pod has replaced.
  std::size_t middle_standing_observation() const {
    std::vector<std::size_t> standing;
    std::map<std::string, std::size_t> newest;  // of each pod, in the round that is read
    for (std::size_t i = 0; i < records_.size(); ++i) {
      const EventType type = records_[i].type;
      if (type == EventType::kPodObserved) newest[records_[i].stream] = i;
      if (type == EventType::kPodGone) newest.erase(records_[i].stream);
      if (type != EventType::kRoundClosed) continue;
      for (const auto& [pod, index] : newest) standing.push_back(index);
      newest.clear();
    }
    std::sort(standing.begin(), standing.end());
    return standing.at(standing.size() / 2);
  }
  void change(std::size_t index, const Change& change) {
    events::Body body = events::decode_payload(records_[index].type, records_[index].payload);
    change(body);
    records_[index].payload = events::encode_payload(body);
  }
  // Exit 1, and the round is named that closes over what is at `index` now.
  void expect_found(std::size_t index) {
    rewrite(data_, records_);
    std::uint64_t round = 1;
    std::size_t at = 0;
    for (; at < index || records_[at].type != EventType::kRoundClosed; ++at)
      round += records_[at].type == EventType::kRoundClosed ? 1 : 0;
    const Ended ended = karst_on_copy("replay --verify");
    EXPECT_EQ(ended.code, 1) << ended.out << ended.err;
    EXPECT_EQ(number_after(ended.out, "difference in round "), round) << ended.out;
    EXPECT_EQ(number_after(ended.out, "RoundClosed at position "), at + 1) << ended.out;
  }

  std::vector<events::Record> records_;
};

TEST_F(Tampered, WrittenAnewWithoutAChangeItAgrees) {
  rewrite(data_, records_);
  const Ended ended = karst_on_copy("replay --verify");
  EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
}

TEST_F(Tampered, AnAlteredFactIsNamedAtItsRound) {
  const std::size_t index = middle_standing_observation();
  change(index,
         [](events::Body& body) { std::get<events::PodObserved>(body).pod.creation_millis += 1; });
  expect_found(index);
}

TEST_F(Tampered, AnAlteredDecisionIsNamedAtItsRound) {
  const std::size_t index = middle_of(EventType::kLaunchRequested);
  change(index, [](events::Body& body) { std::get<model::Command>(body).reason = "other"; });
  expect_found(index);
}

TEST_F(Tampered, ADroppedFactIsNamedAtItsRound) {
  const std::size_t index = middle_of(EventType::kPodObserved);
  records_.erase(records_.begin() + static_cast<std::ptrdiff_t>(index));
  expect_found(index);
}

TEST_F(Tampered, ADroppedDecisionIsNamedAtItsRound) {
  const std::size_t index = middle_of(EventType::kLaunchRequested);
  records_.erase(records_.begin() + static_cast<std::ptrdiff_t>(index));
  expect_found(index);
}

TEST_F(Tampered, AnAlteredLastEventIsNoLongerWhatTheMarkSaw) {
  const events::HighWaterMark mark = **events::HighWaterFile::read(data_ + "/high-water");
  records_.back().log_time = base::LogTime(records_.back().log_time.value() + 1);
  rewrite(data_, records_);
  events::HighWaterFile file;
  ASSERT_TRUE(file.open(data_ + "/high-water"));
  ASSERT_TRUE(file.write({model::Position(records_.size()), mark.root}));
  const Ended ended = karst_on_copy("replay --verify");
  EXPECT_EQ(ended.code, 3) << ended.out << ended.err;
  EXPECT_EQ(number_after(ended.err, "the first damaged position is "), records_.size())
      << ended.err;
}

TEST_F(Tampered, ExplainSaysWhatItLeavesOut) {
  const std::size_t seen = middle_of(EventType::kNodeObserved);
  const std::size_t launched = middle_of(EventType::kLaunchRequested);
  const std::string node = records_[seen].stream;
  const auto own_events = static_cast<std::uint64_t>(
      Json::parse(karst_on_copy("explain " + node + " -o json").out)["events"].size());
  records_.insert(records_.end(), 200, records_[seen]);
  rewrite(data_, records_);
  const Json story = Json::parse(karst_on_copy("explain " + node + " -o json").out);
  EXPECT_EQ(story["events"].size(), 200U);
  EXPECT_EQ(story["events_left_out"], own_events);
  const Ended told = karst_on_copy("explain " + node);
  EXPECT_NE(told.out.find("… " + std::to_string(own_events) + " event"), std::string::npos)
      << told.out;
  // A launch at the end of a chain of 60 causes.
  for (int i = 0; i < 60; ++i) {
    records_.push_back(events::make_record(events::SourceBeat{"Pod", "1"}));
    records_.back().log_time = records_[seen].log_time;
    records_.back().causation = model::Position(records_.size() - 1);
  }
  records_.push_back(records_[launched]);
  records_.back().causation = model::Position(records_.size() - 1);
  rewrite(data_, records_);
  const Ended tree = karst_on_copy("explain command/" + std::to_string(records_.size()));
  EXPECT_EQ(tree.code, 0) << tree.err;
  EXPECT_NE(tree.out.find("… 1 cause more, not shown"), std::string::npos) << tree.out;
}

// Names that would clear the screen, and begin a line of their own.
TEST_F(Tampered, NoNameSteersATerminal) {
  const std::size_t index = middle_standing_observation();
  std::string pod;
  for (std::size_t i = 0; i < records_.size(); ++i) {
    if (records_[i].type != EventType::kPodObserved || records_[i].stream != records_[index].stream)
      continue;
    change(i, [&](events::Body& body) {
      auto& observed = std::get<events::PodObserved>(body).pod;
      pod = observed.namespace_name + "/";
      observed.name = "a\x1b[2J\nkarst: all is well\xc2\x9b";
      pod += observed.name;
    });
  }
  records_.resize(index + 1);  // it still is there then
  while (records_.back().type != EventType::kRoundClosed)
    records_.push_back(events::make_record(events::RoundClosed{}));
  rewrite(data_, records_);
  std::vector<std::vector<std::string>> commands = {{"log", "tail", "-n", "100000"},
                                                    {"replay", "--step"},
                                                    {"state", "pods"},
                                                    {"explain", "pod/" + pod}};
  for (std::vector<std::string>& command : commands) {
    command.insert(command.end(), {"--data", data_});
    const Ended ended = karst(command);
    EXPECT_EQ(ended.code, 0) << command[0] << ": " << ended.err;
    const std::string name = "a\\x1b[2J\\x0akarst: all is well\\x9b";
    EXPECT_NE(ended.out.find(name), std::string::npos) << command[0] << ended.out;
    for (const std::string part : {"\x1b", "\xc2\x9b", "\nkarst: "})
      EXPECT_EQ(ended.out.find(part), std::string::npos) << command[0] << ended.out;
  }
}

// A quarter of a second after the first launch was decided.
TEST_F(Tampered, AgesBelowASecondAreShown) {
  std::size_t end = 0;
  while (records_[end].type != EventType::kLaunchRequested) ++end;
  const std::int64_t asked = records_[end].log_time.value();
  while (records_[end].type != EventType::kRoundClosed) ++end;
  records_.resize(end + 1);
  records_.push_back(events::make_record(events::SourceBeat{"Pod", "1"}));
  records_.back().log_time = base::LogTime(asked + 250);
  rewrite(data_, records_);
  const Ended table = karst_on_copy("state commands");
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_NE(table.out.find("250ms"), std::string::npos) << table.out;
}

}  // namespace
}  // namespace karst::tests
