#include "base/time.h"

#include <cstdio>

namespace karst::base {
namespace {

// Of a day, whose milliseconds fit 32 bits.
constexpr std::uint32_t kHour = kMillisPerHour, kMinute = kMillisPerMinute,
                        kSecond = kMillisPerSecond;

// Days since 1970-01-01 of a proleptic Gregorian date; civil_from_days is the way back. Algorithm:
// H. Hinnant, "chrono-Compatible Low-Level Date Algorithms".
std::int64_t days_from_civil(std::int64_t year, unsigned month, unsigned day) {
  year -= month <= 2;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const unsigned year_of_era = static_cast<unsigned>(year - era * 400);
  const unsigned day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const unsigned day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + static_cast<std::int64_t>(day_of_era) - 719468;
}

// Reads exactly `width` digits at `at` and moves past them; -1 if they are not there.
std::int64_t digits(std::string_view text, std::size_t& at, std::size_t width) {
  if (at + width > text.size()) return -1;
  std::int64_t value = 0;
  for (std::size_t i = 0; i < width; ++i) {
    const char c = text[at + i];
    if (c < '0' || c > '9') return -1;
    value = value * 10 + (c - '0');
  }
  at += width;
  return value;
}

bool expect(std::string_view text, std::size_t& at, char wanted) {
  if (at >= text.size() || text[at] != wanted) return false;
  ++at;
  return true;
}

// The part after the seconds: fraction and zone. Returns milliseconds to add, nullopt if malformed.
std::optional<std::int64_t> fraction_and_zone_millis(std::string_view text, std::size_t at) {
  std::int64_t millis = 0;
  if (at < text.size() && text[at] == '.') {
    ++at;
    std::int64_t scale = 100;
    std::size_t count = 0;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, ++count) {
      millis += (text[at] - '0') * scale;
      scale /= 10;
    }
    if (count == 0) return std::nullopt;
  }
  if (at + 1 == text.size() && (text[at] == 'Z' || text[at] == 'z')) return millis;
  if (at >= text.size() || (text[at] != '+' && text[at] != '-')) return std::nullopt;
  const std::int64_t sign = text[at] == '+' ? 1 : -1;
  ++at;
  const std::int64_t hours = digits(text, at, 2);
  if (hours < 0 || hours > 23 || !expect(text, at, ':')) return std::nullopt;
  const std::int64_t minutes = digits(text, at, 2);
  if (minutes < 0 || minutes > 59 || at != text.size()) return std::nullopt;
  return millis - sign * (hours * kMillisPerHour + minutes * kMillisPerMinute);
}

bool valid_day(std::int64_t year, std::int64_t month, std::int64_t day) {
  if (month < 1 || month > 12 || day < 1) return false;
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return day <= kDays[month - 1] + (month == 2 && leap ? 1 : 0);
}

// Exactly two decimal digits.
char* put_two(char* to, std::uint32_t number) {
  to[0] = static_cast<char>('0' + number / 10);
  to[1] = static_cast<char>('0' + number % 10);
  return to + 2;
}

// Years that have no four digits.
std::size_t write_far(const CivilDate& date, std::uint32_t rest, char* to) {
  const int length = std::snprintf(
      to, kRfc3339Max, "%04lld-%02u-%02uT%02u:%02u:%02u.%03uZ", static_cast<long long>(date.year),
      date.month, date.day, rest / kHour, rest / kMinute % 60, rest / kSecond % 60, rest % kSecond);
  return static_cast<std::size_t>(length);
}

}  // namespace

CivilDate civil_from_days(std::int64_t days) {
  days += 719468;
  const std::int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const unsigned day_of_era = static_cast<unsigned>(days - era * 146097);
  const unsigned year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const unsigned day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const unsigned shifted_month = (5 * day_of_year + 2) / 153;
  const unsigned month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
  const std::int64_t year =
      static_cast<std::int64_t>(year_of_era) + era * 400 + (month <= 2 ? 1 : 0);
  return {year, month, day_of_year - (153 * shifted_month + 2) / 5 + 1};
}

