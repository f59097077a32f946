// The Date header of an answer (RFC 9110, 5.6.7, the preferred form): "Sat, 21 Nov 2026 10:17:51
// GMT".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace karst::http {

// Unix milliseconds; nullopt if it is not such a date.
std::optional<std::int64_t> parse_http_date(std::string_view text);

}  // namespace karst::http
