#include "events/frames.h"

#include <gtest/gtest.h>

#include "tests/events/log_fixture.h"

namespace karst::events::testing {
namespace {

constexpr std::size_t kBlock = 32 << 10;

std::string frame(std::size_t length, char type) {
  std::string bytes = "crc.";
  bytes += {static_cast<char>(length & 0xff), static_cast<char>(length >> 8), type};
  return bytes + std::string(length, '\x06');
}

class FrameFiles : public ::testing::Test {
 protected:
  std::string said(Frames& frames) {
    const auto status = frames.check_logs();
    if (status) return "";
    EXPECT_EQ(status.error().kind, base::Kind::kCorrupt);
    return status.error().message;
  }
  std::string said(const std::string& bytes) {
    write_file(folder_ / "000004.log", bytes);
    Frames frames(folder_ / "");
    return said(frames);
  }
  TempFolder folder_;
};

TEST_F(FrameFiles, WhatIsWrittenAndWhatIsCutShortIsFine) {
  EXPECT_EQ(said(""), "");
  const std::string whole = frame(100, 1) + frame(kBlock - 107 - 7 - 3, 2) + std::string(3, '\0') +
                            frame(kBlock - 7, 3) + frame(5, 4) + frame(0, 1);
  for (std::size_t size = 0; size < whole.size(); size += 997)
    EXPECT_EQ(said(whole.substr(0, size)), "") << size;
  EXPECT_EQ(said(frame(10, 1) + std::string(3 * kBlock, '\0')), "");
}

TEST_F(FrameFiles, AFrameOfARecycledLogIsNamed) {
  for (const char type : {5, 6, 7, 8})
    EXPECT_EQ(said(frame(100, 1) + frame(50, type)),
              "000004.log: the frame at byte 107 has the type " + std::to_string(int{type}) +
                  " of a recycled log");
}

TEST_F(FrameFiles, AFrameLongerThanItsBlockIsNamed) {
  const std::string front = frame(kBlock - 7, 1) + frame(100, 1);
  EXPECT_EQ(said(front + frame(kBlock - 107 - 7, 1)), "");
  EXPECT_EQ(said(front + frame(kBlock - 107 - 6, 1)),
            "000004.log: the frame at byte 32875 has 32655 bytes, more than its block");
}

TEST_F(FrameFiles, WhatCameSinceIsLookedAtAndOtherFilesAreNot) {
  write_file(folder_ / "000004.log", frame(kBlock - 7, 1));
  write_file(folder_ / "000005.sst", frame(10, 5));
  write_file(folder_ / "MANIFEST-000001", frame(10, 1));
  Frames frames(folder_ / "");
  EXPECT_EQ(said(frames), "");
  write_file(folder_ / "000004.log", frame(kBlock - 7, 1) + frame(10, 1) + frame(10, 6));
  EXPECT_NE(said(frames), "");
  std::filesystem::remove(folder_ / "000004.log");
  EXPECT_EQ(said(frames), "");
  EXPECT_TRUE(frames.check_manifests());
  write_file(folder_ / "MANIFEST-000001", frame(10, 8));
  EXPECT_FALSE(frames.check_manifests());
}

}  // namespace
}  // namespace karst::events::testing
