#include "model/quantity.h"

#include <string>

#include "base/utf8.h"

namespace karst::model {
namespace {

constexpr std::int64_t kMaxValue = (std::int64_t{1} << 62) - 1;
constexpr int kMaxDigits = 64;
__extension__ typedef unsigned __int128 Wide;
constexpr Wide kWideLimit = Wide{1} << 120;

struct Suffix {
  std::string_view text;
  int decimal_exponent;  // power of ten, or
  int binary_exponent;   // power of two
};

constexpr Suffix kSuffixes[] = {
    {"Ki", 0, 10}, {"Mi", 0, 20}, {"Gi", 0, 30}, {"Ti", 0, 40}, {"Pi", 0, 50}, {"Ei", 0, 60},
    {"n", -9, 0},  {"u", -6, 0},  {"m", -3, 0},  {"", 0, 0},    {"k", 3, 0},   {"M", 6, 0},
    {"G", 9, 0},   {"T", 12, 0},  {"P", 15, 0},  {"E", 18, 0},
};

base::Result<Suffix> parse_suffix(std::string_view text, std::string_view whole) {
  for (const Suffix& suffix : kSuffixes)
    if (suffix.text == text) return suffix;
  const auto bad = [&] {
    return base::fail(base::Kind::kInvalid,
                      "quantity \"" + std::string(whole) +
                          "\": expected digits with an optional suffix such as m, k, Mi or e3");
  };
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return bad();
  std::size_t at = 1;
  const bool negative = text[at] == '-';
  if (text[at] == '-' || text[at] == '+') ++at;
  if (at == text.size() || text.size() - at > 2) return bad();
  int exponent = 0;
  for (; at < text.size(); ++at) {
    if (text[at] < '0' || text[at] > '9') return bad();
    exponent = exponent * 10 + (text[at] - '0');
  }
  return Suffix{"", negative ? -exponent : exponent, 0};
}

base::Result<std::int64_t> parse_scaled(std::string_view text, int scale_exponent,
                                        Rounding rounding) {
  std::string_view rest = text;
  if (rest.starts_with('+')) rest.remove_prefix(1);
  Wide mantissa = 0;
  int exponent = scale_exponent;
  int digit_count = 0;
  bool point = false;
  bool inexact = false;
  std::size_t at = 0;
  for (; at < rest.size(); ++at) {
    const char c = rest[at];
    if (c == '.' && !point) {
      point = true;
      continue;
    }
    if (c < '0' || c > '9') break;
    if (++digit_count > kMaxDigits)
      return base::fail(
          base::Kind::kInvalid,
          "quantity \"" + std::string(base::cut_utf8(text, 80)) + "\": more than 64 digits");
    if (mantissa > kWideLimit / 1000) {
      if (!point) ++exponent;
      inexact = inexact || c != '0';
      continue;
    }
    mantissa = mantissa * 10 + static_cast<unsigned>(c - '0');
    if (point) --exponent;
  }
  auto suffix = parse_suffix(rest.substr(at), text);
  if (!suffix) return base::fail(suffix.error());
  if (digit_count == 0)
    return base::fail(base::Kind::kInvalid, "quantity \"" + std::string(text) + "\": no digits");
  exponent += suffix->decimal_exponent;
  for (int i = 0; i < suffix->binary_exponent; ++i) {
    if (mantissa > kWideLimit / 2) return kMaxValue;
    mantissa *= 2;
  }
  for (; exponent > 0; --exponent) {
    if (mantissa > kWideLimit / 10) return kMaxValue;
    mantissa *= 10;
  }
  for (; exponent < 0; ++exponent) {
    inexact = inexact || mantissa % 10 != 0;
    mantissa /= 10;
  }
  if (mantissa >= static_cast<Wide>(kMaxValue)) return kMaxValue;
  return static_cast<std::int64_t>(mantissa) + (inexact && rounding == Rounding::kUp ? 1 : 0);
}

}  // namespace

base::Result<std::int64_t> parse_quantity_millis(std::string_view text, Rounding rounding) {
  return parse_scaled(text, 3, rounding);
}

base::Result<std::int64_t> parse_quantity_units(std::string_view text, Rounding rounding) {
  return parse_scaled(text, 0, rounding);
}

std::string format_millis(std::int64_t millis) {
  return millis % 1000 == 0 ? std::to_string(millis / 1000) : std::to_string(millis) + "m";
}

std::string format_bytes(std::int64_t bytes) {
  constexpr std::string_view kBinary[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  std::size_t suffix = 0;
  for (; bytes != 0 && bytes % 1024 == 0 && suffix + 1 < std::size(kBinary); ++suffix)
    bytes /= 1024;
  return std::to_string(bytes) + std::string(kBinary[suffix]);
}

}  // namespace karst::model
