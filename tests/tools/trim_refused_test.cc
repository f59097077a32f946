// `karst log trim`: nothing goes that the archive does not hold as the log has it.
#include <functional>

#include "tests/tools/trim_fixture.h"

namespace karst::tests {
namespace {

class TrimRefused : public TrimFixture {};

TEST_F(TrimRefused, RefusesWhatIsNotAllInTheArchive) {
  const auto segment = [&] {
    for (const auto& entry : std::filesystem::directory_iterator(archive_))
      if (entry.path().extension() == ".seg") return entry.path().string();
    return std::string();
  };
  // Shorter segments, so that one between can be missing.
  std::filesystem::remove_all(archive_);
  for (const char* until : {"100", "400", "500"})
    ASSERT_EQ(
        karst({"log", "archive", "--data", data_, "--archive", archive_, "--until", until}).code,
        0);
  const std::string sound = folder_ / "sound";
  std::filesystem::copy(archive_, sound);
  const auto second = [&] { return archive_ + "/00000000000000000101-00000000000000000400.seg"; };
  struct Case {
    const char* name;
    std::function<void()> spoil;
    std::vector<std::string> more;
    int code;
    std::string part;
  };
  const std::string other = folder_ / "other";
  ASSERT_EQ(karst({"log", "archive", "--data", story(), "--archive", other}).code, 0);
  const Case cases[] = {
      {"too short", [] {}, {"--before", "513"}, 2, "holds the positions 1 to 500"},
      {"missing",
       [&] { std::filesystem::remove(second()); },
       {"--before", "257"},
       3,
       "the segment that begins at position 101 is missing"},
      {"damaged",
       [&] {
         std::string bytes = read_file(second());
         bytes[bytes.size() / 2] ^= 1;
         write_file(second(), bytes);
       },
       {"--before", "257"},
       3,
       "00000000000000000101"},
      {"of another log",
       [&] {
         std::filesystem::remove_all(archive_);
         std::filesystem::copy(other, archive_);
       },
       {"--before", "257"},
       2,
       "this is log"},
      {"of another log under this one's name",
       [&] {
         std::filesystem::copy_file(other + "/log", folder_ / "log-file",
                                    std::filesystem::copy_options::overwrite_existing);
         const std::string own = read_file(archive_ + "/log");
         std::filesystem::remove_all(archive_);
         std::filesystem::copy(other, archive_);
         write_file(archive_ + "/log", own);
       },
       {"--before", "257"},
       3,
       "of log"},
      {"none",
       [&] { std::filesystem::remove_all(archive_); },
       {"--before", "257"},
       2,
       "holds no archive"},
      {"no place", [] {}, {}, 2, "--before"},
      {"two places", [] {}, {"--before", "257", "--keep", "1h"}, 2, "--keep"},
      {"no duration", [] {}, {"--keep", "long"}, 2, "expected a duration"},
      {"beyond", [] {}, {"--before", "99999999"}, 2, "the log has the positions 1 to"},
  };
  for (const Case& c : cases) {
    std::filesystem::remove_all(archive_);
    std::filesystem::copy(sound, archive_);
    c.spoil();
    const Ended ended = trim(c.more);
    EXPECT_EQ(ended.code, c.code) << c.name << ": " << ended.err;
    EXPECT_TRUE(says(ended, c.part)) << c.name << ": " << ended.err;
    EXPECT_EQ(summary({"log", "stat"})["events"], last_) << c.name;
  }
  EXPECT_FALSE(segment().empty());
}

// The events are compared, too: an archive of the same log, whole in itself, with another history.
TEST_F(TrimRefused, RefusesAnArchiveOfAnotherHistory) {
  std::vector<events::Record> records = records_of(data_);
  records[99].wall_time = base::WallTime(records[99].wall_time.value() + 1);
  const std::string changed = folder_ / "changed";
  std::filesystem::copy(data_, changed, std::filesystem::copy_options::recursive);
  rewrite(changed, records);
  std::filesystem::remove_all(archive_);
  ASSERT_EQ(karst({"log", "archive", "--data", changed, "--archive", archive_}).code, 0);
  const Ended ended = trim({"--before", "257"});
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_TRUE(says(ended, "holds another event at position 100 than the log")) << ended.err;
  EXPECT_EQ(summary({"log", "stat"})["events"], last_);
}

TEST_F(TrimRefused, NotUnderADaemon) {
  Program daemon(
      folder_, {"run", "--embedded", "--data", data_, "--speed", "10", "--listen", "127.0.0.1:0"});
  ASSERT_TRUE(daemon.await_err("starts"));
  const Ended ended = trim({"--before", "257"});
  EXPECT_EQ(ended.code, 4) << ended.err;
  const Ended look = trim({"--before", "257", "--dry-run"});
  EXPECT_EQ(look.code, 0) << look.err;
  daemon.send(SIGTERM);
  EXPECT_EQ(daemon.wait().code, 0);
}

TEST(TrimOptions, OfTheDaemonAreCheckedBeforeAnythingIsMade) {
  const TempFolder folder;
  const std::string data = folder / "data";
  struct Case {
    std::vector<std::string> more;
    std::string part;
  };
  const Case cases[] = {{{"--retain", "standard"}, "expected --archive FOLDER with it"},
                        {{"--archive", folder / "a", "--retain", "soon"}, "expected standard"}};
  for (const Case& c : cases) {
    std::vector<std::string> command = {"run", "--embedded", "--data", data};
    command.insert(command.end(), c.more.begin(), c.more.end());
    const Ended ended = karst(command);
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_TRUE(says(ended, c.part)) << ended.err;
    EXPECT_FALSE(std::filesystem::exists(data));
  }
}

}  // namespace
}  // namespace karst::tests
