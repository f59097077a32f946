#include "kube/client.h"

#include <future>
#include <memory>

#include "http/date.h"
#include "objects/json.h"

namespace karst::kube {
namespace {

constexpr std::int64_t kTokenAgeMillis = 60'000;
constexpr std::size_t kFailureTextMax = 400;

base::Kind kind_of_failure(const http::Response& response) {
  if (response.status == 401 || response.status == 403) return base::Kind::kDenied;
  return base::Kind::kRetry;
}

}  // namespace

Client::Client(http::Transport& transport, ServerAccess access, std::string user_agent)
    : transport_(transport), access_(std::move(access)), user_agent_(std::move(user_agent)) {}

std::string Client::bearer_token() {
  if (!access_.token.empty() || access_.token_file.empty()) return access_.token;
  std::lock_guard lock(token_->mutex);
  if (token_->fresh) return token_->text;
  token_->fresh = true;
  transport_.after(kTokenAgeMillis, [token = token_] {
    std::lock_guard again(token->mutex);
    token->fresh = false;
  });
  auto bytes = read_file(access_.token_file, kCredentialBytesMax);
  if (!bytes) return token_->text;  // the old one may still be good; if not, the server says 401
  while (!bytes->empty() && std::string_view("\n\r ").find(bytes->back()) != std::string_view::npos)
    bytes->pop_back();
  token_->text = std::move(*bytes);
  return token_->text;
}

http::RequestId Client::send(Call call, http::Transport::Done done) {
  http::Request request;
  request.method = call.method;
  request.url = access_.server + call.path;
  request.headers = {"Accept: application/json", "User-Agent: " + user_agent_};
  if (const std::string token = bearer_token(); !token.empty())
    request.headers.push_back("Authorization: Bearer " + token);
  if (!call.body.empty())
    request.headers.push_back("Content-Type: " + std::string(call.content_type));
  if (!call.audit_id.empty()) request.headers.push_back("Audit-ID: " + call.audit_id);
  request.body = std::move(call.body);
  request.timeout_millis = call.timeout_millis;
  request.idle_millis = call.idle_millis;
  request.response_bytes_max = call.response_bytes_max;
  request.on_chunk = std::move(call.on_chunk);
  return transport_.send(std::move(request), std::move(done));
}

std::string escaped(std::string_view text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    if (plain) {
      out += c;
    } else {
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out;
}

std::string failure_text(const http::Response& response) {
  if (response.failure != http::Failure::kNone) return response.error;
  std::string text = "HTTP " + std::to_string(response.status);
  objects::Parser parser;
  const auto body = parser.parse(response.body, objects::kObjectBytesMax);
  std::string_view message;
  if (body && body->is_object() && !(*body)["message"].get_string().get(message)) {
    text += ": ";
    text += message.substr(0, kFailureTextMax);
  }
  return text;
}

base::Result<ClusterIdentity> read_cluster_identity(Client& client) {
  auto promise = std::make_shared<std::promise<http::Response>>();
  auto answer = promise->get_future();
  Call call;
  call.path = "/api/v1/namespaces/kube-system";
  client.send(std::move(call),
              [promise](http::Response response) { promise->set_value(std::move(response)); });
  const http::Response response = answer.get();
  if (!response.ok())
    return base::fail(kind_of_failure(response), "the API server: " + failure_text(response));
  objects::Parser parser;
  const auto body = parser.parse(response.body, objects::kObjectBytesMax);
  if (!body) return base::fail(body.error().with_context("the namespace kube-system"));
  objects::Context context;
  ClusterIdentity identity;
  objects::Object::from(context, *body).object("metadata", [&](const objects::Object& metadata) {
    identity.uid = metadata.text("uid");
  });
  KARST_TRY(context.status());
  if (identity.uid.empty())
    return base::fail(base::Kind::kInvalid, "the namespace kube-system has no uid");
  identity.server_wall_millis = http::parse_http_date(response.header("date")).value_or(0);
  return identity;
}

}  // namespace karst::kube
