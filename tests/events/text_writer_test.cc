#include "events/text_writer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace karst::events::testing {
namespace {

std::string written(std::string text, std::size_t guess) {
  {
    TextWriter out(text, guess);
    out.put('[');
    out.put("some text");
    out.put(std::string_view());
    out.put_number(INT64_MIN);
    out.put_number(UINT64_MAX);
    out.put_number(std::uint8_t{7});
    std::memcpy(out.reserve(100), "abc???", 6);
    out.advance(3);
    out.put(']');
  }
  return text;
}

TEST(TextWriter, RoomIsMadeWhereTheGuessWasTooSmall) {
  for (std::size_t guess = 0; guess < 200; ++guess)
    EXPECT_EQ(written("before ", guess),
              "before [some text-9223372036854775808184467440737095516157abc]");
  EXPECT_EQ(written("", 0), written("", 1'000));
}

}  // namespace
}  // namespace karst::events::testing
