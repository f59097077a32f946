#include "daemon/access.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <mutex>

#include "daemon/system_clock.h"
#include "tests/events/few_files.h"
#include "tests/events/log_fixture.h"

namespace karst::daemon {
namespace {

using events::testing::read_file;
using events::testing::write_file;

class AccessTest : public ::testing::Test {
 protected:
  std::unique_ptr<AccessServer> serve(bool takes = true) {
    auto server = AccessServer::listen(data_, [this, takes](events::AccessRecorded access) {
      const std::lock_guard lock(mutex_);
      if (takes) recorded_.push_back(access.user + " | " + access.command);
      return takes;
    });
    EXPECT_TRUE(server) << server.error().message;
    return server ? std::move(*server) : nullptr;
  }
  // What the server says to these bytes, sent as they are.
  std::string answer_to(std::string_view bytes) {
    const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = data_ + "/access.sock";
    EXPECT_LT(path.size(), sizeof(address.sun_path));
    path.copy(address.sun_path, path.size());
    EXPECT_EQ(connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
    shutdown(socket, SHUT_WR);
    std::string answer(16, '\0');
    const ssize_t size = recv(socket, answer.data(), answer.size(), MSG_WAITALL);
    answer.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    close(socket);
    return answer;
  }
  std::vector<std::string> recorded() {
    const std::lock_guard lock(mutex_);
    return recorded_;
  }
  std::vector<std::string> offline() {
    std::vector<std::string> lines;
    for (const events::AccessRecorded& access : offline_accesses(data_).accesses)
      lines.push_back(access.user + " | " + access.command);
    return lines;
  }
  static std::string me() {
    const events::testing::TempFolder other;
    EXPECT_TRUE(tell_access(other / ".", "x", base::WallTime(0)));
    const std::string line = read_file(other / "access");
    return line.substr(line.find('\t') + 1, line.rfind('\t') - line.find('\t') - 1);
  }
  events::testing::TempFolder folder_;
  const std::string data_ = folder_ / ".";
  std::mutex mutex_;
  std::vector<std::string> recorded_;
};

TEST_F(AccessTest, ARunningDaemonIsTold) {
  const auto server = serve();
  struct stat status{};
  ASSERT_EQ(stat((data_ + "/access.sock").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  ASSERT_TRUE(tell_access(data_, "audit export --format csv", base::WallTime(0)));
  EXPECT_EQ(recorded(), std::vector<std::string>{me() + " | audit export --format csv"});
  EXPECT_FALSE(std::filesystem::exists(folder_ / "access"));
}

TEST_F(AccessTest, WithoutADaemonALineIsLeftForTheNext) {
  serve().reset();  // its socket is gone with it
  EXPECT_FALSE(std::filesystem::exists(folder_ / "access.sock"));
  ASSERT_TRUE(tell_access(data_, "audit export", base::WallTime(1'800'000'000'000)));
  ASSERT_TRUE(tell_access(data_, "log\tdump\n", base::WallTime(1'800'000'001'000)));
  EXPECT_EQ(read_file(folder_ / "access"), "2027-01-15T08:00:00.000Z\t" + me() +
                                               "\taudit export\n2027-01-15T08:00:01.000Z\t" + me() +
                                               "\tlog?dump?\n");
  const std::vector<std::string> both = {
      me() + " | audit export (at 2027-01-15T08:00:00.000Z, while no daemon ran)",
      me() + " | log?dump? (at 2027-01-15T08:00:01.000Z, while no daemon ran)"};
  EXPECT_EQ(offline(), both);
  // Until it is told that they are in the log; what comes meanwhile waits.
  ASSERT_TRUE(tell_access(data_, "later", base::WallTime(1'800'000'002'000)));
  EXPECT_EQ(offline(), both);
  forget_accesses(data_);
  EXPECT_EQ(offline(), std::vector<std::string>{
                           me() + " | later (at 2027-01-15T08:00:02.000Z, while no daemon ran)"});
  forget_accesses(data_);
  EXPECT_EQ(offline(), std::vector<std::string>());
}

// What is there and cannot be read is not thrown away, and not called something else.
TEST_F(AccessTest, WhatCannotBeReadStaysForTheNextStart) {
  ASSERT_TRUE(tell_access(data_, "audit export", base::WallTime(1'800'000'000'000)));
  const OfflineAccesses refused = [&] {
    const events::testing::FewFiles limit(0);
    return offline_accesses(data_);
  }();
  ASSERT_TRUE(refused.unread);
  EXPECT_EQ(refused.unread->kind, base::Kind::kDenied);
  EXPECT_NE(refused.unread->message.find("/access.taken: Too many open files"), std::string::npos)
      << refused.unread->message;
  ASSERT_EQ(refused.accesses.size(), 1U) << "the trail says that something is missing";
  EXPECT_NE(refused.accesses[0].command.find("could not be read (Too many open files)"),
            std::string::npos)
      << refused.accesses[0].command;
  EXPECT_EQ(offline(),
            std::vector<std::string>{
                me() + " | audit export (at 2027-01-15T08:00:00.000Z, while no daemon ran)"});
}

// An admin's command writes it as root, and the daemon that reads it is not root.
TEST_F(AccessTest, WhatRootWritesIsTheFoldersOwners) {
  if (geteuid() != 0) return;  // nobody else can give files away
  ASSERT_EQ(chown(data_.c_str(), 65532, 65532), 0);
  ASSERT_TRUE(tell_access(data_, "audit export", base::WallTime(0)));
  struct stat about{};
  ASSERT_EQ(stat((data_ + "/access").c_str(), &about), 0);
  EXPECT_EQ(about.st_uid, 65532U);
  // But not what has another name elsewhere, nor what was something before.
  const std::string other = folder_ / "other";
  write_file(other, "");
  ASSERT_EQ(unlink((data_ + "/access").c_str()), 0);
  ASSERT_EQ(link(other.c_str(), (data_ + "/access").c_str()), 0);
  ASSERT_TRUE(tell_access(data_, "audit export", base::WallTime(0)));
  ASSERT_EQ(stat(other.c_str(), &about), 0);
  EXPECT_EQ(about.st_uid, 0U);
}

TEST_F(AccessTest, ADaemonThatCannotRecordItLeavesALine) {
  const auto server = serve(false);
  ASSERT_TRUE(tell_access(data_, "audit export", base::WallTime(0)));
  EXPECT_NE(read_file(folder_ / "access").find("audit export"), std::string::npos);
}

TEST_F(AccessTest, WhereNothingCanBeWrittenThatIsSaid) {
  const auto status = tell_access(folder_ / "none", "audit export", base::WallTime(0));
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("/none/access"), std::string::npos);
}

TEST_F(AccessTest, AFullFileTakesNoMoreWhichBothEndsSay) {
  ASSERT_TRUE(tell_access(data_, "first", base::WallTime(0)));
  const std::string line = read_file(data_ + "/access");
  std::string lines;
  while (lines.size() + line.size() <= kAccessFileMax - kAccessLineMax) lines += line;
  write_file(data_ + "/access", lines);
  ASSERT_TRUE(tell_access(data_, "last", base::WallTime(0)));
  lines += read_file(data_ + "/access").substr(lines.size());
  const auto refused = tell_access(data_, "one too many", base::WallTime(0));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, base::Kind::kFull);
  EXPECT_NE(refused.error().message.find("start karst on this folder"), std::string::npos);
  EXPECT_TRUE(read_file(data_ + "/access") == lines) << "what was recorded stays as it is";
  const std::vector<std::string> taken = offline();
  ASSERT_EQ(taken.size(), 3U);
  EXPECT_NE(taken[1].find("last (at "), std::string::npos) << taken[1];
  EXPECT_NE(taken[2].find("DIR/access was full"), std::string::npos) << taken[2];
  EXPECT_TRUE(tell_access(data_, "and on", base::WallTime(0))) << "in a fresh file";
}

TEST_F(AccessTest, HostileBytesAreRefused) {
  const auto server = serve();
  const std::string long_one(4'000, 'x');
  for (const std::string& bytes :
       {std::string("\n"), std::string("acces\n"), "access " + long_one + "\n", long_one,
        std::string("\0access x\n", 10)})
    EXPECT_NE(answer_to(bytes), "ok\n") << bytes.substr(0, 20);
  EXPECT_EQ(answer_to("access no end"), "");
  EXPECT_EQ(answer_to(""), "");
  EXPECT_EQ(recorded(), std::vector<std::string>());
  EXPECT_EQ(answer_to("access \x1b[2Jclear\nand more\n"), "ok\n");
  EXPECT_EQ(recorded(), std::vector<std::string>{me() + " | ?[2Jclear"});
}

TEST_F(AccessTest, ManySilentOnesHoldNobodyUpForLong) {
  const auto server = serve();
  std::vector<int> silent;
  for (std::size_t i = 0; i + 1 < kAccessConnectionsMax; ++i) {
    const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    (data_ + "/access.sock").copy(address.sun_path, sizeof(address.sun_path) - 1);
    ASSERT_EQ(connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    silent.push_back(socket);
  }
  EXPECT_EQ(answer_to("access x\n"), "ok\n");
  for (const int socket : silent) close(socket);
}

// Who asks often is held up, and all of it is recorded.
TEST_F(AccessTest, AFloodWaitsForItsPlace) {
  const auto server = serve();
  const SystemClock clock;
  const std::int64_t began = clock.monotonic_millis();
  for (std::size_t i = 0; i < 2 * kAccessPerSecondMax + 1; ++i)
    ASSERT_EQ(answer_to("access x\n"), "ok\n") << i;
  EXPECT_EQ(recorded().size(), 2 * kAccessPerSecondMax + 1);
  EXPECT_GE(clock.monotonic_millis() - began, 1990);  // never more than so many a second
}

TEST_F(AccessTest, LinesOfAFileThatAreNoneAreCounted) {
  write_file(folder_ / "access",
             "nothing\n\t\t\n2027-01-15T08:00:00Z\tann\tstate\nyesterday\tann\tstate\n" +
                 std::string(500'000, 'x'));
  EXPECT_EQ(offline(), (std::vector<std::string>{
                           "ann | state (at 2027-01-15T08:00:00Z, while no daemon ran)",
                           "unknown | 4 more, while no daemon ran: DIR/access held what karst does "
                           "not write"}));
  forget_accesses(data_);
  std::filesystem::create_symlink("/etc/passwd", folder_ / "access");
  EXPECT_EQ(offline(), std::vector<std::string>{"unknown | 1 more, while no daemon ran: DIR/access "
                                                "held what karst does not write"});
}

// A loop of readers is one event; of others there are so many, and then a number.
TEST_F(AccessTest, ManyOfAFileAreCounted) {
  std::string text;
  for (int i = 0; i < 57; ++i)
    text += "2027-01-15T08:00:0" + std::to_string(i % 10) + "Z\tann\tstate\n";
  for (std::size_t i = 0; i < kAccessOfflineMax + 9; ++i)
    text += "2027-01-15T09:00:00Z\tann\tstate --at " + std::to_string(i) + "\n";
  text += "2027-01-15T10:00:00Z\tbob\tstate\n";
  write_file(folder_ / "access", text);
  const std::vector<std::string> found = offline();
  ASSERT_EQ(found.size(), kAccessOfflineMax + 1);
  EXPECT_EQ(found.front(),
            "ann | state (57 times from 2027-01-15T08:00:00Z to 2027-01-15T08:00:06Z, while no "
            "daemon ran)");
  EXPECT_EQ(found.back(),
            "several | 11 more, up to 2027-01-15T10:00:00Z, while no daemon ran: too many to name");
}

TEST_F(AccessTest, ALongCommandSaysThatItIsCut) {
  const std::string most(kAccessCommandMax, 'x');
  EXPECT_EQ(plain_command(most), most);
  const std::string cut = plain_command(most + "y");
  EXPECT_EQ(cut.size(), kAccessCommandMax);
  EXPECT_NE(cut.find("x ... (cut: it has 513 bytes, SHA-256 "), std::string::npos) << cut;
  EXPECT_NE(cut, plain_command(most + "z"));
  EXPECT_EQ(plain_command(cut), cut);
}

// A reader must not wait for somebody at the other end of a pipe.
TEST_F(AccessTest, WhatIsNoFileIsNotWaitedFor) {
  ASSERT_EQ(mkfifo((data_ + "/access").c_str(), 0600), 0);
  const auto no_reader = tell_access(data_, "state", base::WallTime(0));
  ASSERT_FALSE(no_reader);
  EXPECT_NE(no_reader.error().message.find("/access is no regular file"), std::string::npos);
  const int reader = open((data_ + "/access").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  EXPECT_FALSE(tell_access(data_, "state", base::WallTime(0)));
  close(reader);
  EXPECT_EQ(offline().size(), 1U) << "and what was there is said";
}

}  // namespace
}  // namespace karst::daemon
