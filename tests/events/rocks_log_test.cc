// The log on disk among processes: its lock, its readers, crashes, a full disk, newer versions.
#include "events/rocks_log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "base/set_digest.h"
#include "tests/events/log_fixture.h"

namespace karst::events::testing {
namespace {

TEST(RocksLog, ASecondProcessIsToldWhoHoldsIt) {
  TempFolder folder;
  auto log = RocksLog::open(options_for(folder / "log"));
  ASSERT_TRUE(log) << log.error().message;
  const std::string holder = "process " + std::to_string(getpid());
  EXPECT_EQ(run_in_child([&] {
              const auto second = RocksLog::open(options_for(folder / "log"));
              if (second) return 1;
              EXPECT_EQ(second.error().kind, base::Kind::kTaken);
              EXPECT_NE(second.error().message.find(holder), std::string::npos)
                  << second.error().message;
              return 0;
            }),
            0);
  log->reset();
  EXPECT_TRUE(RocksLog::open(options_for(folder / "log")));
}

unsigned mode_of(const std::string& path) {
  return static_cast<unsigned>(std::filesystem::status(path).permissions()) & 0777;
}

TEST(RocksLog, TheFolderIsItsOwnersAlone) {
  TempFolder folder;
  const mode_t before = umask(0);
  auto options = options_for(folder / "log");
  options.ballast_bytes = 4096;
  EXPECT_TRUE(RocksLog::open(options));
  EXPECT_EQ(mode_of(folder / "log"), 0700U) << "made here";
  for (const std::string file : {"lock", "high-water", "ballast"})
    EXPECT_EQ(mode_of((folder / "log") + "/" + file), 0600U) << file;
  chmod((folder / "log").c_str(), 0755);
  EXPECT_TRUE(RocksLog::open(options));
  EXPECT_EQ(mode_of(folder / "log"), 0700U) << "an older log";
  ASSERT_EQ(mkdir((folder / "shared").c_str(), 0755), 0);
  write_file((folder / "shared") + "/other", "of somebody");
  EXPECT_TRUE(RocksLog::open(options_for(folder / "shared")));
  EXPECT_EQ(mode_of(folder / "shared"), 0755U) << "there was something in it before";
  umask(before);
}

TEST(RocksLog, TheIdIsDrawnOnceAndTheSecretKept) {
  TempFolder folder;
  std::string id;
  std::string secret;
  {
    const auto log = RocksLog::open(options_for(folder / "a"));
    ASSERT_TRUE(log);
    EXPECT_TRUE((*log)->open_report().created);
    id = (*log)->id().str();
    secret = (*log)->secret();
  }
  EXPECT_EQ(id.size(), 26u);
  EXPECT_EQ(id.find_first_not_of("abcdefghijklmnopqrstuvwxyz234567"), std::string::npos);
  EXPECT_EQ(secret.size(), 32u);
  const auto again = RocksLog::open(options_for(folder / "a"));
  ASSERT_TRUE(again);
  EXPECT_FALSE((*again)->open_report().created);
  EXPECT_EQ((*again)->id().str(), id);
  EXPECT_EQ((*again)->secret(), secret);
  const auto other = RocksLog::open(options_for(folder / "b"));
  ASSERT_TRUE(other);
  EXPECT_NE((*other)->id().str(), id);
  EXPECT_NE((*other)->secret(), secret);
}

TEST(RocksLog, AMakingThatWasCutShortIsFinished) {
  TempFolder folder;
  ASSERT_TRUE(RocksLog::open(options_for(folder / "log")));
  std::filesystem::remove(folder / "log/high-water");  // it is made last
  const auto log = RocksLog::open(options_for(folder / "log"));
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_EQ(*read_all(**log), 1u);
  EXPECT_EQ((*log)->end(), model::Position(2));
}

TEST(RocksLog, AReaderWorksBesideTheWriter) {
  TempFolder folder;
  auto log = RocksLog::open(options_for(folder / "log"));
  ASSERT_TRUE(log);
  ASSERT_TRUE(append_numbered(**log, 10, Durability::kSynced));
  EXPECT_EQ(run_in_child([&] {
              auto reader = RocksLog::open_reader(folder / "log", folder / "scratch");
              if (!reader) return ADD_FAILURE() << reader.error().message, 1;
              EXPECT_EQ((*reader)->id(), (*log)->id());
              EXPECT_EQ(*read_all(**reader), 11u);
              const auto refused = append_numbered(**reader, 1, Durability::kSynced);
              EXPECT_FALSE(refused);
              EXPECT_EQ(refused.error().kind, base::Kind::kDenied);
              return 0;
            }),
            0);
  auto reader = RocksLog::open_reader(folder / "log", folder / "scratch");
  ASSERT_TRUE(reader) << reader.error().message;
  ASSERT_TRUE(append_numbered(**log, 5, Durability::kBuffered));
  ASSERT_TRUE((*reader)->refresh());
  EXPECT_EQ(*read_all(**reader), 16u);
  EXPECT_EQ((*reader)->end(), model::Position(17));
}

TEST(RocksLog, AReaderOfNothingSaysSo) {
  TempFolder folder;
  const auto reader = RocksLog::open_reader(folder / "nothing", folder / "scratch");
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().kind, base::Kind::kInvalid);
  EXPECT_NE(reader.error().message.find("nothing holds no log"), std::string::npos)
      << reader.error().message;
}

TEST(RocksLog, AFileInsteadOfAFolderIsRefused) {
  TempFolder folder;
  write_file(folder / "file", "text");
  const auto log = RocksLog::open(options_for(folder / "file"));
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().kind, base::Kind::kInvalid);
  EXPECT_NE(log.error().message.find("file"), std::string::npos);
}

