#include "cloud/aws/request.h"

namespace karst::cloud::aws {
namespace {

struct Encoded {
  http::Method method = http::Method::kPost;
  std::string path = "/";
  Pairs query;
  Pairs headers;
  std::string body;
};

base::Result<Encoded> encode(const Call& call, const ServiceFacts& facts) {
  Encoded made;
  switch (facts.protocol) {
    case Protocol::kEc2Query:
    case Protocol::kQuery: {
      auto pairs = flatten(call.parameters, facts.protocol);
      if (!pairs) return base::fail(pairs.error().with_context(call.action));
      pairs->insert(pairs->begin(),
                    {{"Action", call.action}, {"Version", std::string(facts.version)}});
      made.body = form_encode(*pairs);
      made.headers = {{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}};
      return made;
    }
    case Protocol::kJson10:
    case Protocol::kJson11:
      made.headers = {
          {"Content-Type", facts.protocol == Protocol::kJson10 ? "application/x-amz-json-1.0"
                                                               : "application/x-amz-json-1.1"},
          {"X-Amz-Target", std::string(facts.version) + "." + call.action}};
      break;
    case Protocol::kRestJson:
      made.method = call.method;
      made.path = call.path;
      made.query = call.query;
      if (call.parameters.empty()) return made;
      made.headers = {{"Content-Type", "application/json"}};
      break;
  }
  // Bytes that are no UTF-8 are replaced: a request must not end the process.
  made.body = call.parameters.dump(-1, ' ', false, Tree::error_handler_t::replace);
  return made;
}

}  // namespace

base::Result<http::Request> make_request(const Call& call, const Endpoint& endpoint,
                                         const Credentials* credentials, std::int64_t unix_millis,
                                         std::string_view user_agent) {
  const ServiceFacts& facts = facts_of(endpoint.service);
  auto encoded = encode(call, facts);
  if (!encoded) return base::fail(encoded.error());
  Pairs& headers = encoded->headers;
  const std::string date = amz_date(unix_millis);
  headers.emplace_back("Host", endpoint.host);
  headers.emplace_back("X-Amz-Date", date);
  std::string authorization;
  if (credentials != nullptr) {
    if (!credentials->session_token.empty())
      headers.emplace_back("X-Amz-Security-Token", credentials->session_token.reveal());
    SigningRequest signing;
    signing.method = http::method_name(encoded->method);
    signing.path = encoded->path;
    signing.query = encoded->query;
    signing.headers = headers;
    signing.body = encoded->body;
    authorization = sign(signing, *credentials, endpoint.signing_region, facts.signing_name, date)
                        .authorization;
  }
  http::Request request;
  request.method = encoded->method;
  const std::string query = canonical_query(encoded->query);
  request.url = endpoint.url + encoded->path + (query.empty() ? "" : "?" + query);
  for (const auto& [name, value] : headers) request.headers.push_back(name + ": " + value);
  if (!authorization.empty()) request.headers.push_back("Authorization: " + authorization);
  request.headers.push_back("User-Agent: " + std::string(user_agent));
  request.body = std::move(encoded->body);
  request.timeout_millis = call.timeout_millis;
  request.response_bytes_max = call.answer_bytes_max;
  request.may_leave = call.may_leave;
  return request;
}

}  // namespace karst::cloud::aws
