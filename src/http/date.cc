#include "http/date.h"

#include <array>
#include <string>

#include "base/time.h"

namespace karst::http {

std::optional<std::int64_t> parse_http_date(std::string_view text) {
  constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  constexpr std::string_view kForm = "Sat, 21 Nov 2026 10:17:51 GMT";
  if (text.size() != kForm.size() || text.substr(26) != "GMT" || text.substr(3, 2) != ", ")
    return std::nullopt;
  for (std::size_t month = 0; month < kMonths.size(); ++month) {
    if (text.substr(8, 3) != kMonths[month]) continue;
    const std::string number = std::to_string(month + 1);
    const std::string rfc3339 =
        std::string(text.substr(12, 4)) + "-" + (number.size() == 1 ? "0" : "") + number + "-" +
        std::string(text.substr(5, 2)) + "T" + std::string(text.substr(17, 8)) + "Z";
    return base::parse_rfc3339(rfc3339);
  }
  return std::nullopt;
}

}  // namespace karst::http
