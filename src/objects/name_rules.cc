#include "objects/name_rules.h"

#include <algorithm>

#include "model/label_syntax.h"

namespace karst::objects {
namespace {

using model::is_dns_label;
using model::is_dns_name;
using model::is_label_name;

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}

std::string quoted(std::string_view text) {
  return "\"" + std::string(text.substr(0, 320)) + "\"";
}

}  // namespace

std::string bad_label_key(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string_view name = slash == std::string_view::npos ? text : text.substr(slash + 1);
  if (slash != std::string_view::npos && bad_dns_name(text.substr(0, slash)) != "")
    return quoted(text) + " is no label key: what stands before the slash must be a DNS name";
  if (name.empty()) return quoted(text) + " is no label key: the name is empty";
  if (name.size() > model::kLabelNameMax)
    return quoted(text) + " is no label key: the name is longer than 63 characters";
  if (!is_label_name(name))
    return quoted(text) +
           " is no label key: expected letters, digits, '-', '_' and '.', with a letter or digit "
           "first and last";
  return {};
}

std::string bad_label_value(std::string_view text) {
  if (text.empty()) return {};
  if (text.size() > model::kLabelNameMax)
    return quoted(text) + " is no label value: longer than 63 characters";
  if (!is_label_name(text))
    return quoted(text) +
           " is no label value: expected letters, digits, '-', '_' and '.', with a letter or digit "
           "first and last";
  return {};
}

std::string bad_dns_label(std::string_view text) {
  if (text.size() > model::kLabelNameMax) return quoted(text) + " is longer than 63 characters";
  if (!is_dns_label(text))
    return quoted(text) + " is no DNS label: expected lower case letters, digits and '-'";
  return {};
}

std::string bad_dns_name(std::string_view text) {
  if (text.size() > model::kDnsNameMax) return quoted(text) + " is longer than 253 characters";
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
