// What `karst audit export` and `karst log dump` take for times and filters, and what they say of
// filters that fit nothing, or cannot.
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>

#include "tests/tools/story.h"

namespace karst::tests {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The output is an empty one of its format; the talk is on stderr.
TEST(Export, ThatNothingFitsIsSaid) {
  const TempFolder folder;
  const std::vector<std::string> jsonl = {"audit", "export"};
  const std::vector<std::string> csv = {"audit", "export", "--format", "csv"};
  const std::vector<std::string> sqlite = {"audit",  "export", "--format",
                                           "sqlite", "--out",  folder / "db"};
  const struct {
    std::vector<std::string> command;
    std::vector<std::string> filter;
    std::string asked;
    std::size_t lines;  // of stdout
  } cases[] = {
      {jsonl, {"--subject", "pod/no/where"}, "subject=pod/no/where", 2},
      {csv, {"--subject", "node/none"}, "subject=node/none", 1},
      {csv, {"--from", "99999999"}, "from=99999999", 1},
      {csv, {"--from", "5", "--to", "3"}, "from=5 to=3", 1},
      {csv, {"--to", "1999-01-01T00:00:00Z"}, "to=1999-01-01T00:00:00Z", 1},
      {csv, {"--kind", "LogTrimmed"}, "kind=LogTrimmed", 1},
      {sqlite, {"--kind", "LogTrimmed"}, "kind=LogTrimmed", 0},
      {{"log", "dump"}, {"--from", "99999999"}, "from=99999999", 0},
  };
  for (const auto& c : cases) {
    std::vector<std::string> words = c.command;
    words.insert(words.end(), c.filter.begin(), c.filter.end());
    words.insert(words.end(), {"--data", story()});
    const Ended ended = karst(words);
    EXPECT_EQ(ended.code, 0) << c.asked << ended.err;
    EXPECT_TRUE(has(ended.err, "no event fits what was asked for: " + c.asked +
                                   "; the log has the positions 1 to "))
        << c.asked << ": " << ended.err;
    EXPECT_EQ(lines_of(ended.out).size(), c.lines) << c.asked;
  }
  for (const auto& command : {jsonl, csv, {"log", "dump"}}) {
    std::vector<std::string> words = command;
    words.insert(words.end(), {"--from", "3", "--data", story()});
    EXPECT_FALSE(has(karst(words).err, "no event fits")) << command.back();
  }
}

TEST(Export, ASubjectThatIsNoneIsRefused) {
  const struct {
    std::string subject;
    std::string said;
  } cases[] = {
      {"command/1", "--subject: command/1: no command, at that position is LogCreated"},
      {"command/99999999", "--subject: command/99999999: expected the id of a command"},
      {"command/x", "expected command/ID, with the ID of a command of this log"},
      {"command/abc-7", "expected command/ID, with the ID of a command of this log"},
      {"service/x", "expected pod/NAMESPACE/NAME, node/NAME, nodeclaim/NAME, nodepool/NAME"},
  };
  for (const auto& c : cases)
    for (const std::string format : {"jsonl", "csv"}) {
      const Ended ended =
          karst({"audit", "export", "--format", format, "--subject", c.subject, "--data", story()});
      EXPECT_EQ(ended.code, 2) << c.subject;
      EXPECT_TRUE(has(ended.err, c.said)) << c.subject << ": " << ended.err;
      EXPECT_EQ(ended.out, "") << c.subject;
    }
}

// A millisecond and a part of it is that millisecond, in every option that takes a time.
TEST(Export, FractionsOfAMillisecondAreCutOff) {
  const Ended stat = karst({"log", "stat", "--data", story(), "-o", "json"});
  const std::size_t at = stat.out.find("\"last\": \"") + 9;
  const std::string last = stat.out.substr(at, stat.out.find('"', at) - at);
  std::string finer = last;
  ASSERT_TRUE(finer.ends_with("Z")) << stat.out;
  finer.insert(finer.size() - 1, "999999999");
  const auto from = [](const std::string& time) {
    return karst({"audit", "export", "--format", "csv", "--from", time, "--data", story()});
  };
  EXPECT_GT(lines_of(from(last).out).size(), 1U);
  EXPECT_EQ(from(finer).out, from(last).out) << from(finer).err;
  const auto state = [](const std::string& time) {
    return karst({"state", "--at", time, "--data", story()});
  };
  EXPECT_EQ(state(finer).code, 0) << state(finer).err;
  EXPECT_EQ(state(finer).out, state(last).out);
}

model::DisruptionBudget budget_of(const std::string& namespace_name, const std::string& name) {
  model::DisruptionBudget budget;
  budget.namespace_name = namespace_name;
  budget.name = name;
  budget.uid = "budget-uid";
  return budget;
}
std::string without(std::string text, const std::string& part) {
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part))
    text.erase(at, part.size());
  return text;
}

