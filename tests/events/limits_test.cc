// A log under the limits of its process: what the machine refuses says nothing of the log.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/events/log_fixture.h"

namespace karst::events::testing {
namespace {

// Lets the process open so many files more than it has.
class FewFiles {
 public:
  explicit FewFiles(int more) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(next);
    rlimit few = before_;
    few.rlim_cur = static_cast<rlim_t>(next + more);
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  }
  ~FewFiles() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST(Limits, TooFewFilesAreNoDamage) {
  TempFolder folder;
  {
    const auto log = RocksLog::open(options_for(folder / "log"));
    ASSERT_TRUE(log) << log.error().message;
    ASSERT_TRUE(append_numbered(**log, 1'000, Durability::kSynced));
  }
  int refused = 0;
  for (int files = 0; files < 24; ++files) {
    const auto open = [&]() -> base::Status {
      const FewFiles limit(files);
      const auto log = RocksLog::open(options_for(folder / "log"));
      return log ? base::Status() : base::fail(log.error());
    }();
    if (open) continue;
    ++refused;
    EXPECT_EQ(open.error().kind, base::Kind::kDenied) << files << ": " << open.error().message;
    EXPECT_EQ(open.error().message.find("damaged"), std::string::npos) << open.error().message;
  }
  EXPECT_GT(refused, 4);
  const auto log = RocksLog::open(options_for(folder / "log"));
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_EQ((*log)->end().value(), 1'002U);
}

}  // namespace
}  // namespace karst::events::testing
