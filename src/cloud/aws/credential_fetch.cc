#include "cloud/aws/credential_fetch.h"

#include <algorithm>
#include <cctype>
#include <memory>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>
#include <utility>

#include "base/time.h"
#include "cloud/aws/request.h"
#include "cloud/aws/small_file.h"

namespace karst::cloud::aws {
namespace {

using base::Kind;
using base::Result;

std::string trimmed(std::string text) {
  const auto blank = [](unsigned char c) { return std::isspace(c) != 0; };
  while (!text.empty() && blank(static_cast<unsigned char>(text.back()))) text.pop_back();
  return text;
}

bool fits_a_header(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return c >= ' ' && c < 0x7f; });
}

Result<Secret> read_token(const std::string& path) {
  auto text = read_small_file(path, kTokenBytesMax);
  if (!text) return base::fail(Kind::kInvalid, text.error().message);
  std::string token = trimmed(std::move(*text));
  if (token.empty() || !fits_a_header(token))
    return base::fail(Kind::kInvalid, path + ": expected one token, in one line");
  return Secret(std::move(token));
}

// "MESSAGE (HTTP 500)" or why no answer came.
base::Error unanswered(const std::string& asked, const http::Response& response) {
  const bool came = response.failure == http::Failure::kNone;
  const bool passing = !came || response.status >= 500 || response.status == 429;
  return {passing ? Kind::kRetry : Kind::kDenied,
          asked + (came ? ": HTTP " + std::to_string(response.status) : ": " + response.error)};
}

// The members that container agents and instance metadata have in common.
Result<Credentials> read_json_keys(const Secret& body, const std::string& from) {
  const auto json = nlohmann::json::parse(body.reveal(), nullptr, false);
  const auto text = [&](const char* key) -> std::string {
    if (!json.is_object() || !json.contains(key) || !json[key].is_string()) return "";
    return json[key].get<std::string>();
  };
  if (const std::string code = text("Code"); !code.empty() && code != "Success")
    return base::fail(Kind::kDenied, from + " answers " + code.substr(0, 100));
  Credentials keys;
  keys.access_key_id = text("AccessKeyId");
  keys.secret_access_key = Secret(text("SecretAccessKey"));
  keys.session_token = Secret(text("Token"));
  keys.source = from;
  const std::string expires = text("Expiration");
  keys.expires_wall_millis = base::parse_rfc3339(expires);
  if (keys.access_key_id.empty() || keys.secret_access_key.empty() ||
      (!expires.empty() && !keys.expires_wall_millis) || !fits_a_header(keys.access_key_id) ||
      !fits_a_header(keys.session_token.reveal()))
    return base::fail(Kind::kRetry, from +
                                        ": its answer holds no credentials; expected JSON with "
                                        "AccessKeyId, SecretAccessKey, Token and Expiration");
  return keys;
}

Result<Credentials> read_sts_keys(const Secret& body, const std::string& action,
                                  const std::string& from) {
  pugi::xml_document document;
  pugi::xml_node keys_of;
  if (document.load_buffer(body.reveal().data(), body.reveal().size()))
    keys_of = document.document_element().child((action + "Result").c_str()).child("Credentials");
  Credentials keys;
  keys.access_key_id = keys_of.child_value("AccessKeyId");
  keys.secret_access_key = Secret(keys_of.child_value("SecretAccessKey"));
  keys.session_token = Secret(keys_of.child_value("SessionToken"));
  keys.expires_wall_millis = base::parse_rfc3339(keys_of.child_value("Expiration"));
  keys.source = from;
  if (keys.access_key_id.empty() || keys.secret_access_key.empty() || !keys.expires_wall_millis ||
      !fits_a_header(keys.access_key_id) || !fits_a_header(keys.session_token.reveal()))
    return base::fail(Kind::kRetry, "STS " + action + ": its answer holds no credentials");
  return keys;
}