std::size_t write_rfc3339(std::int64_t unix_millis, char* to) {
  std::int64_t days = unix_millis / kMillisPerDay;
  std::int64_t rest_of_day = unix_millis % kMillisPerDay;
  if (rest_of_day < 0) {
    rest_of_day += kMillisPerDay;
    --days;
  }
  const CivilDate date = civil_from_days(days);
  const auto rest = static_cast<std::uint32_t>(rest_of_day);
  if (date.year < 0 || date.year > 9999) return write_far(date, rest, to);
  const auto year = static_cast<std::uint32_t>(date.year);
  const char* const begin = to;
  to = put_two(put_two(to, year / 100), year % 100);
  *to++ = '-';
  to = put_two(to, date.month);
  *to++ = '-';
  to = put_two(to, date.day);
  *to++ = 'T';
  to = put_two(to, rest / kHour);
  *to++ = ':';
  to = put_two(to, rest / kMinute % 60);
  *to++ = ':';
  to = put_two(to, rest / kSecond % 60);
  *to++ = '.';
  to = put_two(to, rest % kSecond / 10);
  *to++ = static_cast<char>('0' + rest % 10);
  *to++ = 'Z';
  return static_cast<std::size_t>(to - begin);
}

std::string format_rfc3339(std::int64_t unix_millis) {
  char text[kRfc3339Max];
  return std::string(text, write_rfc3339(unix_millis, text));
}

std::string format_rfc3339_seconds(std::int64_t unix_millis) {
  std::string text = format_rfc3339(unix_millis);
  return text.replace(text.size() - std::string_view(".000Z").size(), std::string::npos, "Z");
}

std::optional<std::int64_t> parse_rfc3339(std::string_view text) {
  std::size_t at = 0;
  const std::int64_t year = digits(text, at, 4);
  if (year < 0 || !expect(text, at, '-')) return std::nullopt;
  const std::int64_t month = digits(text, at, 2);
  if (!expect(text, at, '-')) return std::nullopt;
  const std::int64_t day = digits(text, at, 2);
  if (!valid_day(year, month, day)) return std::nullopt;
  if (!expect(text, at, 'T') && !expect(text, at, 't')) return std::nullopt;
  const std::int64_t hour = digits(text, at, 2);
  if (hour < 0 || hour > 23 || !expect(text, at, ':')) return std::nullopt;
  const std::int64_t minute = digits(text, at, 2);
  if (minute < 0 || minute > 59 || !expect(text, at, ':')) return std::nullopt;
  const std::int64_t second = digits(text, at, 2);
  if (second < 0 || second > 60) return std::nullopt;
  const auto tail = fraction_and_zone_millis(text, at);
  if (!tail) return std::nullopt;
  const std::int64_t days =
      days_from_civil(year, static_cast<unsigned>(month), static_cast<unsigned>(day));
  return days * 24 * kMillisPerHour + hour * kMillisPerHour + minute * kMillisPerMinute +
         second * kMillisPerSecond + *tail;
}

std::optional<std::int64_t> parse_go_duration_millis(std::string_view text) {
  if (text == "0") return 0;
  if (text.empty()) return std::nullopt;
  constexpr std::int64_t kMaxMillis = std::int64_t{1} << 50;
  std::int64_t total_micros = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    std::int64_t whole = 0;
    std::int64_t micro_fraction = 0;  // of one unit, in millionths
    std::size_t count = 0;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, ++count) {
      whole = whole * 10 + (text[at] - '0');
      if (whole > kMaxMillis) return std::nullopt;
    }
    if (at < text.size() && text[at] == '.') {
      ++at;
      for (std::int64_t scale = 100000; at < text.size() && text[at] >= '0' && text[at] <= '9';
           ++at, ++count) {
        micro_fraction += (text[at] - '0') * scale;
        scale /= 10;
      }
    }
    if (count == 0) return std::nullopt;
    const std::string_view rest = text.substr(at);
    std::int64_t unit_micros = 0;
    if (rest.starts_with("ms")) {
      unit_micros = 1000;
      at += 2;
    } else if (rest.starts_with("us")) {
      unit_micros = 1;
      at += 2;
    } else if (rest.starts_with("h")) {
      unit_micros = kMillisPerHour * 1000;
      ++at;
    } else if (rest.starts_with("m")) {
      unit_micros = kMillisPerMinute * 1000;
      ++at;
    } else if (rest.starts_with("s")) {
      unit_micros = kMillisPerSecond * 1000;
      ++at;
    } else {
      return std::nullopt;
    }
    if (whole > kMaxMillis * 1000 / unit_micros) return std::nullopt;
    total_micros += whole * unit_micros + micro_fraction * (unit_micros / 1000) / 1000;
    if (total_micros > kMaxMillis * 1000) return std::nullopt;
  }
  return total_micros / 1000;
}

}  // namespace karst::base
