// What is no JSON, or too much of it, before any reducer sees it.
#include <gtest/gtest.h>

#include <string>

#include "objects/pod.h"

namespace karst::objects {
namespace {

TEST(Parser, RefusesWhatIsTooLargeTooDeepOrNotJson) {
  Parser parser;
  EXPECT_TRUE(parser.parse(std::string(60, '[') + std::string(60, ']'), 1000));
  EXPECT_FALSE(parser.parse(std::string(70, '[') + std::string(70, ']'), 1000));
  EXPECT_FALSE(parser.parse(std::string(20'000, '[') + std::string(20'000, ']'), 100'000))
      << "after growing, too";
  EXPECT_FALSE(parser.parse("{} ", 2));
  EXPECT_FALSE(parser.parse("{\"a\":\"\xff\"}", 100));
  EXPECT_FALSE(parser.parse("", 100));
  EXPECT_TRUE(parser.parse("{}", 2)) << "usable after errors";
}

}  // namespace
}  // namespace karst::objects
