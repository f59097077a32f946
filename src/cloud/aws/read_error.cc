// What an error answer means: its code out of XML or JSON, and the class that the code belongs to.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <pugixml.hpp>

#include "base/utf8.h"
#include "cloud/aws/protocols.h"

namespace karst::cloud::aws {
namespace {

constexpr std::string_view kThrottles[] = {
    "Throttling",
    "ThrottlingException",
    "ThrottledException",
    "RequestThrottled",
    "RequestThrottledException",
    "TooManyRequestsException",
    "ProvisionedThroughputExceededException",
    "TransactionInProgressException",
    "RequestLimitExceeded",
    "BandwidthLimitExceeded",
    "LimitExceededException",
    "SlowDown",
    "PriorRequestNotComplete",
    "EC2ThrottledException",
    "Client.RequestLimitExceeded",
};
constexpr std::string_view kTimes[] = {"RequestTimeTooSkewed", "RequestInTheFuture"};
// A signature that does not fit. The service's message may quote what was signed, the session token
// with it: it is never passed on.
constexpr std::string_view kSignatures[] = {"SignatureDoesNotMatch", "InvalidSignatureException",
                                            "IncompleteSignature", "IncompleteSignatureException"};
// Credentials that are not believed: the clock's doing when it is off, as with a signature.
constexpr std::string_view kUnbelieved[] = {"AuthFailure", "RequestExpired"};
constexpr std::string_view kTimeouts[] = {"RequestTimeout", "RequestTimeoutException"};
constexpr std::string_view kCredentialCodes[] = {
    "ExpiredToken",          "ExpiredTokenException",       "InvalidClientTokenId",
    "InvalidToken",          "UnrecognizedClientException", "InvalidAccessKeyId",
    "MissingAuthentication", "MissingAuthenticationToken"};
constexpr std::string_view kDenials[] = {"AccessDenied",
                                         "AccessDeniedException",
                                         "UnauthorizedOperation",
                                         "UnauthorizedAccess",
                                         "NotAuthorized",
                                         "OptInRequired",
                                         "Blocked",
                                         "PendingVerification"};
constexpr std::string_view kAbsences[] = {
    "NoSuchEntity",      "NoSuchEntityException",     "ParameterNotFound",
    "QueueDoesNotExist", "ResourceNotFoundException", "AWS.SimpleQueueService.NonExistentQueue"};

template <std::size_t N>
bool among(const std::string_view (&codes)[N], std::string_view code) {
  return std::find(std::begin(codes), std::end(codes), code) != std::end(codes);
}

Trouble trouble_of(const CallError& error, std::int64_t skew_millis) {
  const std::string_view code = error.code;
  if (among(kThrottles, code) || error.status == 429) return Trouble::kThrottled;
  if (among(kTimes, code)) return Trouble::kSkew;
  if (code == "AuthFailure" && error.message.starts_with("Not authorized")) return Trouble::kDenied;
  if (among(kSignatures, code) || among(kUnbelieved, code))
    return std::abs(skew_millis) > kSkewMillisMax ? Trouble::kSkew : Trouble::kCredentials;
  if (among(kCredentialCodes, code)) return Trouble::kCredentials;
  if (among(kDenials, code) || code.starts_with("AuthFailure.")) return Trouble::kDenied;
  if (among(kAbsences, code) || code.ends_with(".NotFound") || code.ends_with(".NotFoundException"))
    return Trouble::kNotFound;
  // EC2 tells a lack of capacity with status 500, and means it: nothing was started.
  if (code.starts_with("Insufficient")) return Trouble::kRefused;
  if (error.status >= 500 || among(kTimeouts, code)) return Trouble::kServer;
  return code.empty() ? Trouble::kMalformed : Trouble::kRefused;
}

void read_xml(const http::Response& response, CallError& error) {
  pugi::xml_document document;
  const auto parsed = document.load_buffer(response.body.data(), response.body.size());
  if (!parsed) return;
  const pugi::xml_node root = document.document_element();
  // EC2 Query has a list of errors, Query one error; servers that imitate them mix the two.
  pugi::xml_node body;
  if (std::strcmp(root.name(), "Response") == 0 || std::strcmp(root.name(), "ErrorResponse") == 0)
    body = root.child("Errors") ? root.child("Errors").child("Error") : root.child("Error");
  error.code = body.child_value("Code");
  error.message = body.child_value("Message");
  for (const char* name : {"RequestID", "RequestId"})
    if (error.request_id.empty()) error.request_id = root.child_value(name);
}

// "namespace#Code:url" in every part that may be there.
std::string bare_code(std::string_view code) {
  if (const auto hash = code.rfind('#'); hash != std::string_view::npos)
    code.remove_prefix(hash + 1);
  return std::string(code.substr(0, code.find_first_of(":;")));
}

void read_json(const http::Response& response, CallError& error) {
  const auto body = nlohmann::json::parse(response.body, nullptr, false);
  const auto text = [&](const char* key) -> std::string {
    if (!body.is_object() || !body.contains(key) || !body[key].is_string()) return "";
    return body[key].get<std::string>();
  };
  error.code = bare_code(response.header("x-amzn-errortype"));
  for (const char* key : {"__type", "code"})
    if (error.code.empty()) error.code = bare_code(text(key));
  for (const char* key : {"message", "Message"})
    if (error.message.empty()) error.message = text(key);
}

bool may_be_shown(unsigned char c) {
  return c >= ' ' && c != 0x7f;
}

}  // namespace

CallError read_error(const http::Response& response, std::int64_t skew_millis) {
  CallError error;
  error.status = response.status;
  if (response.body.starts_with('<'))  // a gateway before a JSON service may speak XML
    read_xml(response, error);
  else
    read_json(response, error);
  for (const char* name : {"x-amzn-requestid", "x-amz-request-id"})
    if (error.request_id.empty()) error.request_id = response.header(name);
  error.trouble = trouble_of(error, skew_millis);
  if (among(kSignatures, error.code)) error.message = "the signature is not accepted";
  if (error.trouble == Trouble::kSkew)
    error.message = "this machine's clock is " + std::to_string(std::abs(skew_millis) / 1000) +
                    " s off the service's; let NTP set it. " + error.message;
  if (error.trouble == Trouble::kMalformed)
    error.message = "no error of this protocol, " + std::to_string(response.body.size()) + " bytes";
  error.message = std::string(base::cut_utf8(base::as_utf8(error.message), kErrorTextMax));
  std::replace_if(
      error.message.begin(), error.message.end(), [](unsigned char c) { return !may_be_shown(c); },
      ' ');
  return error;
}

}  // namespace karst::cloud::aws
