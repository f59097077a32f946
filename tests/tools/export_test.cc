// What `karst audit export` and `karst log dump` take for times and filters, and what they say of
// filters that fit nothing, or cannot.
#include <gtest/gtest.h>

#include "tests/tools/story.h"

namespace karst::tests {
namespace {

// A millisecond and a part of it is that millisecond, in every option that takes a time.
TEST(Export, FractionsOfAMillisecondAreCutOff) {
  const Ended stat = karst({"log", "stat", "--data", story(), "-o", "json"});
  const std::size_t at = stat.out.find("\"last\": \"") + 9;
  const std::string last = stat.out.substr(at, stat.out.find('"', at) - at);
  std::string finer = last;
  ASSERT_TRUE(finer.ends_with("Z")) << stat.out;
  finer.insert(finer.size() - 1, "999999999");
  const auto from = [](const std::string& time) {
    return karst({"audit", "export", "--format", "csv", "--from", time, "--data", story()});
  };
  EXPECT_GT(lines_of(from(last).out).size(), 1U);
  EXPECT_EQ(from(finer).out, from(last).out) << from(finer).err;
  const auto state = [](const std::string& time) {
    return karst({"state", "--at", time, "--data", story()});
  };
  EXPECT_EQ(state(finer).code, 0) << state(finer).err;
  EXPECT_EQ(state(finer).out, state(last).out);
}

}  // namespace
}  // namespace karst::tests
