#include "http/no_proxy.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>

namespace karst::http {
namespace {

constexpr std::string_view kSeparators = ", \t";
constexpr int kPrefixBitsMax = 128;
constexpr int kMappedBits = 96;  // IPv4 addresses are ::ffff:a.b.c.d here

using Address = std::array<unsigned char, 16>;

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

std::string_view without_brackets(std::string_view host) {
  const bool some = host.size() > 2 && host.front() == '[' && host.back() == ']';
  return some ? host.substr(1, host.size() - 2) : host;
}

std::optional<Address> address_of(std::string_view text) {
  const std::string terminated(text);
  Address address{};
  if (inet_pton(AF_INET6, terminated.c_str(), address.data()) == 1) return address;
  address = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (inet_pton(AF_INET, terminated.c_str(), address.data() + 12) == 1) return address;
  return std::nullopt;
}

bool is_ipv4(const Address& address) {
  static constexpr Address kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::equal(address.begin(), address.begin() + kMappedBits / 8, kMapped.begin());
}

bool same_bits(const Address& a, const Address& b, int bits) {
  const auto whole = static_cast<std::size_t>(bits / 8);
  if (!std::equal(a.begin(), a.begin() + whole, b.begin())) return false;
  const int rest = bits % 8;
  return rest == 0 || ((a[whole] ^ b[whole]) >> (8 - rest)) == 0;
}

bool network_holds(std::string_view network, std::string_view prefix, const Address& host) {
  const auto base = address_of(network);
  int bits = 0;
  const auto [end, error] = std::from_chars(prefix.data(), prefix.data() + prefix.size(), bits);
  if (!base || error != std::errc() || end != prefix.data() + prefix.size() || bits < 0)
    return false;
  if (network.find(':') == network.npos) bits += kMappedBits;
  if (bits < kMappedBits && is_ipv4(host)) return false;  // ::/0 is every IPv6 address, no more
  return bits <= kPrefixBitsMax && same_bits(*base, host, bits);
}

bool name_holds(std::string_view name, std::string_view host) {
  if (name.starts_with("*.")) name.remove_prefix(1);
  if (name.starts_with(".")) return host.size() > name.size() && host.ends_with(name);
  return host == name || (host.size() > name.size() && host.ends_with(name) &&
                          host[host.size() - name.size() - 1] == '.');
}

// "HOST:PORT" or "[HOST]:PORT" in two; the port is empty where there is none.
void split_port(std::string_view entry, std::string_view& host, std::string_view& port) {
  host = entry;
  const std::size_t colon = entry.rfind(':');
  if (colon == entry.npos || address_of(entry)) return;  // an IPv6 address has colons of its own
  if (entry.find(':') != colon && entry[colon - 1] != ']') return;
  host = entry.substr(0, colon);
  port = entry.substr(colon + 1);
}

bool entry_holds(std::string_view entry, std::string_view host, std::string_view wanted_port) {
  if (entry == "*") return true;
  const auto address = address_of(host);
  if (const std::size_t slash = entry.find('/'); slash != entry.npos)
    return address && network_holds(entry.substr(0, slash), entry.substr(slash + 1), *address);
  std::string_view name, port;
  split_port(entry, name, port);
  if (!port.empty() && port != wanted_port) return false;
  name = without_brackets(name);
  if (address) return address_of(name) == address;
  return !name.empty() && name_holds(name, host);
}

}  // namespace

bool no_proxy_holds(std::string_view list, std::string_view given_host, std::string_view port) {
  std::string host = lower(without_brackets(given_host));
  if (host.ends_with('.')) host.pop_back();
  for (std::size_t at = 0; (at = list.find_first_not_of(kSeparators, at)) != list.npos;) {
    const std::size_t end = std::min(list.find_first_of(kSeparators, at), list.size());
    if (entry_holds(lower(list.substr(at, end - at)), host, port)) return true;
    at = end;
  }
  return false;
}

std::string no_proxy_of_environment() {
  for (const char* name : {"no_proxy", "NO_PROXY"})
    if (const char* list = std::getenv(name); list != nullptr && *list != '\0') return list;
  return "";
}

bool never_by_proxy(std::string_view host) {
  if (host == "localhost" || host == "[::1]" || host.starts_with("[fd00:ec2::")) return true;
  const auto address = address_of(host);  // 127.example.com is somebody's name
  return address && is_ipv4(*address) &&
         ((*address)[12] == 127 || ((*address)[12] == 169 && (*address)[13] == 254));
}

}  // namespace karst::http
