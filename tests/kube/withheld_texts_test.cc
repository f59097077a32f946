// What is kept out of the log is found by its hash, and is bounded.
#include "ports/withheld_texts.h"

#include <gtest/gtest.h>

#include "base/sha256.h"

namespace karst::ports {
namespace {

std::string hash(const std::string& text) {
  return base::hex_lower(base::sha256(text));
}

TEST(WithheldTexts, AreFoundByTheirHash) {
  WithheldTexts texts;
  texts.keep("a");
  texts.keep("b");
  EXPECT_EQ(texts.find(hash("a")), "a");
  EXPECT_EQ(texts.find(hash("b")), "b");
  EXPECT_FALSE(texts.find(hash("c")));
  EXPECT_FALSE(texts.find(""));
}

TEST(WithheldTexts, ThoseNotBroughtForLongestGoFirst) {
  const auto third = [](char c) { return std::string(kWithheldBytesMax / 3, c); };
  WithheldTexts texts;
  for (const char c : {'a', 'b', 'c', 'a', 'd'}) texts.keep(third(c));
  EXPECT_TRUE(texts.find(hash(third('a')))) << "it was brought again";
  EXPECT_FALSE(texts.find(hash(third('b'))));
  EXPECT_TRUE(texts.find(hash(third('c'))));
  EXPECT_TRUE(texts.find(hash(third('d'))));
  texts.keep(std::string(kWithheldBytesMax + 1, 'e'));
  EXPECT_TRUE(texts.find(hash(std::string(kWithheldBytesMax + 1, 'e')))) << "the newest stays";
  EXPECT_FALSE(texts.find(hash(third('d'))));
}

}  // namespace
}  // namespace karst::ports
