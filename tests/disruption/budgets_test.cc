// How many nodes a pool's budgets allow on their way out: windows, several budgets, reasons,
// percentages, and what cannot be read.
#include "disruption/budgets.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace karst::disruption {
namespace {

constexpr std::int64_t kHour = base::kMillisPerHour;

base::LogTime at(const std::string& time) {
  return base::LogTime(base::parse_rfc3339(time).value_or(0));
}

Allowance allowed(std::vector<model::Budget> budgets, const std::string& now,
                  std::int64_t nodes = 20, std::string_view reason = "Empty") {
  model::NodePool pool;
  pool.budgets = std::move(budgets);
  return allowed_disruptions(pool, reason, nodes, at(now));
}

TEST(Budgets, TheSmallestThatCountsIsTheLimit) {
  const model::Budget working_hours{"0", {}, "0 9 * * mon-fri", 8 * kHour};
  const model::Budget ten_percent{"10%", {}, "", 0};
  struct Case {
    const char* name;
    std::vector<model::Budget> budgets;
    const char* now;
    std::int64_t want;
    const char* ends;  // empty: no window counts
  };
  const char* const friday_noon = "2026-11-20T12:00:00Z";
  const char* const saturday = "2026-11-21T12:00:00Z";
  const std::vector<Case> cases = {
      {"none at all", {}, saturday, kNoBudget, ""},
      {"a number", {{"3", {}, "", 0}}, saturday, 3, ""},
      {"the smallest of several", {{"5", {}, "", 0}, {"4", {}, "", 0}}, saturday, 4, ""},
      {"a closed window alone", {working_hours}, saturday, kNoBudget, ""},
      {"a closed window beside another", {working_hours, ten_percent}, saturday, 2, ""},
      {"an open window", {working_hours, ten_percent}, friday_noon, 0, "2026-11-20T17:00:00.000Z"},
      {"the moment it opens",
       {working_hours},
       "2026-11-20T09:00:00Z",
       0,
       "2026-11-20T17:00:00.000Z"},
      {"just before", {working_hours}, "2026-11-20T08:59:59.999Z", kNoBudget, ""},
      {"the last moment",
       {working_hours},
       "2026-11-20T16:59:59.999Z",
       0,
       "2026-11-20T17:00:00.000Z"},
      {"the moment it closes", {working_hours}, "2026-11-20T17:00:00Z", kNoBudget, ""},
      {"a window over midnight",
       {{"1", {}, "0 22 * * *", 4 * kHour}},
       "2026-11-21T01:30:00Z",
       1,
       "2026-11-21T02:00:00.000Z"},
      {"windows that overlap: the first to close is looked at again",
       {{"1", {}, "@hourly", 3 * kHour}},
       "2026-11-21T12:30:00Z",
       1,
       "2026-11-21T13:00:00.000Z"},
      {"a window longer than the time that has passed",
       {{"1", {}, "@daily", 1'000'000 * kHour}},
       saturday,
       1,
       "2026-11-22T00:00:00.000Z"},
      {"a schedule that never fires is always open",
       {{"1", {}, "0 0 30 2 *", kHour}},
       saturday,
       1,
       ""},
  };
  for (const Case& row : cases) {
    const Allowance got = allowed(row.budgets, row.now);
    EXPECT_EQ(got.nodes, row.want) << row.name;
    if (std::string(row.name).starts_with("a window longer")) continue;
    EXPECT_EQ(got.ends ? base::format_rfc3339(got.ends->value()) : "", row.ends) << row.name;
    EXPECT_EQ(got.fault, "") << row.name;
  }
}

TEST(Budgets, PercentagesRoundUp) {
  struct Case {
    const char* amount;
    std::int64_t nodes, want;
  };
  const Case cases[] = {{"10%", 0, 0},  {"10%", 1, 1},  {"10%", 10, 1}, {"10%", 11, 2},
                        {"100%", 7, 7}, {"0%", 50, 0},  {"33%", 3, 1},  {"34%", 3, 2},
                        {"0", 100, 0},  {"200", 3, 200}};
  for (const Case& row : cases)
    EXPECT_EQ(allowed({{row.amount, {}, "", 0}}, "2026-11-21T12:00:00Z", row.nodes).nodes, row.want)
        << row.amount << " of " << row.nodes;
}

TEST(Budgets, ReasonsNarrowABudget) {
  const std::vector<model::Budget> budgets = {
      {"1", {"Drifted"}, "", 0}, {"2", {"Drifted", "Empty"}, "", 0}, {"7", {}, "", 0}};
  const char* const now = "2026-11-21T12:00:00Z";
  EXPECT_EQ(allowed(budgets, now, 20, "Empty").nodes, 2);
  EXPECT_EQ(allowed(budgets, now, 20, "Drifted").nodes, 1);
  EXPECT_EQ(allowed(budgets, now, 20, "Underutilized").nodes, 7);
}

TEST(Budgets, WhatCannotBeReadAllowsNothingForAnyReason) {
  struct Case {
    model::Budget budget;
    const char* says;
  };
  const Case cases[] = {
      {{"50%", {"Drifted"}, "every day", kHour},
       "spec.disruption.budgets[1].schedule: expected five fields"},
      {{"50%", {}, "61 * * * *", kHour}, "spec.disruption.budgets[1].schedule: minute"},
      {{"5", {}, "* * * * *", 0},
       "spec.disruption.budgets[1].schedule: needs a duration beside it"},
      {{"5", {}, "", kHour}, "spec.disruption.budgets[1].duration: needs a schedule beside it"},
      {{"ten", {}, "", 0}, "spec.disruption.budgets[1].nodes"},
      {{"-1", {}, "", 0}, "spec.disruption.budgets[1].nodes"},
      {{"", {}, "", 0}, "spec.disruption.budgets[1].nodes"},
      {{"5 %", {}, "", 0}, "spec.disruption.budgets[1].nodes"},
  };
  for (const Case& row : cases) {
    const Allowance got = allowed({{"5", {}, "", 0}, row.budget}, "2026-11-21T12:00:00Z");
    EXPECT_EQ(got.nodes, 0) << row.says;
    EXPECT_TRUE(got.fault.starts_with(row.says)) << got.fault;
  }
}

}  // namespace
}  // namespace karst::disruption
