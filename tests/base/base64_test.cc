#include "base/base64.h"

#include <gtest/gtest.h>

namespace karst::base {
namespace {

TEST(Base64, BothWays) {
  for (const std::string text : {"", "f", "fo", "foo", "foob", "fooba", "foobar"})
    EXPECT_EQ(decode_base64(encode_base64(text)), text);
  EXPECT_EQ(encode_base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(encode_base64("fo"), "Zm8=");
}

// One character at a time, from the bits of the whole.
std::string slowly(std::string_view bytes) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto bit = [&](std::size_t i) {
    return i / 8 < bytes.size() ? static_cast<unsigned char>(bytes[i / 8]) >> (7 - i % 8) & 1U : 0U;
  };
  std::string out;
  for (std::size_t i = 0; i < bytes.size() * 8; i += 6) {
    unsigned value = 0;
    for (std::size_t k = i; k < i + 6; ++k) value = value << 1 | bit(k);
    out += kAlphabet[value];
  }
  return out + std::string((4 - out.size() % 4) % 4, '=');
}

TEST(Base64, EveryByteAtEveryPlaceOfEveryLength) {
  for (std::size_t length = 1; length <= 40; ++length)
    for (unsigned first = 0; first < 256; ++first) {
      std::string bytes;
      for (std::size_t i = 0; i < length; ++i) bytes += static_cast<char>(first + 83 * i);
      ASSERT_EQ(encode_base64(bytes), slowly(bytes)) << length << " " << first;
      ASSERT_EQ(decode_base64(encode_base64(bytes)), bytes);
    }
}

TEST(Base64, IsAppended) {
  std::string text = "before ";
  encode_base64("fo", text);
  EXPECT_EQ(text, "before Zm8=");
}

TEST(Base64, OneTextForEachBytes) {
  for (const char* text : {"Z=g", "Zg", "Zg=", "Zh==", "Zm9=", "Zg==\n",
                           "Z g==", "Zg===", "====", "=", "Zg==Zg==", "Zm9v!mFy", "Zm9-YmFy"})
    EXPECT_EQ(decode_base64(text), std::nullopt) << text;
}

TEST(Base64, AsPeopleWriteIt) {
  EXPECT_EQ(decode_base64_text("Zg==\n"), "f");
  EXPECT_EQ(decode_base64_text("Zm9v\r\nYmFy"), "foobar");
  EXPECT_EQ(decode_base64_text("Zg"), "f");
  EXPECT_EQ(decode_base64_text("Z=g"), std::nullopt);
  EXPECT_EQ(decode_base64_text("Z!g"), std::nullopt);
}

}  // namespace
}  // namespace karst::base
