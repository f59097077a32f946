#include "base/utf8.h"

#include <gtest/gtest.h>

namespace karst::base {
namespace {

TEST(Utf8, NoCharacterIsCutInTwo) {
  const std::string text = "a\xc3\xa9\xe7\x82\xb9\xf0\x9f\x98\x80";  // of 1, 2, 3 and 4 bytes
  const std::size_t whole[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};
  for (std::size_t most = 0; most < std::size(whole); ++most) {
    EXPECT_EQ(cut_utf8(text, most), text.substr(0, whole[most])) << most;
    EXPECT_TRUE(is_utf8(cut_utf8(text, most))) << most;
  }
}

TEST(Utf8, WhatBelongsToNoCharacterIsReplaced) {
  const std::string mark = "\xef\xbf\xbd";
  const std::pair<std::string, std::string> cases[] = {
      {"", ""},
      {"plain \xe7\x82\xb9", "plain \xe7\x82\xb9"},
      {"caf\xe9!", "caf" + mark + "!"},                // Latin-1
      {"cut \xe7\x82", "cut " + mark + mark},          // at the end
      {"\xc0\xaf", mark + mark},                       // overlong
      {"\xed\xa0\x80z", mark + mark + mark + "z"},     // a surrogate
      {"\xf4\x90\x80\x80", mark + mark + mark + mark}  // beyond Unicode
  };
  for (const auto& [bytes, want] : cases) {
    EXPECT_EQ(as_utf8(bytes), want);
    EXPECT_TRUE(is_utf8(as_utf8(bytes)));
  }
}

}  // namespace
}  // namespace karst::base