TEST(RocksLog, AnUnreadableFolderIsDenied) {
  TempFolder folder;
  std::filesystem::create_directory(folder / "log");
  ASSERT_EQ(chmod((folder / "log").c_str(), 0), 0);
  EXPECT_EQ(run_in_child([&] {
              if (geteuid() == 0 && setuid(65534) != 0) return 1;
              const auto log = RocksLog::open(options_for(folder / "log"));
              EXPECT_FALSE(log);
              EXPECT_EQ(log.error().kind, base::Kind::kDenied) << log.error().message;
              EXPECT_NE(log.error().message.find(folder / "log"), std::string::npos);
              const auto reader =
                  RocksLog::open_reader(folder / "log", "/tmp/karst-unused-scratch");
              EXPECT_FALSE(reader);
              EXPECT_EQ(reader.error().kind, base::Kind::kDenied) << reader.error().message;
              return 0;
            }),
            0);
  ASSERT_EQ(chmod((folder / "log").c_str(), 0700), 0);
}

TEST(RocksLog, ALogOfANewerFormatIsLeftAlone) {
  TempFolder folder;
  ASSERT_TRUE(RocksLog::open(options_for(folder / "log")));
  std::string bytes = read_file(folder / "log/high-water");
  // The later slot of the two says format 2 from now on.
  for (const std::size_t slot : {std::size_t{0}, std::size_t{4096}}) {
    if (bytes.compare(slot, 5, "karst") != 0) continue;
    bytes[slot + 5] = 2;
    const std::uint64_t sum = base::hash128(std::string_view(bytes).substr(slot, 56)).low;
    for (std::size_t i = 0; i < 8; ++i) bytes[slot + 56 + i] = static_cast<char>(sum >> (8 * i));
  }
  write_file(folder / "log/high-water", bytes);
  const auto log = RocksLog::open(options_for(folder / "log"));
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().kind, base::Kind::kNewer);
  EXPECT_NE(log.error().message.find("format 2"), std::string::npos) << log.error().message;
}

TEST(RocksLog, AnEventOfANewerTypeIsNewerAndNotDamage) {
  TempFolder folder;
  {
    auto log = RocksLog::open(options_for(folder / "log"));
    Record record = record_for(2);
    record.type = static_cast<EventType>(999);
    ASSERT_TRUE((*log)->append({&record, 1}, Durability::kSynced));
  }
  const auto log = RocksLog::open(options_for(folder / "log"));
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().kind, base::Kind::kNewer);
  EXPECT_NE(log.error().message.find("position 2"), std::string::npos) << log.error().message;
}

// Appends synced batches for ever and says each acknowledged position on `pipe`.
[[noreturn]] void append_until_killed(const std::string& path, int pipe) {
  auto log = RocksLog::open(options_for(path));
  if (!log) _exit(1);
  for (std::uint64_t round = 0;; ++round) {
    if (!append_numbered(**log, 1 + round % 3,
                         round % 4 == 0 ? Durability::kBuffered : Durability::kSynced))
      _exit(2);
    if (round % 4 == 0) continue;
    const std::uint64_t last = (*log)->end().value() - 1;
    if (write(pipe, &last, sizeof(last)) != sizeof(last)) _exit(3);
  }
}

