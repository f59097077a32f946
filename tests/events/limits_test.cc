// A log under the limits of its process: what the machine refuses says nothing of the log.
#include <gtest/gtest.h>

#include "events/archive.h"
#include "events/archive_files.h"
#include "tests/events/few_files.h"
#include "tests/events/log_fixture.h"

namespace karst::events::testing {
namespace {

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

// A Kind that says "never again" would end archiving until the daemon's next start.
TEST(Limits, TooFewFilesDoNotSpoilAnArchive) {
  TempFolder folder;
  const auto log = RocksLog::open(options_for(folder / "log"));
  ASSERT_TRUE(log) << log.error().message;
  ASSERT_TRUE(append_numbered(**log, 10, Durability::kSynced));
  const model::Position last((*log)->end().value() - 1);
  int refused = 0;
  for (int files = 0; files < 6; ++files) {
    const auto seal = [&]() -> base::Status {
      const std::string at = folder / ("archive" + std::to_string(files));
      auto archive = Archive::open(at, {(*log)->id(), (*log)->secret()});
      if (!archive) return base::fail(archive.error());
      const FewFiles limit(files);
      KARST_TRY(archive->same_history(**log));
      const auto sealed = archive->seal_next(**log, last);
      if (!sealed) return base::fail(sealed.error());
      return archive->same_history(**log);
    }();
    if (seal) continue;
    ++refused;
    EXPECT_EQ(seal.error().kind, base::Kind::kDenied) << files << ": " << seal.error().message;
  }
  EXPECT_GE(refused, 1);
  EXPECT_LT(refused, 6);
}

TEST(Limits, TooFewFilesDoNotSayThatAnArchiveIsNone) {
  TempFolder folder;
  const auto log = RocksLog::open(options_for(folder / "log"));
  ASSERT_TRUE(log) << log.error().message;
  ASSERT_TRUE(Archive::open(folder / "archive", {(*log)->id(), (*log)->secret()}));
  const auto refused = [&] {
    const FewFiles limit(0);
    return Archive::open_existing(folder / "archive");
  }();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, base::Kind::kDenied) << refused.error().message;
  EXPECT_EQ(refused.error().message.find("holds no archive"), std::string::npos);
  EXPECT_TRUE(Archive::open_existing(folder / "archive"));
}

// One that is stopped with the lock must not stop the daemon's keeper for ever.
TEST(Limits, WhoHoldsAnArchiveIsNotWaitedForForEver) {
  TempFolder folder;
  const auto log = RocksLog::open(options_for(folder / "log"));
  ASSERT_TRUE(log) << log.error().message;
  ASSERT_TRUE(Archive::open(folder / "archive", {(*log)->id(), (*log)->secret()}));
  {
    const auto held = ArchiveLock::take(folder / "archive");
    ASSERT_TRUE(held) << held.error().message;
    const auto second = ArchiveLock::take(folder / "archive", std::chrono::milliseconds(60));
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().kind, base::Kind::kTaken);
    EXPECT_NE(second.error().message.find("another process has held the archive"),
              std::string::npos);
  }
  EXPECT_TRUE(ArchiveLock::take(folder / "archive", std::chrono::milliseconds(0)));
}

}  // namespace
}  // namespace karst::events::testing
