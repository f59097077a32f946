// When schedules fire: what is read and what is refused, and the next time after a given one. The
// wanted times were worked out on a calendar by hand; the rules are those of robfig/cron v3.
#include "model/cron.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace karst::model {
namespace {

base::LogTime at(const std::string& time) {
  return base::LogTime(base::parse_rfc3339(time).value_or(0));
}

// "never" when it does not fire, the error when it cannot be read.
std::string next(const std::string& schedule, const std::string& after) {
  const auto parsed = parse_schedule(schedule);
  if (!parsed) return parsed.error().message;
  const auto time = next_after(*parsed, at(after));
  return time ? base::format_rfc3339(time->value()) : "never";
}

TEST(Cron, FiresNext) {
  struct Case {
    const char* name;
    const char* schedule;
    const char* after;
    const char* want;
  };
  const Case cases[] = {
      {"the next minute", "* * * * *", "2026-11-21T20:15:00Z", "2026-11-21T20:16:00.000Z"},
      {"not the running one", "* * * * *", "2026-11-21T20:15:00.001Z", "2026-11-21T20:16:00.000Z"},
      {"just before", "0 9 * * *", "2026-11-21T08:59:59.999Z", "2026-11-21T09:00:00.000Z"},
      {"at the time itself: tomorrow", "0 9 * * *", "2026-11-21T09:00:00Z",
       "2026-11-22T09:00:00.000Z"},
      {"a list", "5,50,20 * * * *", "2026-11-21T20:21:00Z", "2026-11-21T20:50:00.000Z"},
      {"a range", "0 9-17 * * *", "2026-11-21T17:00:00Z", "2026-11-22T09:00:00.000Z"},
      {"a step over all", "*/15 * * * *", "2026-11-21T20:46:00Z", "2026-11-21T21:00:00.000Z"},
      {"a step over a range", "10-40/20 * * * *", "2026-11-21T20:31:00Z",
       "2026-11-21T21:10:00.000Z"},
      {"a value with a step runs to the end", "30/20 * * * *", "2026-11-21T20:31:00Z",
       "2026-11-21T20:50:00.000Z"},
      {"names of days, either case", "0 0 * * MON-fri", "2026-11-20T12:00:00Z",
       "2026-11-23T00:00:00.000Z"},
      {"names of months", "0 0 1 feb,AUG *", "2026-11-20T12:00:00Z", "2027-02-01T00:00:00.000Z"},
      {"Sunday is 0", "0 0 * * 0", "2026-11-21T12:00:00Z", "2026-11-22T00:00:00.000Z"},
      {"a question mark is a star", "0 0 ? * 3", "2026-11-21T12:00:00Z",
       "2026-11-25T00:00:00.000Z"},
      {"day of the month OR day of the week: the week's first", "0 0 13 * 5",
       "2026-11-21T12:00:00Z", "2026-11-27T00:00:00.000Z"},
      {"day of the month OR day of the week: the month's first", "0 0 24 * 5",
       "2026-11-21T12:00:00Z", "2026-11-24T00:00:00.000Z"},
      {"a star for the week: the day of the month alone", "0 0 13 * *", "2026-11-21T12:00:00Z",
       "2026-12-13T00:00:00.000Z"},
      {"a star for the month: the day of the week alone", "0 0 * * 5", "2026-11-21T12:00:00Z",
       "2026-11-27T00:00:00.000Z"},
      {"a star with a step is no star", "0 0 */10 * 5", "2026-11-28T12:00:00Z",
       "2026-12-01T00:00:00.000Z"},
      {"a star with a step of one is", "0 0 13 * */1", "2026-11-21T12:00:00Z",
       "2026-12-13T00:00:00.000Z"},
      {"a star in a list is a star", "0 0 13 * 5,*", "2026-11-21T12:00:00Z",
       "2026-12-13T00:00:00.000Z"},
      {"the 31st skips short months", "0 0 31 * *", "2027-01-31T00:00:00Z",
       "2027-03-31T00:00:00.000Z"},
      {"the end of a year", "59 23 31 12 *", "2026-12-31T23:59:00Z", "2027-12-31T23:59:00.000Z"},
      {"the 29th of February waits for a leap year", "0 0 29 2 *", "2026-11-21T12:00:00Z",
       "2028-02-29T00:00:00.000Z"},
      {"the 28th in a leap year", "30 12 28 2 *", "2028-02-01T00:00:00Z",
       "2028-02-28T12:30:00.000Z"},
      {"2100 is no leap year: too far", "0 0 29 2 *", "2096-02-29T00:00:00Z", "never"},
      {"the 30th of February", "0 0 30 2 *", "2026-11-21T12:00:00Z", "never"},
      {"a field of nothing but commas", ", * * * *", "2026-11-21T12:00:00Z", "never"},
      {"@yearly", "@yearly", "2026-11-21T12:00:00Z", "2027-01-01T00:00:00.000Z"},
      {"@annually", "@annually", "2026-11-21T12:00:00Z", "2027-01-01T00:00:00.000Z"},
      {"@monthly", "@monthly", "2026-11-21T12:00:00Z", "2026-12-01T00:00:00.000Z"},
      {"@weekly", "@weekly", "2026-11-22T00:00:00Z", "2026-11-29T00:00:00.000Z"},
      {"@daily", "@daily", "2026-11-30T12:00:00Z", "2026-12-01T00:00:00.000Z"},
      {"@midnight", " @midnight ", "2026-02-28T12:00:00Z", "2026-03-01T00:00:00.000Z"},
      {"@hourly", "@hourly", "2026-11-21T23:00:00Z", "2026-11-22T00:00:00.000Z"},
      {"a sign and leading zeros, as Go reads them", "+05 007 * * *", "2026-11-21T12:00:00Z",
       "2026-11-22T07:05:00.000Z"},
      {"tabs and more spaces", "0\t9  *  * *", "2026-11-21T12:00:00Z", "2026-11-22T09:00:00.000Z"},
  };
  for (const Case& row : cases) EXPECT_EQ(next(row.schedule, row.after), row.want) << row.name;
}

TEST(Cron, AFirstOfJanuaryAndEveryMondayAreBothOrdinaryDays) {
  // From one Monday to the next over a new year: every fire of "the 1st or a Monday".
  const auto schedule = parse_schedule("0 12 1 * 1");
  ASSERT_TRUE(schedule);
  std::vector<std::string> fires;
  base::LogTime time = at("2026-12-28T00:00:00Z");
  for (int i = 0; i < 3; ++i) {
    const auto next = next_after(*schedule, time);
    ASSERT_TRUE(next);
    time = *next;
    fires.push_back(base::format_rfc3339(time.value()));
  }
  EXPECT_EQ(fires, (std::vector<std::string>{"2026-12-28T12:00:00.000Z", "2027-01-01T12:00:00.000Z",
                                             "2027-01-04T12:00:00.000Z"}));
}

TEST(Cron, RefusesWhatTheParserOfKarpenterRefuses) {
  struct Case {
    const char* schedule;
    const char* says;
  };
  const Case cases[] = {
      {"", "expected five fields"},
      {"* * * *", "expected five fields"},
      {"* * * * * *", "expected five fields"},
      {"@every", "expected five fields"},
      {"@every 1h", "expected five fields"},
      {"@Daily", "expected five fields"},
      {"@hourlyish", "expected five fields"},
      {"TZ=UTC * * * *", "minute: expected values from 0 to 59"},
      {"60 * * * *", "minute: expected values from 0 to 59"},
      {"* 24 * * *", "hour: expected values from 0 to 23"},
      {"* * 0 * *", "day of the month: expected values from 1 to 31"},
      {"* * 32 * *", "day of the month"},
      {"* * * 13 *", "month: expected values from 1 to 12"},
      {"* * * * 7", "day of the week: expected values from 0 to 6"},
      {"* * * * sunday", "day of the week"},
      {"jan * * * *", "minute"},
      {"30-10 * * * *", "minute"},
      {"1-2-3 * * * *", "minute"},
      {"1/2/3 * * * *", "minute"},
      {"*/0 * * * *", "minute"},
      {"*/x * * * *", "minute"},
      {"-5 * * * *", "minute"},
      {"5- * * * *", "minute"},
      {"1.5 * * * *", "minute"},
      {"99999999999 * * * *", "minute"},
  };
  for (const Case& row : cases) {
    const auto parsed = parse_schedule(row.schedule);
    ASSERT_FALSE(parsed) << row.schedule;
    EXPECT_NE(parsed.error().message.find(row.says), std::string::npos)
        << row.schedule << ": " << parsed.error().message;
  }
}

}  // namespace
}  // namespace karst::model
