// Any bytes as a request to sign, in lines: method, path, secret, body, then headers ("name:
// value") and query members ("?key=value"). Signing the same twice is the same, in whatever order
// the query is written; the canonical request, read back and signed again, is itself. And any bytes
// as a URL.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "cloud/aws/sigv4.h"

namespace {

using namespace karst::cloud::aws;

constexpr std::size_t kMembersMax = 64;

std::string_view line(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  const std::string_view first = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return first;
}

std::pair<std::string, std::string> member(std::string_view text, char separator) {
  const std::size_t at = std::min(text.find(separator), text.size());
  return {std::string(text.substr(0, at)), std::string(text.substr(std::min(at + 1, text.size())))};
}

std::string decoded(std::string_view text) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'A' + 10; };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) std::abort();  // what is encoded is encoded whole
    out += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
    i += 2;
  }
  return out;
}

bool is_token(std::string_view text) {
  for (const char c : text)
    if (c <= ' ' || c == 0x7f || c == ':' || c == '\n') return false;
  return !text.empty();
}

Signature signed_once(const SigningRequest& request, const Credentials& keys) {
  return sign(request, keys, "us-east-1", "ec2", "20260801T100000Z");
}

// The canonical request as a request: its parts are what was signed.
SigningRequest read_back(std::string_view canonical, std::string& path) {
  SigningRequest read;
  read.method = line(canonical);
  path = decoded(line(canonical));
  read.path = path;
  std::string_view query = line(canonical);
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const auto [key, value] = member(query.substr(0, end), '=');
    read.query.emplace_back(decoded(key), decoded(value));
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  for (std::string_view one = line(canonical); !one.empty(); one = line(canonical))
    read.headers.push_back(member(one, ':'));
  return read;
}

void read_url(std::string_view text) {
  const auto url = split_url(text);
  if (!url) return;
  if (url->host.empty() || url->path.empty()) std::abort();
  const std::string head = url->scheme + "://" + url->authority;
  const std::string tail = url->query.empty() ? "" : "?" + url->query;
  const auto again = split_url(head + url->path + tail);
  if (!again || again->host != url->host || again->path != url->path || again->query != url->query)
    std::abort();
  (void)is_loopback_host(url->host);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  read_url(rest);
  SigningRequest request;
  request.method = line(rest);
  request.path = line(rest);
  read_url(request.path);
  Credentials keys;
  keys.access_key_id = "AKIATEST";
  keys.secret_access_key = Secret(std::string(line(rest)));
  request.body = line(rest);
  bool plain = is_token(request.method);
  for (std::size_t i = 0; i < kMembersMax && !rest.empty(); ++i) {
    const std::string_view text = line(rest);
    if (text.starts_with('?')) {
      request.query.push_back(member(text.substr(1), '='));
    } else {
      request.headers.push_back(member(text, ':'));
      plain = plain && is_token(request.headers.back().first);
    }
  }
  request.path_rule = size % 2 == 0 ? PathRule::kNormalized : PathRule::kAsIs;
  const Signature first = signed_once(request, keys);
  if (first.signature.size() != 64) std::abort();
  std::reverse(request.query.begin(), request.query.end());
  const bool reversed = request.query.size() > 1;  // else it is the same request: for some lengths
  if ((reversed || size % 16 < 2) &&
      signed_once(request, keys).authorization != first.authorization)
    std::abort();
  if (!plain) return 0;  // no method or header that HTTP could carry
  std::string path;
  SigningRequest again = read_back(first.canonical_request, path);
  again.body = request.body;
  again.path_rule = request.path_rule;
  if (signed_once(again, keys).canonical_request != first.canonical_request) std::abort();
  return 0;
}
