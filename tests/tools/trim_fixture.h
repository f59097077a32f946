// A log with a restart in it, archived, to be trimmed by the program.
#pragma once

#include <gtest/gtest.h>

#include "tests/tools/json.h"
#include "tests/tools/story.h"

namespace karst::tests {

inline constexpr std::uint64_t kLongStory = 1'100;  // events; the tests trim up to the thousandth

// Two runs, so that there is a restart in it.
inline const std::string& long_story() {
  static const TempFolder folder;
  static const std::string data = [] {
    const std::string path = folder / "data";
    run_embedded(path,
                 {.span = std::chrono::seconds(3), .speed = 60, .runs = 2, .events = kLongStory});
    return path;
  }();
  return data;
}

class TrimFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::copy(long_story(), data_, std::filesystem::copy_options::recursive);
    last_ = std::stoull(summary({"log", "stat"})["events"].dump());
    ASSERT_GT(last_, kLongStory);
    ASSERT_EQ(archive().code, 0);
  }
  Ended archive() { return karst({"log", "archive", "--data", data_, "--archive", archive_}); }
  Ended trim(const std::vector<std::string>& more) {
    std::vector<std::string> all = {"log",       "trim",   "--data", data_,
                                    "--archive", archive_, "-o",     "json"};
    all.insert(all.end(), more.begin(), more.end());
    return karst(all);
  }
  Json summary(std::vector<std::string> command, const std::string& data = {}) {
    command.insert(command.end(), {"--data", data.empty() ? data_ : data, "-o", "json"});
    const Ended ended = karst(command);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return Json::parse(ended.out, nullptr, false);
  }
  Json state_at(std::uint64_t position, const std::string& data = {}) {
    return summary({"state", "--at", std::to_string(position)}, data);
  }

  TempFolder folder_;
  const std::string data_ = folder_ / "data", archive_ = folder_ / "archive";
  std::uint64_t last_ = 0;  // position of the whole log
};

}  // namespace karst::tests
