#include "model/label_syntax.h"

#include <algorithm>

namespace karst::model {
namespace {

bool is_lower_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}
bool is_word(char c) {
  return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z');
}

}  // namespace

bool is_label_name(std::string_view text) {
  return !text.empty() && is_word(text.front()) && is_word(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_word(c) || c == '-' || c == '_' || c == '.'; });
}

bool is_dns_label(std::string_view text) {
  return !text.empty() && text.front() != '-' && text.back() != '-' &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_lower_or_digit(c) || c == '-'; });
}

bool is_dns_name(std::string_view text) {
  for (;;) {
    const std::size_t dot = text.find('.');
    if (!is_dns_label(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool is_label_key(std::string_view key) {
  const std::size_t slash = key.find('/');
  if (slash != std::string_view::npos) {
    const std::string_view domain = key.substr(0, slash);
    if (domain.size() > kDnsNameMax || !is_dns_name(domain)) return false;
    key.remove_prefix(slash + 1);
  }
  return key.size() <= kLabelNameMax && is_label_name(key);
}

bool is_label_value(std::string_view value) {
  return value.empty() || (value.size() <= kLabelNameMax && is_label_name(value));
}

}  // namespace karst::model
