// `karst log archive` and `karst log restore`: what is archived is the same log again.
#include <gtest/gtest.h>

#include "tests/tools/story.h"

namespace karst::tests {
namespace {

TEST(LogArchive, ARestoredLogIsTheSameLog) {
  TempFolder folder;
  const std::string archive = folder / "archive", again = folder / "again";
  const Ended part = karst(
      {"log", "archive", "--data", story(), "--archive", archive, "--until", "100", "-o", "json"});
  EXPECT_EQ(part.code, 0) << part.err;
  EXPECT_NE(part.out.find("\"archived_to\": 100"), std::string::npos) << part.out;
  const Ended rest = karst({"log", "archive", "--data", story(), "--archive", archive});
  EXPECT_EQ(rest.code, 0) << rest.err;
  const Ended restored = karst({"log", "restore", "--archive", archive, "--data", again});
  EXPECT_EQ(restored.code, 0) << restored.err;

  const Ended was = karst({"log", "dump", "--data", story()});
  const Ended is = karst({"log", "dump", "--data", again});
  EXPECT_GT(lines_of(was.out).size(), 100U);
  EXPECT_TRUE(was.out == is.out) << lines_of(was.out).size() << " lines, restored "
                                 << lines_of(is.out).size();
  const Ended verified = karst({"replay", "--data", again, "--verify"});
  EXPECT_EQ(verified.code, 0) << verified.err;

  const Ended nothing =
      karst({"log", "archive", "--data", again, "--archive", archive, "-o", "json"});
  EXPECT_EQ(nothing.code, 0) << nothing.err;
  EXPECT_NE(nothing.out.find("\"sealed_segments\": 0"), std::string::npos) << nothing.out;
}

TEST(LogArchive, AnArchiveOfAnotherHistoryIsRefused) {
  TempFolder folder;
  const std::string archive = folder / "archive", data = folder / "data";
  ASSERT_EQ(karst({"log", "archive", "--data", story(), "--archive", archive}).code, 0);
  copy_of_another_history(story(), data);
  const Ended sealed = karst({"log", "archive", "--data", data, "--archive", archive});
  EXPECT_EQ(sealed.code, 2) << sealed.out;
  EXPECT_TRUE(says(sealed, archive + ": is the archive of another history of log ")) << sealed.err;
  EXPECT_TRUE(says(sealed, "name an empty folder with --archive")) << sealed.err;
  const Ended trimmed =
      karst({"log", "trim", "--data", data, "--archive", archive, "--before", "257", "--dry-run"});
  EXPECT_EQ(trimmed.code, 2) << trimmed.out;
  EXPECT_TRUE(says(trimmed, "another history")) << "before where they part: " << trimmed.err;
  const Ended expired = karst({"log", "expire", "--data", data, "--archive", archive, "--before",
                               "2020-01-01T00:00:00Z", "--dry-run"});
  EXPECT_EQ(expired.code, 2) << expired.out;
  EXPECT_TRUE(says(expired, "another history")) << expired.err;
}

TEST(LogArchive, SaysWhatIsWrong) {
  TempFolder folder;
  write_file(folder / "notes", "mine");
  const std::string place = (folder / "");
  struct Case {
    std::vector<std::string> arguments;
    int code;
    std::string part;  // of stderr
  };
  const std::string archive = folder / "archive";
  ASSERT_EQ(karst({"log", "archive", "--data", story(), "--archive", archive}).code, 0);
  const Case cases[] = {
      {{"log", "archive", "--data", story(), "--archive", place}, 2, "there is notes"},
      {{"log", "archive", "--data", story(), "--archive", archive, "--until", "99999999"},
       2,
       "--until"},
      {{"log", "restore", "--archive", folder / "none", "--data", folder / "new"},
       2,
       "holds no archive"},
      {{"log", "restore", "--archive", archive, "--data", story()}, 2, "is not empty"},
      {{"log", "restore", "--data", folder / "new"}, 2, "--archive"},
  };
  for (const Case& c : cases) {
    const Ended ended = karst(c.arguments);
    EXPECT_EQ(ended.code, c.code) << ended.err;
    EXPECT_NE(ended.err.find(c.part), std::string::npos) << ended.err;
  }
}

// Who was killed while beginning one left this; a new volume has that.
TEST(LogArchive, BeginsWhereOneWasBegunAndInANewVolume) {
  TempFolder folder;
  const std::string archive = folder / "archive";
  std::filesystem::create_directories(archive + "/lost+found");
  write_file(archive + "/log.new", "karst arch");
  const Ended ended = karst({"log", "archive", "--data", story(), "--archive", archive});
  EXPECT_EQ(ended.code, 0) << ended.err;
}

// Another secret would make another tree of the same events.
TEST(LogArchive, ADamagedSecretIsFound) {
  TempFolder folder;
  const std::string archive = folder / "archive";
  ASSERT_EQ(karst({"log", "archive", "--data", story(), "--archive", archive}).code, 0);
  const std::string good = read_file(archive + "/log");
  std::string bad = good;
  char& digit = bad[bad.find("secret ") + 20];
  digit = digit == '0' ? '1' : '0';
  write_file(archive + "/log", bad);
  const Ended damaged = karst({"log", "restore", "--archive", archive, "--data", folder / "new"});
  EXPECT_EQ(damaged.code, 3) << damaged.out;
  EXPECT_NE(damaged.err.find("is damaged"), std::string::npos) << damaged.err;
  write_file(archive + "/log", "karst archive 2\n" + good.substr(good.find('\n') + 1));
  const Ended newer = karst({"log", "restore", "--archive", archive, "--data", folder / "new"});
  EXPECT_EQ(newer.code, 3) << newer.out;
  EXPECT_NE(newer.err.find("of a later karst"), std::string::npos) << newer.err;
}

TEST(LogArchive, ADamagedSegmentIsNamedAndNotRestored) {
  TempFolder folder;
  const std::string archive = folder / "archive";
  ASSERT_EQ(karst({"log", "archive", "--data", story(), "--archive", archive}).code, 0);
  std::string segment;
  for (const auto& entry : std::filesystem::directory_iterator(archive))
    if (entry.path().extension() == ".seg") segment = entry.path();
  ASSERT_FALSE(segment.empty());
  std::string bytes = read_file(segment);
  bytes[bytes.size() / 2] ^= 4;
  write_file(segment, bytes);
  const Ended ended = karst({"log", "restore", "--archive", archive, "--data", folder / "again"});
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_NE(ended.err.find(segment), std::string::npos) << ended.err;
}

// What was there before stays: an empty folder, and all folders with anything of somebody else's.
TEST(LogArchive, AFailedRestoreIsInNobodysWay) {
  TempFolder folder;
  const std::string archive = folder / "archive", made = folder / "made", empty = folder / "empty";
  ASSERT_EQ(karst({"log", "archive", "--data", story(), "--archive", archive}).code, 0);
  std::string segment;
  for (const auto& entry : std::filesystem::directory_iterator(archive))
    if (entry.path().extension() == ".seg") segment = entry.path();
  const std::string good = read_file(segment);
  std::string bad = good;
  bad[bad.size() / 2] ^= 4;
  std::filesystem::create_directory(empty);
  const auto restore = [&](const std::string& to) {
    return karst({"log", "restore", "--archive", archive, "--data", to});
  };
  write_file(segment, bad);
  EXPECT_EQ(restore(made).code, 3);
  EXPECT_FALSE(std::filesystem::exists(made));
  EXPECT_EQ(restore(empty).code, 3);
  ASSERT_TRUE(std::filesystem::exists(empty));
  EXPECT_TRUE(std::filesystem::is_empty(empty));
  write_file(segment, good);
  const std::string was = karst({"log", "dump", "--data", story()}).out;
  for (const std::string& to : {made, empty}) {
    const Ended again = restore(to);
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_TRUE(karst({"log", "dump", "--data", to}).out == was);
    EXPECT_EQ(restore(to).code, 2) << "a whole log is never restored over";
  }
  std::filesystem::create_directory(folder / "mine");
  write_file(folder / "mine/restoring", "a thesis\n");
  EXPECT_EQ(restore(folder / "mine").code, 2);
  EXPECT_EQ(read_file(folder / "mine/restoring"), "a thesis\n");
}

TEST(LogArchive, AKilledRestoreIsNoLogAndBeginsAgain) {
  TempFolder folder;
  const std::string archive = folder / "archive", data = folder / "data";
  ASSERT_EQ(karst({"log", "archive", "--data", story(), "--archive", archive}).code, 0);
  ASSERT_EQ(karst({"log", "restore", "--archive", archive, "--data", data}).code, 0);
  // As the kill leaves it: files of a database, and the mark.
  write_file(data + "/restoring",
             "karst log restore has not ended: this folder holds a part of a log\n");
  const std::vector<std::vector<std::string>> commands = {
      {"log", "stat", "--data", data}, {"run", "--embedded", "--for", "1s", "--data", data}};
  for (const auto& command : commands) {
    const Ended refused = karst(command);
    EXPECT_EQ(refused.code, 2) << refused.out;
    EXPECT_NE(refused.err.find("a restore into it was cut short"), std::string::npos)
        << refused.err;
  }
  const Ended again = karst({"log", "restore", "--archive", archive, "--data", data});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(karst({"replay", "--verify", "--data", data}).code, 0);
}

}  // namespace
}  // namespace karst::tests
