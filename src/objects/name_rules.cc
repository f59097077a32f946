#include "objects/name_rules.h"

#include <algorithm>

namespace karst::objects {
namespace {

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_word(char c) {
  return is_lower(c) || is_digit(c) || (c >= 'A' && c <= 'Z');
}

std::string quoted(std::string_view text) {
  return "\"" + std::string(text.substr(0, 320)) + "\"";
}

// Begins and ends with a letter or digit, and holds those and '-', '_', '.' between.
bool is_name(std::string_view text) {
  return !text.empty() && is_word(text.front()) && is_word(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_word(c) || c == '-' || c == '_' || c == '.'; });
}

bool is_dns_label(std::string_view text) {
  return !text.empty() && text.front() != '-' && text.back() != '-' &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_lower(c) || is_digit(c) || c == '-'; });
}

bool is_dns_name(std::string_view text) {
  for (;;) {
    const std::size_t dot = text.find('.');
    if (!is_dns_label(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

}  // namespace

std::string bad_label_key(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string_view name = slash == std::string_view::npos ? text : text.substr(slash + 1);
  if (slash != std::string_view::npos && bad_dns_name(text.substr(0, slash)) != "")
    return quoted(text) + " is no label key: what stands before the slash must be a DNS name";
  if (name.empty()) return quoted(text) + " is no label key: the name is empty";
  if (name.size() > 63)
    return quoted(text) + " is no label key: the name is longer than 63 characters";
  if (!is_name(name))
    return quoted(text) +
           " is no label key: expected letters, digits, '-', '_' and '.', with a letter or digit "
           "first and last";
  return {};
}

std::string bad_label_value(std::string_view text) {
  if (text.empty()) return {};
  if (text.size() > 63) return quoted(text) + " is no label value: longer than 63 characters";
  if (!is_name(text))
    return quoted(text) +
           " is no label value: expected letters, digits, '-', '_' and '.', with a letter or digit "
           "first and last";
  return {};
}

std::string bad_dns_label(std::string_view text) {
  if (text.size() > 63) return quoted(text) + " is longer than 63 characters";
  if (!is_dns_label(text))
    return quoted(text) + " is no DNS label: expected lower case letters, digits and '-'";
  return {};
}

std::string bad_dns_name(std::string_view text) {
  if (text.size() > 253) return quoted(text) + " is longer than 253 characters";
  if (!is_dns_name(text))
    return quoted(text) + " is no DNS name: expected lower case letters, digits, '-' and '.'";
  return {};
}

std::string bad_port_name(std::string_view text) {
  const bool letter = std::any_of(text.begin(), text.end(), is_lower);
  if (text.size() > 15 || !letter || !is_dns_label(text) ||
      text.find("--") != std::string_view::npos)
    return quoted(text) +
           " is no port name: expected at most 15 lower case letters, digits and '-', with a "
           "letter "
           "among them";
  return {};
}

}  // namespace karst::objects
