#include "objects/yaml_scalar.h"

#include <charconv>
#include <string>

namespace karst::objects {
namespace {

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words)
    if (text == word) return true;
  return false;
}

TreeValue value_of(TreeValue::Type type, std::string text) {
  TreeValue value;
  value.type = type;
  value.text = std::move(text);
  return value;
}

// Decimal, 0x, 0o or a leading 0, 0b; with a sign; underscores between digits are dropped before.
bool read_integer(std::string_view text, std::string& out) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char mark = static_cast<char>(text[1] | 0x20);
    base = mark == 'x' ? 16 : mark == 'b' ? 2 : 8;
    text.remove_prefix(mark == 'x' || mark == 'b' || mark == 'o' ? 2 : 1);
  }
  if (text.empty() || text[0] == '-' || text[0] == '+') return false;
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return false;
  out = (negative && value != 0 ? "-" : "") + std::to_string(value);
  return true;
}

// Digits with a point or an exponent.
bool read_fraction(std::string_view text, std::string& out) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.empty() || (digits[0] != '.' && (digits[0] < '0' || digits[0] > '9'))) return false;
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return false;
  char buffer[64];
  out.assign(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
  return true;
}

}  // namespace

TreeValue plain_scalar(std::string_view text) {
  using enum TreeValue::Type;
  if (is_one_of(text, {"", "~", "null", "Null", "NULL"})) return {};
  if (is_one_of(text, {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", "y", "Y"}))
    return value_of(kBoolean, "true");
  if (is_one_of(text, {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", "n", "N"}))
    return value_of(kBoolean, "false");
  const char first = text.front();
  if ((first < '0' || first > '9') && first != '-' && first != '+' && first != '.')
    return text_value(text);
  const std::string_view unsigned_text = first == '-' || first == '+' ? text.substr(1) : text;
  if (is_one_of(unsigned_text, {".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"}))
    return value_of(kNumber, "");
  std::string plain(text);
  std::erase(plain, '_');
  std::string number;
  if (read_integer(plain, number)) return value_of(kInteger, number);
  if (read_fraction(text, number)) {
    const bool whole = number.find_first_of(".e") == std::string::npos;
    return value_of(whole ? kInteger : kNumber, number);
  }
  return text_value(text);
}

}  // namespace karst::objects
