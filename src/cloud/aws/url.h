// URLs and forms as the cloud's protocols write them (RFC 3986; application/x-www-form-urlencoded
// with %20 for a blank). Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace karst::cloud::aws {

using Pairs = std::vector<std::pair<std::string, std::string>>;  // in order, not encoded

// Every byte but letters, digits and "-._~" as %XX. `keep` are characters that stay besides.
std::string uri_encode(std::string_view text, std::string_view keep = "");
// "a=b&c=d", both sides encoded, in the order given.
std::string form_encode(const Pairs& pairs);

struct Url {
  std::string scheme;     // "http" or "https"
  std::string authority;  // host, with the port if one is written: what the Host header says
  std::string host;       // lower case, without brackets
  std::string path;       // as written; "/" when there is none
  std::string query;      // without "?"
};

// nullopt for anything but http and https with a host; also for user info, a fragment, and for
// bytes that no URL has (blanks, control characters).
std::optional<Url> split_url(std::string_view text);

// 127.0.0.0/8, ::1 or "localhost".
bool is_loopback_host(std::string_view host);

}  // namespace karst::cloud::aws