// Names of workloads are in what was refused, and in the words of who read the trail.
TEST(Export, NoPlantedNameIsShownWhereWorkloadsAreWithheld) {
  const TempFolder folder;
  const std::string data = folder / "data";
  std::filesystem::copy(story(), data, std::filesystem::copy_options::recursive);
  std::vector<events::Record> records = records_of(data);
  for (const events::Body& body :
       {events::Body(events::AccessRecorded{"auditor", "explain pod/payroll/secret-job"}),
        events::Body(events::InputRefused{"Pod", "payroll/secret-job", "payroll: no cpu", "d"}),
        events::Body(events::ObjectObserved{budget_of("payroll", "secret-job")}),
        events::Body(events::ObjectGone{model::key_of(budget_of("payroll", "secret-job"))})}) {
    events::Record record = events::make_record(body);
    record.log_time = records.back().log_time;
    records.push_back(std::move(record));
  }
  rewrite(data, records);
  for (const std::string format : {"jsonl", "csv", "cloudevents", "cloudevents-batch"}) {
    std::vector<std::string> words = {"audit", "export", "--format", format, "--data", data};
    EXPECT_TRUE(has(karst(words).out, "secret-job")) << format;
    words.insert(words.end(), {"--redact", "workloads"});
    const Ended ended = karst(words);
    EXPECT_EQ(ended.code, 0) << ended.err;
    // A trail proves its streams, with the names that are in them, and says so.
    const bool trail = format == "jsonl";
    EXPECT_EQ(has(ended.err, "names in streams"), trail) << ended.err;
    const std::string stream = "poddisruptionbudget/payroll/secret-job";
    EXPECT_EQ(has(ended.out, stream), trail);
    const std::string shown = trail ? without(ended.out, stream) : ended.out;
    for (const char* name : {"payroll", "secret-job", "web-0"})
      EXPECT_FALSE(has(shown, name)) << format << " shows " << name;
    if (format != "jsonl") continue;
    write_file(folder / "trail", ended.out);
    const Ended verified = karst({"audit", "verify", folder / "trail"});
    EXPECT_EQ(verified.code, 0) << verified.err;
    EXPECT_TRUE(has(verified.out, "proven      all ")) << verified.out;
  }
}

TEST(Export, AFileThatCannotBeMadeIsNamedAsGiven) {
  const TempFolder folder;
  for (const std::string format : {"csv", "sqlite", "parquet"}) {
    const Ended ended = karst(
        {"audit", "export", "--format", format, "--data", story(), "--out", folder / "none/x"});
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_TRUE(has(ended.err, "--out " + (folder / "none/x") + ": cannot be made")) << ended.err;
    EXPECT_TRUE(has(ended.err, "expected a file in a folder that exists")) << ended.err;
    EXPECT_FALSE(has(ended.err, ".part")) << ended.err;
  }
}

// A follower ends with a signal only; what other readers leave that are killed goes with the next.
TEST(Export, NoReaderLeavesItsScratchBehind) {
  const TempFolder folder;
  const std::string scratch = folder / "scratch";
  std::filesystem::create_directory(scratch);
  const std::vector<std::string> follow = {"log",    "tail",  "-f",        "-n",   "1",
                                           "--data", story(), "--scratch", scratch};
  for (const int signal : {SIGINT, SIGTERM}) {
    Program tail(folder, follow);
    ASSERT_TRUE(tail.await_out("\n"));
    EXPECT_FALSE(std::filesystem::is_empty(scratch));
    tail.send(signal);
    EXPECT_EQ(tail.wait().code, 0);
    EXPECT_TRUE(std::filesystem::is_empty(scratch));
  }
  Program living(folder, follow);
  ASSERT_TRUE(living.await_out("\n"));
  {
    Program killed(folder, follow);
    ASSERT_TRUE(killed.await_out("\n"));
  }
  const auto count = [&] {
    const std::filesystem::directory_iterator all(scratch);
    return std::distance(begin(all), end(all));
  };
  EXPECT_EQ(count(), 2);
  EXPECT_EQ(karst({"log", "stat", "--data", story(), "--scratch", scratch}).code, 0);
  EXPECT_EQ(count(), 1) << "that of the living one stays";
}

// The trail too, which is the format that is written where none is named.
TEST(Export, ATrailGoesToAFileThatAppearsWhenItIsWhole) {
  const TempFolder folder;
  const std::string path = folder / "trail";
  const Ended made = karst({"audit", "export", "--data", story(), "--out", path});
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(made.out, "");
  EXPECT_FALSE(std::filesystem::exists(path + ".part"));
  EXPECT_EQ(karst({"audit", "verify", path}).code, 0);
  const std::string at_once = karst({"audit", "export", "--data", story()}).out;
  EXPECT_EQ(lines_of(read_file(path)).front(), lines_of(at_once).front());
  const Ended nowhere = karst({"audit", "export", "--data", story(), "--out", folder / "no/trail"});
  EXPECT_EQ(nowhere.code, 2);
  EXPECT_NE(nowhere.err.find("no/trail"), std::string::npos) << nowhere.err;
}

}  // namespace
}  // namespace karst::tests
