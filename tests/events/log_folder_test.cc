// A log's folder that cannot be made.
#include "events/log_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/events/log_fixture.h"

namespace karst::events::testing {
namespace {

TEST(LogFolder, WhereItCannotBeMadeIsSaidWithTheCure) {
  const TempFolder folder;
  ASSERT_EQ(chmod((folder / "").c_str(), 0555), 0);
  EXPECT_EQ(
      run_in_child([&] {
        if (geteuid() == 0 && setuid(65534) != 0) return 1;
        FolderLock lock;
        const auto status = lock.take(folder / "a/b");
        EXPECT_FALSE(status);
        EXPECT_EQ(status.error().kind, base::Kind::kDenied);
        const std::string& message = status.error().message;
        EXPECT_TRUE(
            message.starts_with("cannot open " + (folder / "a/b") + ": it cannot be made in "))
            << message;
        EXPECT_TRUE(message.ends_with(": Permission denied. Let user " + std::to_string(geteuid()) +
                                      ", as whom karst runs, read and write there, or give "
                                      "--data another folder"))
            << message;
        return 0;
      }),
      0);
  ASSERT_EQ(chmod((folder / "").c_str(), 0700), 0);
}

TEST(LogFolder, InAFileThereIsNone) {
  const TempFolder folder;
  write_file(folder / "file", "text");
  FolderLock lock;
  const auto status = lock.take(folder / "file/log");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, base::Kind::kInvalid);
  EXPECT_EQ(status.error().message,
            "cannot open " + (folder / "file/log") + ": it cannot be made in " + (folder / "file") +
                ": Not a directory. Expected a folder that is the log's, or can be made");
}

}  // namespace
}  // namespace karst::events::testing