TEST(RocksLog, NothingAcknowledgedIsLostByAKill) {
  TempFolder folder;
  std::mt19937_64 random(20);
  for (int kill_number = 0; kill_number < 20; ++kill_number) {
    int pipes[2];
    ASSERT_EQ(pipe(pipes), 0);
    const pid_t child = fork();
    if (child == 0) append_until_killed(folder / "log", pipes[1]);
    close(pipes[1]);
    std::uint64_t acknowledged = 0;
    for (std::uint64_t left = 1 + random() % 100; left > 0; --left)
      if (read(pipes[0], &acknowledged, sizeof(acknowledged)) != sizeof(acknowledged)) break;
    kill(child, SIGKILL);
    // What it still said before it died was acknowledged too.
    while (read(pipes[0], &acknowledged, sizeof(acknowledged)) == sizeof(acknowledged)) continue;
    close(pipes[0]);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "it ended by itself with " << WEXITSTATUS(status);
    const auto log = RocksLog::open(options_for(folder / "log"));
    ASSERT_TRUE(log) << log.error().message;
    const auto last = read_all(**log);
    ASSERT_TRUE(last) << last.error().message;
    EXPECT_GT(acknowledged, 0u);
    EXPECT_GE(*last, acknowledged);
  }
}

// A disk of 80 MiB that only this process sees. False: this machine does not allow it.
bool mount_small_disk(const std::string& at) {
  if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  return mount("tmpfs", at.c_str(), "tmpfs", 0, "size=80m") == 0;
}

constexpr int kNoMount = 77;
constexpr std::uint64_t kSmallBallast = 32 << 20;

