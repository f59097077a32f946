// Resource vectors: amounts by name, sums, and what fits.
#include "model/resources.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace karst::model {
namespace {

constexpr const char* kGpu = "nvidia.com/gpu";

TEST(Resources, AmountsByName) {
  Resources r;
  for (const char* name : {"cpu", "memory", "ephemeral-storage", "pods", kGpu, "a.b/c"}) {
    EXPECT_EQ(0, r.amount(name)) << name;
    r.set_amount(name, 7);
    EXPECT_EQ(7, r.amount(name)) << name;
    r.set_amount(name, 8);
    EXPECT_EQ(8, r.amount(name)) << name;
  }
  EXPECT_EQ(8, r.cpu_millis);
  EXPECT_EQ(8, r.pods);
  ASSERT_EQ(2u, r.extended.size());
  EXPECT_EQ("a.b/c", r.extended[0].first);
  r.set_amount(kGpu, 0);
  EXPECT_EQ(1u, r.extended.size());
  r.set_amount("never", 0);
  EXPECT_EQ(1u, r.extended.size());
}

TEST(Resources, MaxOfTakesTheLargerOfEach) {
  const Resources a{1, 20, 0, 4, {{"x", 1}, {"y", 5}}};
  const Resources b{10, 2, 3, 4, {{"y", 2}, {"z", 3}}};
  const Resources want{10, 20, 3, 4, {{"x", 1}, {"y", 5}, {"z", 3}}};
  EXPECT_EQ(want, max_of(a, b));
  EXPECT_EQ(want, max_of(b, a));
}

TEST(Resources, FitsAndWhatExceeds) {
  struct Case {
    const char* name;
    Resources request, capacity;
    const char* exceeded;
  };
  const Case cases[] = {
      {"equal", {1, 2, 3, 4, {{kGpu, 1}}}, {1, 2, 3, 4, {{kGpu, 1}}}, ""},
      {"nothing", {}, {}, ""},
      {"nothing fits where room is negative", {0, 1, 0, 0, {}}, {-5, 1, -1, -1, {}}, ""},
      {"cpu", {2, 0, 0, 0, {}}, {1, 9, 9, 9, {}}, "cpu"},
      {"memory", {1, 2, 0, 0, {}}, {1, 1, 9, 9, {}}, "memory"},
      {"ephemeral", {1, 1, 2, 0, {}}, {1, 1, 1, 9, {}}, "ephemeral-storage"},
      {"pods", {1, 1, 1, 2, {}}, {1, 1, 1, 1, {}}, "pods"},
      {"absent", {0, 0, 0, 0, {{kGpu, 1}}}, {9, 9, 9, 9, {}}, kGpu},
      {"cpu is named first", {2, 2, 2, 2, {{kGpu, 2}}}, {1, 1, 1, 1, {}}, "cpu"},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.name);
    EXPECT_EQ(test.exceeded, first_exceeded(test.request, test.capacity));
    EXPECT_EQ(std::string(test.exceeded).empty(), fits(test.request, test.capacity));
  }
}

TEST(Resources, FromQuantities) {
  Resources r;
  EXPECT_TRUE(set_from_quantity(r, "cpu", "1.5", Rounding::kUp));
  EXPECT_TRUE(set_from_quantity(r, "memory", "1Gi", Rounding::kUp));
  EXPECT_TRUE(set_from_quantity(r, kGpu, "2", Rounding::kUp));
  EXPECT_EQ((Resources{1500, 1 << 30, 0, 0, {{kGpu, 2}}}), r);
  const auto bad = set_from_quantity(r, "memory", "1Gib", Rounding::kUp);
  ASSERT_FALSE(bad.has_value());
  EXPECT_NE(std::string::npos, bad.error().message.find("memory"));
  EXPECT_EQ(1 << 30, r.memory_bytes);
}

Resources random_resources() {
  Resources r;
  for (const char* name : {"cpu", "memory", "pods", "x", "y"})
    r.set_amount(name, *rc::gen::inRange(0, 5));
  return r;
}

TEST(Resources, Laws) {
  EXPECT_TRUE(rc::check("sum and difference", [] {
    const Resources a = random_resources(), b = random_resources();
    RC_ASSERT(a + b == b + a);
    RC_ASSERT(a + b - b == a);
    RC_ASSERT(fits(a, max_of(a, b)) && fits(b, max_of(a, b)));
    RC_ASSERT(fits(a, a + b));
    RC_ASSERT(fits(a, b) == first_exceeded(a, b).empty());
    const Resources zero = a - a;
    RC_ASSERT(zero.extended.empty());
  }));
}

}  // namespace
}  // namespace karst::model
