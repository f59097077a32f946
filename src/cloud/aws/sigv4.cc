#include "cloud/aws/sigv4.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <vector>

#include "base/sha256.h"
#include "base/time.h"

namespace karst::cloud::aws {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";

std::string canonical_path(std::string_view path, PathRule rule) {
  if (rule == PathRule::kAsIs) return uri_encode(path, "/");
  const bool ends_in_slash = path.ends_with('/') || path.ends_with("/.") || path.ends_with("/..");
  std::vector<std::string_view> kept;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string_view segment = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (segment == "..") {
      if (!kept.empty()) kept.pop_back();
    } else if (!segment.empty() && segment != ".") {
      kept.push_back(segment);
    }
  }
  std::string normal;
  for (const std::string_view segment : kept) {
    normal += '/';
    normal += uri_encode(segment);
  }
  if (normal.empty() || ends_in_slash) normal += '/';
  return normal;
}

// Blanks at both ends go, each run of blanks within becomes one (a folded line is such a run).
std::string one_spaced(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (std::isspace(static_cast<unsigned char>(c)) == 0)
      text += c;
    else if (!text.empty() && text.back() != ' ')
      text += ' ';
  }
  if (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

// By lower-case name; a name that comes twice has its values joined in their order.
std::map<std::string, std::string> canonical_headers(const Pairs& headers) {
  std::map<std::string, std::string> canonical;
  for (const auto& [name, value] : headers) {
    std::string lower = name;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const auto [place, is_new] = canonical.emplace(std::move(lower), one_spaced(value));
    if (!is_new) place->second += "," + one_spaced(value);
  }
  return canonical;
}

std::string_view bytes_of(const base::Sha256Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

std::string signature_of(const Credentials& credentials, std::string_view day,
                         std::string_view region, std::string_view service, std::string_view text) {
  const Secret first("AWS4" + credentials.secret_access_key.reveal());
  base::Sha256Digest key = base::hmac_sha256(first.reveal(), day);
  for (const std::string_view part : {region, service, std::string_view("aws4_request")})
    key = base::hmac_sha256(bytes_of(key), part);
  const base::Sha256Digest signature = base::hmac_sha256(bytes_of(key), text);
  for (volatile std::uint8_t& byte : key) byte = 0;
  return base::hex_lower(signature);
}

}  // namespace

std::string canonical_query(const Pairs& query) {
  std::vector<std::pair<std::string, std::string>> encoded;
  encoded.reserve(query.size());
  for (const auto& [key, value] : query) encoded.emplace_back(uri_encode(key), uri_encode(value));
  std::sort(encoded.begin(), encoded.end());
  std::string text;
  for (const auto& [key, value] : encoded) {
    if (!text.empty()) text += '&';
    text += key + "=" + value;
  }
  return text;
}

std::string amz_date(std::int64_t unix_millis) {
  const std::string full = base::format_rfc3339(unix_millis);  // 2026-11-21T10:17:51.042Z
  std::string date;
  for (const char c : full.substr(0, full.find('.')))
    if (c != '-' && c != ':') date += c;
  return date + "Z";
}

Signature sign(const SigningRequest& request, const Credentials& credentials,
               std::string_view region, std::string_view service, std::string_view date) {
  Signature made;
  std::string& canonical = made.canonical_request;
  canonical.append(request.method).append("\n");
  canonical += canonical_path(request.path, request.path_rule) + "\n";
  canonical += canonical_query(request.query) + "\n";
  std::string names;
  for (const auto& [name, value] : canonical_headers(request.headers)) {
    canonical += name + ":" + value + "\n";
    names += (names.empty() ? "" : ";") + name;
  }
  canonical += "\n" + names + "\n" + base::hex_lower(base::sha256(request.body));

  const std::string_view day = date.substr(0, 8);
  std::string scope(day);
  scope.append("/").append(region).append("/").append(service).append("/aws4_request");
  made.string_to_sign.append(kAlgorithm).append("\n").append(date).append("\n");
  made.string_to_sign += scope + "\n" + base::hex_lower(base::sha256(canonical));
  made.signature = signature_of(credentials, day, region, service, made.string_to_sign);
  made.authorization.append(kAlgorithm)
      .append(" Credential=" + credentials.access_key_id + "/" + scope)
      .append(", SignedHeaders=" + names)
      .append(", Signature=" + made.signature);
  return made;
}

}  // namespace karst::cloud::aws