int fill_disk_and_go_on(const std::string& disk, Durability durability) {
  RocksLogOptions options = options_for(disk + "/log");
  options.ballast_bytes = kSmallBallast;
  auto log = RocksLog::open(options);
  EXPECT_TRUE(log && (*log)->open_report().ballast);
  base::Result<model::Position> appended = model::Position(0);
  for (int i = 0; i < 100'000 && appended; ++i)
    appended = append_numbered(**log, 20, durability, 5000);
  if (appended) return ADD_FAILURE() << "the disk was never full", 1;
  EXPECT_EQ(appended.error().kind, base::Kind::kFull) << appended.error().message;
  EXPECT_NE(appended.error().message.find(disk), std::string::npos);
  const std::uint64_t last = (*log)->end().value() - 1;
  EXPECT_EQ(*read_all(**log), last) << "part of the refused batch shows";
  const auto again = append_numbered(**log, 20, durability, 5000);
  EXPECT_FALSE(again);
  EXPECT_EQ(again.error().kind, base::Kind::kFull) << again.error().message;

  (*log)->release_ballast();
  for (int i = 0; i < 10; ++i) {
    const auto saved = append_numbered(**log, 3, durability);
    EXPECT_TRUE(saved) << saved.error().message;
  }
  EXPECT_EQ((*log)->end().value() - 1, last + 30);
  EXPECT_EQ(*read_all(**log), last + 30);
  log->reset();
  const auto reopened = RocksLog::open(options_for(disk + "/log"));
  if (!reopened) return ADD_FAILURE() << reopened.error().message, 1;
  EXPECT_EQ(*read_all(**reopened), last + 30);
  EXPECT_FALSE((*reopened)->open_report().cut);
  return 0;
}

// As above, but the log is opened again while the disk is full and the ballast is there.
int fill_disk_and_restart(const std::string& disk) {
  RocksLogOptions options = options_for(disk + "/log");
  options.ballast_bytes = kSmallBallast;
  auto log = RocksLog::open(options);
  EXPECT_TRUE(log && (*log)->open_report().ballast);
  while (append_numbered(**log, 20, Durability::kSynced, 5000)) continue;
  const std::uint64_t last = (*log)->end().value() - 1;
  log->reset();
  // Something else takes what is left.
  std::ofstream rest(disk + "/rest", std::ios::binary);
  while (rest << std::string(4096, 'x') && rest.flush()) continue;
  const auto reopened = RocksLog::open(options);
  if (!reopened) return ADD_FAILURE() << reopened.error().message, 1;
  EXPECT_FALSE((*reopened)->open_report().ballast);
  EXPECT_EQ(*read_all(**reopened), last);
  const auto saved = append_numbered(**reopened, 3, Durability::kSynced);
  EXPECT_TRUE(saved) << saved.error().message;
  return 0;
}

// As above, but the process dies while the disk is full. Forks before RocksDB has any threads.
int fill_disk_and_die(const std::string& disk) {
  int pipes[2];
  if (pipe(pipes) != 0) return 1;
  const pid_t child = fork();
  if (child == 0) {
    auto log = RocksLog::open(options_for(disk + "/log"));
    if (!log) _exit(1);
    while (append_numbered(**log, 20, Durability::kSynced, 5000)) continue;
    const std::uint64_t last = (*log)->end().value() - 1;
    _exit(write(pipes[1], &last, sizeof(last)) == sizeof(last) ? 0 : 1);
  }
  close(pipes[1]);
  std::uint64_t acknowledged = 0;
  EXPECT_EQ(read(pipes[0], &acknowledged, sizeof(acknowledged)),
            static_cast<ssize_t>(sizeof(acknowledged)));
  int status = 0;
  waitpid(child, &status, 0);
  // Elsewhere, where there is room.
  const std::string copy = disk + "-copy";
  copy_folder(disk + "/log", copy);
  const auto log = RocksLog::open(options_for(copy));
  if (!log) return ADD_FAILURE() << log.error().message, 1;
  EXPECT_GT(acknowledged, 100u);
  EXPECT_GE(*read_all(**log), acknowledged);
  return 0;
}

// Runs in a program of its own (a fork of this one would lack RocksDB's threads): a failed
// expectation is exit code 99.
template <class Function>
[[noreturn]] void on_small_disk(Function&& body) {
  int code = kNoMount;
  {
    TempFolder folder;
    std::filesystem::create_directory(folder / "disk");
    if (mount_small_disk(folder / "disk")) {
      code = body(folder / "disk");
      umount2((folder / "disk").c_str(), MNT_DETACH);
    }
  }
  // Nobody listens to expectations here; what is said on stderr the test outside repeats.
  const auto& result = *::testing::UnitTest::GetInstance()->current_test_info()->result();
  for (int i = 0; i < result.total_part_count(); ++i)
    fprintf(stderr, "line %d: %s\n", result.GetTestPartResult(i).line_number(),
            result.GetTestPartResult(i).message());
  _exit(::testing::Test::HasFailure() ? 99 : code);
}
#define EXPECT_ON_SMALL_DISK(body)                                                               \
  do {                                                                                           \
    GTEST_FLAG_SET(death_test_style, "threadsafe");                                              \
    int code = 0;                                                                                \
    const auto note = [&](int status) {                                                          \
      return WIFEXITED(status) && (code = WEXITSTATUS(status), code == 0 || code == kNoMount);   \
    };                                                                                           \
    EXPECT_EXIT(on_small_disk(body), note, "");                                                  \
    if (code == kNoMount)                                                                        \
      GTEST_SKIP() << "this machine lets nobody mount a small disk: a full disk was NOT tested"; \
  } while (false)

TEST(FullDisk, RefusesWholeBufferedBatchesAndGoesOnWhenTheBallastIsGone) {
  EXPECT_ON_SMALL_DISK(
      [](const std::string& disk) { return fill_disk_and_go_on(disk, Durability::kBuffered); });
}
TEST(FullDisk, RefusesWholeSyncedBatchesAndGoesOnWhenTheBallastIsGone) {
  EXPECT_ON_SMALL_DISK(
      [](const std::string& disk) { return fill_disk_and_go_on(disk, Durability::kSynced); });
}
TEST(FullDisk, IsOpenedAgainAtThePriceOfTheBallast) {
  EXPECT_ON_SMALL_DISK(fill_disk_and_restart);
}
TEST(FullDisk, KeepsWhatWasAcknowledgedWhenTheProcessDiesThere) {
  EXPECT_ON_SMALL_DISK(fill_disk_and_die);
}

TEST(RocksLog, TheBallastIsReallyReservedAndGivenBack) {
  TempFolder folder;
  RocksLogOptions options = options_for(folder / "log");
  options.ballast_bytes = 1 << 20;
  const auto log = RocksLog::open(options);
  ASSERT_TRUE(log);
  struct stat status{};
  ASSERT_EQ(stat((folder / "log/ballast").c_str(), &status), 0);
  EXPECT_GE(status.st_blocks * 512, 1 << 20);
  (*log)->release_ballast();
  EXPECT_NE(stat((folder / "log/ballast").c_str(), &status), 0);
}

}  // namespace
}  // namespace karst::events::testing
