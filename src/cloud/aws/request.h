// One call as a value, and the HTTP request that it becomes: encoded by its service's protocol and
// signed. Pure: the time is an argument.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cloud/aws/endpoints.h"
#include "cloud/aws/protocols.h"
#include "cloud/aws/sigv4.h"
#include "http/transport.h"

namespace karst::cloud::aws {

// What the shared budget keeps a share for (budget.h), most favoured first.
enum class Purpose { kRemove, kRead, kMake };
inline constexpr int kPurposes = 3;

struct Call {
  Service service = Service::kEc2;
  std::string action;                // "DescribeInstances"; for REST a name for people
  Tree parameters = Tree::object();  // REST: the body, if it has members
  Purpose purpose = Purpose::kRead;
  // REST only. The path as it goes out: whoever builds it encodes its parts (uri_encode).
  http::Method method = http::Method::kGet;
  std::string path = "/";
  Pairs query;
  std::int64_t timeout_millis = 30'000;  // for the whole exchange
  std::size_t answer_bytes_max = 64u << 20;
  std::function<bool()> may_leave;  // as in http::Request
};

// `credentials` null: unsigned (AssumeRoleWithWebIdentity alone). Errors: kInvalid: the parameters
// cannot be written in this protocol.
base::Result<http::Request> make_request(const Call& call, const Endpoint& endpoint,
                                         const Credentials* credentials, std::int64_t unix_millis,
                                         std::string_view user_agent);

}  // namespace karst::cloud::aws
