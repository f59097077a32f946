#include "cloud/aws/url.h"

#include <algorithm>
#include <cctype>

namespace karst::cloud::aws {
namespace {

bool unreserved(unsigned char c) {
  return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_' || c == '~';
}

// Four numbers of at most three digits: an address, not a name that only begins like one.
bool is_ipv4(std::string_view host) {
  int dots = 0, digits = 0;
  for (const unsigned char c : host) {
    if (c == '.') {
      if (digits == 0) return false;
      ++dots, digits = 0;
    } else if (std::isdigit(c) == 0 || ++digits > 3) {
      return false;
    }
  }
  return dots == 3 && digits > 0;
}

}  // namespace

std::string uri_encode(std::string_view text, std::string_view keep) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(text.size() + 16);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (unreserved(byte) || keep.find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      encoded += '%';
      encoded += kHex[byte >> 4];
      encoded += kHex[byte & 15];
    }
  }
  return encoded;
}

std::string form_encode(const Pairs& pairs) {
  std::string form;
  for (const auto& [key, value] : pairs) {
    if (!form.empty()) form += '&';
    form += uri_encode(key);
    form += '=';
    form += uri_encode(value);
  }
  return form;
}

std::optional<Url> split_url(std::string_view text) {
  if (std::any_of(text.begin(), text.end(), [](unsigned char c) { return c <= ' ' || c >= 0x7f; }))
    return std::nullopt;
  Url url;
  for (const std::string_view scheme : {"http", "https"})
    if (text.starts_with(std::string(scheme) + "://")) url.scheme = scheme;
  if (url.scheme.empty()) return std::nullopt;
  text.remove_prefix(url.scheme.size() + 3);
  if (text.find('#') != std::string_view::npos || text.find('\\') != std::string_view::npos)
    return std::nullopt;
  const std::size_t end = std::min(text.find_first_of("/?"), text.size());
  url.authority = text.substr(0, end);
  const std::string_view rest = text.substr(end);
  const std::size_t question = std::min(rest.find('?'), rest.size());
  url.path = rest.substr(0, question);
  if (url.path.empty()) url.path = "/";
  if (question < rest.size()) url.query = rest.substr(question + 1);
  if (url.authority.find('@') != std::string::npos) return std::nullopt;
  const bool bracket = url.authority.starts_with('[');
  const std::size_t close = url.authority.find(']');
  if (bracket != (close != std::string::npos)) return std::nullopt;
  const std::size_t colon = url.authority.find(':', bracket ? close : 0);
  url.host = bracket ? url.authority.substr(1, close - 1) : url.authority.substr(0, colon);
  if (bracket && colon == std::string::npos && close + 1 != url.authority.size())
    return std::nullopt;
  std::transform(url.host.begin(), url.host.end(), url.host.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (url.host.empty()) return std::nullopt;
  return url;
}

bool is_loopback_host(std::string_view host) {
  return host == "localhost" || host == "::1" || (host.starts_with("127.") && is_ipv4(host));
}

}  // namespace karst::cloud::aws
