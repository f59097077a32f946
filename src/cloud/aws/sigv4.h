// AWS Signature Version 4 in its header form, as the vendor's reference describes it ("Create a
// signed AWS API request") and its published test cases prove (tests/cloud/aws_sigv4_test.cc).
// Pure: the time is an argument.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cloud/aws/secret.h"
#include "cloud/aws/url.h"

namespace karst::cloud::aws {

// What signs. Copies of the secret parts wipe themselves (secret.h).
struct Credentials {
  std::string access_key_id;
  Secret secret_access_key;
  Secret session_token;                             // empty: none
  std::optional<std::int64_t> expires_wall_millis;  // unix; none: never
  std::string source;                               // where they are from, for people

  friend bool operator==(const Credentials&, const Credentials&) = default;
};

// S3 alone signs the path as it is; everywhere else empty and dot segments are resolved first.
enum class PathRule { kNormalized, kAsIs };

struct SigningRequest {
  std::string_view method;
  std::string_view path = "/";  // as it goes out, so what is encoded there is encoded twice here
  Pairs query;
  Pairs headers;  // all of them are signed; "Host" and "X-Amz-Date" belong to them
  std::string_view body;
  PathRule path_rule = PathRule::kNormalized;
};

struct Signature {
  std::string canonical_request;
  std::string string_to_sign;
  std::string signature;
  std::string authorization;  // the header's value
};

// Sorted by encoded key, then encoded value; encoded. It goes out in the same form.
std::string canonical_query(const Pairs& query);
// "20260801T100000Z" of unix milliseconds.
std::string amz_date(std::int64_t unix_millis);

Signature sign(const SigningRequest& request, const Credentials& credentials,
               std::string_view region, std::string_view service, std::string_view date);

}  // namespace karst::cloud::aws
