// Quantities: the grammar of Kubernetes, rounding, and amounts that are too large.
#include "model/quantity.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <optional>

namespace karst::model {
namespace {

struct Case {
  const char* text;
  std::optional<std::int64_t> millis_up, millis_down, units_up, units_down;
};

std::optional<std::int64_t> value(const base::Result<std::int64_t>& result) {
  return result ? std::optional(*result) : std::nullopt;
}

constexpr std::int64_t kMost = (std::int64_t{1} << 62) - 1;

TEST(Quantity, Parses) {
  const Case cases[] = {
      {"0", 0, 0, 0, 0},
      {"1", 1000, 1000, 1, 1},
      {"+1", 1000, 1000, 1, 1},
      {"1500m", 1500, 1500, 2, 1},
      {"100m", 100, 100, 1, 0},
      {"0.1", 100, 100, 1, 0},
      {".5", 500, 500, 1, 0},
      {"5.", 5000, 5000, 5, 5},
      {"0.0001", 1, 0, 1, 0},
      {"1n", 1, 0, 1, 0},
      {"1000000n", 1, 1, 1, 0},
      {"1u", 1, 0, 1, 0},
      {"1k", 1'000'000, 1'000'000, 1000, 1000},
      {"1Ki", 1'024'000, 1'024'000, 1024, 1024},
      {"1.5Gi", 1'610'612'736'000, 1'610'612'736'000, 1'610'612'736, 1'610'612'736},
      {"0.1Ki", 102'400, 102'400, 103, 102},
      {"128974848", 128'974'848'000, 128'974'848'000, 128'974'848, 128'974'848},
      {"129e6", 129'000'000'000, 129'000'000'000, 129'000'000, 129'000'000},
      {"1E3", 1'000'000, 1'000'000, 1000, 1000},
      {"1e-3", 1, 1, 1, 0},
      {"1E", kMost, kMost, 1'000'000'000'000'000'000, 1'000'000'000'000'000'000},
      {"3Ei", kMost, kMost, 3'458'764'513'820'540'928, 3'458'764'513'820'540'928},
      {"4Ei", kMost, kMost, kMost, kMost},
      {"99999999999999999999999999999999999999999", kMost, kMost, kMost, kMost},
      {"99999999999999999999999999999999999999999e-40", 10'000, 9'999, 10, 9},
      {"1e25", kMost, kMost, kMost, kMost},
      {"0e99", 0, 0, 0, 0},
      {"0.1234567890123456789012345678901234567890", 124, 123, 1, 0},
      {"000000000001", 1000, 1000, 1, 1},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.text);
    EXPECT_EQ(test.millis_up, value(parse_quantity_millis(test.text, Rounding::kUp)));
    EXPECT_EQ(test.millis_down, value(parse_quantity_millis(test.text, Rounding::kDown)));
    EXPECT_EQ(test.units_up, value(parse_quantity_units(test.text, Rounding::kUp)));
    EXPECT_EQ(test.units_down, value(parse_quantity_units(test.text, Rounding::kDown)));
  }
}

TEST(Quantity, RefusesAndSaysWhat) {
  for (const char* text :
       {"",   "m",   ".",     "-1",    "1 ",  " 1",  "1K",  "1ki",  "1kI", "1mi", "1.2.3", "0x10",
        "1e", "1e+", "1e1.5", "1e999", "Inf", "NaN", "1,5", "1Kii", "++1", "1m1", "1e100"}) {
    SCOPED_TRACE(text);
    for (const Rounding rounding : {Rounding::kUp, Rounding::kDown}) {
      const auto millis = parse_quantity_millis(text, rounding);
      ASSERT_FALSE(millis.has_value()) << *millis;
      EXPECT_EQ(base::Kind::kInvalid, millis.error().kind);
      EXPECT_NE(std::string::npos, millis.error().message.find("quantity"))
          << millis.error().message;
      EXPECT_FALSE(parse_quantity_units(text, rounding).has_value());
    }
  }
}

TEST(Quantity, Formats) {
  EXPECT_EQ("0", format_millis(0));
  EXPECT_EQ("1500m", format_millis(1500));
  EXPECT_EQ("2", format_millis(2000));
  EXPECT_EQ("0", format_bytes(0));
  EXPECT_EQ("1000", format_bytes(1000));
  EXPECT_EQ("1Ki", format_bytes(1024));
  EXPECT_EQ("1536Mi", format_bytes(std::int64_t{1536} << 20));
  EXPECT_EQ("2Ei", format_bytes(std::int64_t{1} << 61));
}

TEST(Quantity, WhatIsFormattedParsesBack) {
  EXPECT_TRUE(rc::check("round trip", [](std::uint64_t seed) {
    const auto amount = static_cast<std::int64_t>(seed >> 14);
    RC_ASSERT(value(parse_quantity_millis(format_millis(amount), Rounding::kDown)) == amount);
    RC_ASSERT(value(parse_quantity_units(format_bytes(amount), Rounding::kUp)) == amount);
  }));
}

TEST(Quantity, RoundingDiffersByAtMostOne) {
  EXPECT_TRUE(rc::check("rounding", [] {
    const auto whole = *rc::gen::inRange(0, 100000);
    const auto fraction = *rc::gen::inRange(0, 1000000);
    const auto suffix = *rc::gen::element<std::string>("", "m", "k", "Ki", "Mi", "u", "n");
    std::string digits = std::to_string(fraction);
    digits.insert(0, 6 - digits.size(), '0');
    const std::string text = std::to_string(whole) + "." + digits + suffix;
    const auto up = parse_quantity_millis(text, Rounding::kUp);
    const auto down = parse_quantity_millis(text, Rounding::kDown);
    RC_ASSERT(up.has_value() && down.has_value());
    RC_ASSERT(*up - *down == 0 || *up - *down == 1);
  }));
}

}  // namespace
}  // namespace karst::model
