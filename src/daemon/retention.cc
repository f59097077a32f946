#include "daemon/retention.h"

#include <fmt/format.h>

#include <charconv>

#include "base/time.h"

namespace karst::daemon {
namespace {

constexpr std::int64_t kDaysMax = 36'500;

}  // namespace

base::Result<std::int64_t> parse_span_millis(std::string_view text) {
  std::int64_t days = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), days);
  const bool in_days =
      error == std::errc() && std::string_view(end, text.data() + text.size()) == "d";
  if (in_days && days >= 1 && days <= kDaysMax) return days * base::kMillisPerDay;
  const auto millis = base::parse_go_duration_millis(text);
  if (millis && *millis > 0) return *millis;
  return base::fail(base::Kind::kInvalid,
                    fmt::format("'{}': expected a duration such as 90d or 2160h", text));
}

base::Result<Retention> parse_retention(std::string_view text) {
  if (text == "standard")
    return Retention{kStandardDays * base::kMillisPerDay,
                     kStandardArchiveDays * base::kMillisPerDay};
  const std::size_t slash = text.find('/');
  const auto at_hand = parse_span_millis(text.substr(0, slash));
  if (!at_hand)
    return base::fail(
        base::Kind::kInvalid,
        fmt::format("'{}': expected standard (93d/366d), how long events stay at hand "
                    "such as 90d, or that and how long they stay in the archive, "
                    "90d/360d",
                    text));
  if (slash == std::string_view::npos) return Retention{*at_hand, 0};
  const auto archived = parse_span_millis(text.substr(slash + 1));
  if (!archived) return base::fail(archived.error());
  if (*archived < *at_hand)
    return base::fail(
        base::Kind::kInvalid,
        fmt::format("'{}': expected the longer span second: events are archived before "
                    "they go from the log",
                    text));
  return Retention{*at_hand, *archived};
}

}  // namespace karst::daemon