class Fetch : public std::enable_shared_from_this<Fetch> {
 public:
  Fetch(const FetchNeeds& needs, const CredentialSource& source, Fetched done)
      : needs_(needs), source_(source), done_(std::move(done)) {}

  void begin() {
    std::visit([this](const auto& base) { ask(base); }, source_.base);
  }

 private:
  void ask(const StaticKeys& base) { next_role(base.keys); }

  void ask(const WebIdentity& base) {
    const auto token = read_token(base.token_file);
    if (!token) return done_(base::fail(token.error().with_context("AWS_WEB_IDENTITY_TOKEN_FILE")));
    Call call;
    call.action = "AssumeRoleWithWebIdentity";
    call.parameters = {{"RoleArn", base.role_arn},
                       {"RoleSessionName", base.session_name},
                       {"WebIdentityToken", token->reveal()}};
    ask_sts(std::move(call), nullptr, base.role_arn);
  }

  void ask(const Container& base) {
    http::Request request;
    request.url = base.url;
    Secret token = base.token;
    if (!base.token_file.empty()) {
      auto read = read_token(base.token_file);
      if (!read)
        return done_(
            base::fail(read.error().with_context("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")));
      token = std::move(*read);
    }
    if (!fits_a_header(token.reveal()))
      return done_(base::fail(Kind::kInvalid,
                              "AWS_CONTAINER_AUTHORIZATION_TOKEN: expected one "
                              "line"));
    if (!token.empty()) request.headers.push_back("Authorization: " + token.reveal());
    send(std::move(request), [self = shared_from_this()](http::Response response) {
      const std::string from = self->source_.described;
      if (!response.ok()) return self->done_(base::fail(unanswered(from, response)));
      self->take(read_json_keys(Secret(std::move(response.body)), from));
    });
  }

  void ask(const InstanceMetadata& base) {
    http::Request request;
    request.method = http::Method::kPut;
    request.url = base.url + "/latest/api/token";
    request.headers.push_back("X-aws-ec2-metadata-token-ttl-seconds: " +
                              std::to_string(kMetadataTokenSeconds));
    send(std::move(request), [self = shared_from_this(), url = base.url](http::Response response) {
      if (!response.ok())
        return self->done_(base::fail(
            unanswered(url + "/latest/api/token", response)
                .with_context("instance metadata gives no token (in a pod without the host's "
                              "network it needs a hop limit of 2; EKS Pod Identity or a web "
                              "identity need none)")));
      self->ask_role_name(url, Secret(trimmed(std::move(response.body))));
    });
  }

  void ask_role_name(const std::string& url, const Secret& token) {
    const std::string path = url + "/latest/meta-data/iam/security-credentials/";
    get_metadata(path, token, [self = shared_from_this(), path, token](http::Response response) {
      std::string role = response.body.substr(0, response.body.find('\n'));
      role = trimmed(std::move(role));
      if (response.status == 404 || (response.ok() && role.empty()))
        return self->done_(
            base::fail(Kind::kDenied, path + ": this instance has no IAM role; give its instance "
                                             "profile one"));
      if (!response.ok()) return self->done_(base::fail(unanswered(path, response)));
      self->ask_role(path + uri_encode(role), token);
    });
  }

  void ask_role(const std::string& path, const Secret& token) {
    get_metadata(path, token, [self = shared_from_this(), path](http::Response response) {
      if (!response.ok()) return self->done_(base::fail(unanswered(path, response)));
      auto keys = read_json_keys(Secret(std::move(response.body)), self->source_.described);
      const std::int64_t now = self->needs_.time->now_millis();
      if (keys && keys->expires_wall_millis && *keys->expires_wall_millis <= now)
        keys->expires_wall_millis = now + kMetadataExtensionMillis;
      self->take(std::move(keys));
    });
  }

  void get_metadata(const std::string& url, const Secret& token,
                    std::function<void(http::Response)> then) {
    http::Request request;
    request.url = url;
    request.headers.push_back("X-aws-ec2-metadata-token: " + token.reveal());
    send(std::move(request), std::move(then));
  }

