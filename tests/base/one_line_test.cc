#include "base/one_line.h"

#include <gtest/gtest.h>

namespace karst::base {
namespace {

TEST(OneLine, HasNoControlCharacters) {
  struct Case {
    std::string_view text, want;
  };
  const Case cases[] = {
      {"", ""},
      {"caf\xc3\xa9 \xe2\x80\xa6 ~", "caf\xc3\xa9 \xe2\x80\xa6 ~"},
      {"a\nb\r\tc", "a\\x0ab\\x0d\\x09c"},
      {{"\x1b[2J\0\x7f", 6}, "\\x1b[2J\\x00\\x7f"},
      {"\xc2\x9b"
       "2J\xc2\xa0",
       "\\x9b"
       "2J\xc2\xa0"},
      {"a\xe2\x80\xa8"
       "b\xe2\x80\xa9",
       "a\\u2028b\\u2029"},
      {"cut \xe2\x80", "cut \xe2\x80"},
  };
  for (const Case& test : cases) EXPECT_EQ(one_line(test.text), test.want);
}

}  // namespace
}  // namespace karst::base
