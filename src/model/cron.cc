#include "model/cron.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <vector>

#include "base/utf8.h"

namespace karst::model {
namespace {

using base::Kind;
using base::LogTime;

struct Field {
  std::string_view name;
  unsigned least;
  unsigned most;
  std::string_view values;  // three letters each, from `least` on; empty: no names
};
constexpr std::array<Field, 5> kFields = {{
    {"minute", 0, 59, ""},
    {"hour", 0, 23, ""},
    {"day of the month", 1, 31, ""},
    {"month", 1, 12, "janfebmaraprmayjunjulaugsepoctnovdec"},
    {"day of the week", 0, 6, "sunmontuewedthufrisat"},
}};

struct Descriptor {
  std::string_view name;
  std::string_view fields;
};
constexpr std::array<Descriptor, 7> kDescriptors = {{
    {"@yearly", "0 0 1 1 *"},
    {"@annually", "0 0 1 1 *"},
    {"@monthly", "0 0 1 * *"},
    {"@weekly", "0 0 * * 0"},
    {"@daily", "0 0 * * *"},
    {"@midnight", "0 0 * * *"},
    {"@hourly", "0 * * * *"},
}};

struct Values {
  std::uint64_t bits = 0;
  bool any = false;
};

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find_first_of(separators);
    parts.push_back(text.substr(0, end));
    if (end == text.npos) return parts;
    text.remove_prefix(end + 1);
  }
}

tl::unexpected<base::Error> bad(const Field& field, std::string_view found) {
  return base::fail(Kind::kInvalid, std::string(field.name) + ": expected values from " +
                                        std::to_string(field.least) + " to " +
                                        std::to_string(field.most) +
                                        " such as *, 5, 1-5, */2 or 1,3, found \"" +
                                        std::string(base::cut_utf8(found, 40)) + "\"");
}

std::optional<unsigned> number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);  // as Go reads numbers
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<unsigned> number_or_name(const Field& field, std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (lower.size() == 3)
    for (std::size_t i = 0; i < field.values.size(); i += 3)
      if (field.values.substr(i, 3) == lower) return field.least + static_cast<unsigned>(i / 3);
  return number(text);
}

// One element of a field's list: VALUE, FIRST-LAST or *, each with /STEP or without.
base::Result<Values> parse_range(const Field& field, std::string_view text) {
  const auto range_and_step = split(text, "/");
  const auto ends = split(range_and_step[0], "-");
  if (range_and_step.size() > 2) return bad(field, text);
  Values values;
  unsigned first = field.least, last = field.most, step = 1;
  if (ends[0] == "*" || ends[0] == "?") {
    values.any = true;
  } else {
    if (ends.size() > 2) return bad(field, text);
    const auto from = number_or_name(field, ends[0]);
    const auto to = number_or_name(field, ends.back());
    if (!from || !to) return bad(field, text);
    first = *from;
    last = ends.size() == 1 && range_and_step.size() == 2 ? field.most : *to;
  }
  if (range_and_step.size() == 2) {
    const auto given = number(range_and_step[1]);
    if (!given || *given == 0) return bad(field, text);
    step = *given;
    if (step > 1) values.any = false;
  }
  if (first < field.least || last > field.most || first > last) return bad(field, text);
  for (std::uint64_t value = first; value <= last; value += step)
    values.bits |= std::uint64_t{1} << value;
  return values;
}

base::Result<Values> parse_field(const Field& field, std::string_view text) {
  Values values;
  for (const std::string_view element : split(text, ",")) {
    if (element.empty()) continue;
    const auto range = parse_range(field, element);
    if (!range) return base::fail(range.error());
    values.bits |= range->bits;
    values.any = values.any || range->any;
  }
  return values;
}

bool has(std::uint64_t bits, unsigned value) {
  return (bits >> value & 1) != 0;
}

bool fires_on(const Schedule& schedule, const base::CivilDate& date, unsigned weekday) {
  if (!has(schedule.months, date.month)) return false;
  const bool day = has(schedule.days, date.day);
  const bool of_week = has(schedule.weekdays, weekday);
  return schedule.any_day || schedule.any_weekday ? day && of_week : day || of_week;
}

constexpr std::int64_t kMinutesPerDay = 24 * 60;

// The first minute of a day, from `from` on, at which it fires; kMinutesPerDay: none.
std::int64_t first_minute(const Schedule& schedule, std::int64_t from) {
  for (std::int64_t minute = from; minute < kMinutesPerDay; ++minute)
    if (has(schedule.hours, static_cast<unsigned>(minute / 60)) &&
        has(schedule.minutes, static_cast<unsigned>(minute % 60)))
      return minute;
  return kMinutesPerDay;
}

}  // namespace

base::Result<Schedule> parse_schedule(std::string_view text) {
  std::vector<std::string_view> fields;
  for (const std::string_view field : split(text, " \t\n\v\f\r"))
    if (!field.empty()) fields.push_back(field);
  if (fields.size() == 1 && fields[0].starts_with('@')) {
    for (const Descriptor& descriptor : kDescriptors)
      if (fields[0] == descriptor.name) return parse_schedule(descriptor.fields);
  }
  if (fields.size() != kFields.size())
    return base::fail(Kind::kInvalid,
                      "expected five fields (minute, hour, day of the month, month, day of the "
                      "week), or @yearly, @annually, @monthly, @weekly, @daily, @midnight or "
                      "@hourly, found \"" +
                          std::string(base::cut_utf8(text, 80)) + "\"");
  std::array<Values, kFields.size()> values;
  for (std::size_t i = 0; i < kFields.size(); ++i) {
    auto parsed = parse_field(kFields[i], fields[i]);
    if (!parsed) return base::fail(parsed.error());
    values[i] = *parsed;
  }
  return Schedule{values[0].bits, values[1].bits, values[2].bits, values[3].bits,
                  values[4].bits, values[2].any,  values[4].any};
}

std::optional<LogTime> next_after(const Schedule& schedule, LogTime time) {
  const std::int64_t start = time.value() / base::kMillisPerMinute + 1;  // in minutes
  const std::int64_t first_year = base::civil_from_days(start / kMinutesPerDay).year;
  std::int64_t from = start % kMinutesPerDay;
  for (std::int64_t day = start / kMinutesPerDay;; ++day, from = 0) {
    const base::CivilDate date = base::civil_from_days(day);
    if (date.year > first_year + kScheduleYearsMax) return std::nullopt;
    const auto weekday = static_cast<unsigned>((day + 4) % 7);  // 1970-01-01 was a Thursday
    if (!fires_on(schedule, date, weekday)) continue;
    const std::int64_t minute = first_minute(schedule, from);
    if (minute < kMinutesPerDay)
      return LogTime((day * kMinutesPerDay + minute) * base::kMillisPerMinute);
  }
}

}  // namespace karst::model
