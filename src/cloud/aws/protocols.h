// The cloud's five wire protocols as text: what a request says, and what an error answer means
// (the vendor's "AWS Query", "EC2 Query", "AWS JSON 1.0/1.1" and "restJson1" protocol pages). Pure.
//
// Parameters are one ordered tree with the names that go over the wire, the same for every
// protocol:
//   {"InstanceId": ["i-1"], "Filter": [{"Name": "tag-key", "Value": ["a"]}]}
// EC2 Query writes a list as Name.1, Query (STS, IAM) as Name.member.1; JSON sends the tree as is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cloud/aws/endpoints.h"
#include "cloud/aws/url.h"
#include "http/transport.h"

namespace karst::cloud::aws {

using Tree = nlohmann::ordered_json;

inline constexpr std::size_t kParametersMax = 20'000;
inline constexpr int kParameterDepthMax = 32;
inline constexpr std::size_t kErrorTextMax = 500;  // of a message that is shown to people

// Numbered and dotted names with their values, in the tree's order; null is left out. Errors:
// kInvalid: the tree is no object, too deep or too large.
base::Result<Pairs> flatten(const Tree& parameters, Protocol protocol);

// What a refused, failed or unreadable call comes to; `kNone` is success. Retrying is the caller's.
enum class Trouble {
  kNone,
  kThrottled,    // asked too much, by the service's word or by our own budget: later, and less
  kCredentials,  // they are wrong or over; fresh ones are being asked for
  kDenied,       // a person must grant something
  kSkew,         // this machine's clock is too far off for its signatures
  kNotFound,     // the thing does not exist
  kRefused,      // any other definite no; the code says which
  kServer,       // 5xx: it may have had its effect
  kMalformed,    // an answer that is none of this protocol's: it may have had its effect
  kUnclear,      // no complete answer came: it may have had its effect
  kNotSent,      // it did not leave
};
std::string_view trouble_name(Trouble trouble);
// Whether the call may have had its effect all the same: for what changes something, find out.
bool may_have_happened(Trouble trouble);

struct CallError {
  Trouble trouble = Trouble::kNone;
  std::string code;     // the service's; empty when there is none
  std::string message;  // for people, cut at kErrorTextMax; holds nothing secret
  std::string request_id;
  int status = 0;
};

// "DescribeInstances: throttled (RequestLimitExceeded, HTTP 503, request …): message".
std::string told(const CallError& error, std::string_view action);

// Reads an answer whose status is not 2xx. `skew_millis`: how far the answer's Date is off our
// clock; a refused signature is a matter of the clock when that is too far.
CallError read_error(const http::Response& response, std::int64_t skew_millis);

// A signature is refused when its time is five minutes off; a little earlier we say so ourselves.
inline constexpr std::int64_t kSkewMillisMax = 4 * 60'000;

}  // namespace karst::cloud::aws
