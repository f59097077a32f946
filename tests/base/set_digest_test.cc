// The digest of a set: order never shows, removing undoes adding, differences are seen.
#include "base/set_digest.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <vector>

namespace karst::base {
namespace {

SetDigest of(const std::vector<std::string>& elements) {
  SetDigest digest;
  for (const std::string& element : elements) digest.add(hash128(element));
  return digest;
}

TEST(SetDigest, EmptyIsZero) {
  EXPECT_EQ((Hash128{0, 0}), SetDigest().value());
  SetDigest digest = of({"a", "b"});
  digest.remove(hash128("b"));
  digest.remove(hash128("a"));
  EXPECT_EQ((Hash128{0, 0}), digest.value());
}

// XXH3-128 of the empty input with seed 0, as the algorithm's specification gives it.
TEST(SetDigest, HashKnownAnswer) {
  EXPECT_EQ((Hash128{0x6001c324468d497f, 0x99aa06d3014798d8}), hash128(""));
  EXPECT_NE(hash128("a", 0), hash128("a", 1));
}

TEST(SetDigest, CarriesAndBorrowsBetweenItsHalves) {
  SetDigest digest;
  digest.add({~std::uint64_t{0}, 0});
  digest.add({1, 0});
  EXPECT_EQ((Hash128{0, 1}), digest.value());
  digest.remove({1, 0});
  EXPECT_EQ((Hash128{~std::uint64_t{0}, 0}), digest.value());
}

TEST(SetDigest, Laws) {
  EXPECT_TRUE(
      rc::check("order and removal", [](std::vector<std::string> elements, std::string extra) {
        const Hash128 want = of(elements).value();
        std::vector<std::string> turned = elements;
        std::reverse(turned.begin(), turned.end());
        RC_ASSERT(of(turned).value() == want);
        SetDigest digest = of(elements);
        digest.add(hash128(extra));
        RC_ASSERT(digest.value() != want);
        digest.remove(hash128(extra));
        RC_ASSERT(digest.value() == want);
      }));
}

}  // namespace
}  // namespace karst::base
