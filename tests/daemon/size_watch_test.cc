#include "daemon/size_watch.h"

#include <gtest/gtest.h>

namespace karst::daemon {
namespace {

constexpr std::int64_t kHour = 60 * 60 * 1000;
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

std::string said(const std::optional<SizeWord>& word) {
  return word ? (word->alarm ? "alarm: " : "relief: ") + word->text : "";
}

TEST(SizeWatch, SaysOnceThatTheDiskIsNearlyFullAndOnceThatItIsNot) {
  struct Case {
    const char* name;
    std::uint64_t free_gib;
    const char* want;  // how what is said begins
  };
  const Case cases[] = {
      {"half is free", 50, ""},
      {"a tenth is free", 10, ""},
      {"less is free", 9,
       "alarm: the log has 20.0 GiB, 9.0 GiB of 100.0 GiB on its disk are free."},
      {"still", 8, ""},
      {"a little more than the alarm's bound is not yet good", 12, ""},
      {"enough", 16, "relief: the log has 20.0 GiB, 16.0 GiB of 100.0 GiB"},
      {"and again", 5, "alarm: the log has"},
  };
  SizeWatch watch;
  std::int64_t now = 0;
  for (const Case& c : cases) {
    const std::string got =
        said(watch.see(now += 10'000, {20 * kGiB, c.free_gib * kGiB, 100 * kGiB}));
    const std::string want = c.want;
    EXPECT_EQ(got.substr(0, want.size()), want) << c.name;
    EXPECT_EQ(got.empty(), want.empty()) << c.name << ": " << got;
  }
}

TEST(SizeWatch, TellsGrowthAndTheDaysThatAreLeft) {
  SizeWatch watch;
  EXPECT_FALSE(watch.see(0, {kGiB, 50 * kGiB, 100 * kGiB}));
  EXPECT_FALSE(watch.growth_bytes_per_day());
  EXPECT_FALSE(watch.see(kHour / 2, {2 * kGiB, 50 * kGiB, 100 * kGiB}));
  EXPECT_FALSE(watch.growth_bytes_per_day()) << "half an hour is no day";
  EXPECT_FALSE(watch.see(24 * kHour, {5 * kGiB, 50 * kGiB, 100 * kGiB}));
  ASSERT_TRUE(watch.growth_bytes_per_day());
  EXPECT_EQ(*watch.growth_bytes_per_day() >> 20, 4095);  // 4 GiB, rounded down
  const std::string alarm = said(watch.see(24 * kHour + 1, {5 * kGiB, 27 * kGiB, 100 * kGiB}));
  EXPECT_NE(alarm.find("alarm: "), std::string::npos);
  EXPECT_NE(alarm.find("6 days are left"), std::string::npos) << alarm;
}

TEST(SizeWatch, GrowthForgetsWhatIsOlderThanADay) {
  SizeWatch watch;
  std::uint64_t bytes = 0;
  for (std::int64_t hour = 0; hour <= 100; ++hour) {
    bytes += hour < 50 ? kGiB : 0;  // and then it rests
    watch.see(hour * kHour, {bytes, 900 * kGiB, 1000 * kGiB});
  }
  ASSERT_TRUE(watch.growth_bytes_per_day());
  EXPECT_EQ(*watch.growth_bytes_per_day(), 0);
}

TEST(SizeWatch, WhatCannotBeReadIsNoAlarm) {
  SizeWatch watch;
  EXPECT_FALSE(watch.see(0, {}));
  EXPECT_EQ(events::sizes_of("/does/not/exist").disk_bytes, 0U);
}

}  // namespace
}  // namespace karst::daemon
