// tools/quickstart and tools/build as what they say before they do anything.
#include <gtest/gtest.h>

#include "tests/tools/program.h"

namespace karst::tests {
namespace {

const std::string kTools = std::string(KARST_SOURCE_DIR) + "/tools/";

TEST(Scripts, HelpIsPrintedAndNothingDone) {
  for (const std::string script : {"quickstart", "build"}) {
    for (const std::string option : {"-h", "--help"}) {
      const Ended ended = shell(kTools + script + " " + option);
      EXPECT_EQ(ended.code, 0) << script << ended.err;
      EXPECT_TRUE(ended.out.starts_with("tools/" + script + " [")) << ended.out;
      EXPECT_LT(ended.out.size(), 1000U) << "the opening comment and no more: " << ended.out;
    }
  }
}

TEST(Scripts, WhatTheyDoNotUnderstandIsExit2) {
  for (const std::string call : {"quickstart --fast", "quickstart a b", "quickstart a 0",
                                 "quickstart a 1 2", "build --fast", "build relase"}) {
    const Ended ended = shell(kTools + call);
    EXPECT_EQ(ended.code, 2) << call << ended.err;
    EXPECT_TRUE(ended.err.starts_with("tools/")) << call << ": " << ended.err;
  }
}

TEST(Scripts, AFolderIsMeantWhereTheCallerStands) {
  const TempFolder folder;
  std::filesystem::create_directory(folder / "there");
  const Ended ended = shell("cd '" + (folder / "") + "' && " + kTools + "quickstart there 1");
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_NE(ended.err.find(folder / "there"), std::string::npos) << ended.err;
}

}  // namespace
}  // namespace karst::tests
