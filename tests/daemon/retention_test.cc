#include "daemon/retention.h"

#include <gtest/gtest.h>

#include <string>

#include "base/time.h"

namespace karst::daemon {
namespace {

constexpr std::int64_t kDay = base::kMillisPerDay;

TEST(Retention, IsReadAsItIsWritten) {
  struct Case {
    const char* text;
    std::int64_t at_hand, archived;
  };
  const Case cases[] = {{"standard", 93 * kDay, 366 * kDay},
                        {"90d", 90 * kDay, 0},
                        {"2160h", 90 * kDay, 0},
                        {"1h30m", 90 * base::kMillisPerMinute, 0},
                        {"7d/30d", 7 * kDay, 30 * kDay},
                        {"7d/168h", 7 * kDay, 7 * kDay}};
  for (const Case& c : cases) {
    const auto retention = parse_retention(c.text);
    ASSERT_TRUE(retention) << c.text << ": " << retention.error().message;
    EXPECT_EQ(retention->at_hand_millis, c.at_hand) << c.text;
    EXPECT_EQ(retention->archived_millis, c.archived) << c.text;
  }
}

TEST(Retention, WhatIsNoneIsRefused) {
  for (const char* text : {"", "soon", "d", "0d", "-3d", "90", "90d/", "/90d", "90d/30d", "0h",
                           "99999999d", "standard/1d", "7d/30d/90d"}) {
    const auto retention = parse_retention(text);
    ASSERT_FALSE(retention) << text;
    EXPECT_EQ(retention.error().kind, base::Kind::kInvalid);
    EXPECT_NE(retention.error().message.find("expected"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace karst::daemon
