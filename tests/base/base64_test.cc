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