  void send(http::Request request, std::function<void(http::Response)> then) {
    request.timeout_millis = kMetadataTimeoutMillis;
    request.response_bytes_max = kCredentialAnswerBytesMax;
    request.headers.push_back("User-Agent: " + needs_.user_agent);
    needs_.transport->send(std::move(request), std::move(then));
  }

  void take(Result<Credentials> keys) {
    if (!keys) return done_(base::fail(keys.error()));
    next_role(std::move(*keys));
  }

  void next_role(Credentials keys) {
    if (roles_assumed_ == source_.roles.size()) {
      keys.source = source_.described;
      return done_(std::move(keys));
    }
    const RoleStep& step = source_.roles[roles_assumed_++];
    Call call;
    call.action = "AssumeRole";
    call.parameters = {{"RoleArn", step.role_arn},
                       {"RoleSessionName", step.session_name},
                       {"DurationSeconds", step.duration_seconds}};
    if (!step.external_id.empty()) call.parameters["ExternalId"] = step.external_id;
    ask_sts(std::move(call), &keys, step.role_arn);
  }

  void ask_sts(Call call, const Credentials* keys, const std::string& role) {
    call.service = Service::kSts;
    call.answer_bytes_max = kCredentialAnswerBytesMax;
    auto request =
        make_request(call, needs_.sts, keys, needs_.time->now_millis(), needs_.user_agent);
    if (!request) return done_(base::fail(request.error()));
    needs_.transport->send(std::move(*request), [self = shared_from_this(), action = call.action,
                                                 role](http::Response response) {
      if (response.failure != http::Failure::kNone)
        return self->done_(
            base::fail(Kind::kRetry, "STS " + action + " for " + role + ": " + response.error));
      const std::int64_t skew = self->needs_.time->observe(response);
      if (!response.ok()) return self->refuse(response, skew, action + " for " + role);
      self->take(read_sts_keys(Secret(std::move(response.body)), action, role));
    });
  }

  void refuse(const http::Response& response, std::int64_t skew, const std::string& asked) {
    const CallError error = read_error(response, skew);
    const bool passing = error.trouble == Trouble::kThrottled || may_have_happened(error.trouble) ||
                         error.trouble == Trouble::kSkew;
    done_(base::fail(passing ? Kind::kRetry : Kind::kDenied, "STS " + told(error, asked)));
  }

  const FetchNeeds needs_;
  const CredentialSource source_;
  const Fetched done_;
  std::size_t roles_assumed_ = 0;
};

}  // namespace

void fetch_credentials(const FetchNeeds& needs, const CredentialSource& source, Fetched done) {
  std::make_shared<Fetch>(needs, source, std::move(done))->begin();
}

void fetch_region(const FetchNeeds& needs, const std::string& url,
                  std::function<void(Result<std::string>)> done) {
  http::Request request;
  request.method = http::Method::kPut;
  request.url = url + "/latest/api/token";
  request.timeout_millis = kMetadataTimeoutMillis;
  request.headers = {"X-aws-ec2-metadata-token-ttl-seconds: 60", "User-Agent: " + needs.user_agent};
  needs.transport->send(std::move(request), [needs, url, done](http::Response token) {
    if (!token.ok())
      return done(
          base::fail(unanswered("AWS_REGION is not set, and " + url + " gives no token", token)));
    http::Request ask;
    ask.url = url + "/latest/meta-data/placement/region";
    ask.timeout_millis = kMetadataTimeoutMillis;
    ask.response_bytes_max = kCredentialAnswerBytesMax;
    ask.headers = {"X-aws-ec2-metadata-token: " + trimmed(std::move(token.body)),
                   "User-Agent: " + needs.user_agent};
    needs.transport->send(std::move(ask), [done, url](http::Response response) {
      if (!response.ok())
        return done(base::fail(unanswered("AWS_REGION is not set, and " + url, response)));
      done(trimmed(std::move(response.body)));
    });
  });
}

}  // namespace karst::cloud::aws
