#include "providers/aws/launch_errors.h"

#include <algorithm>

#include "providers/aws/text.h"

namespace karst::providers::aws {
namespace {

constexpr std::string_view kCapacityCodes[] = {"InsufficientInstanceCapacity",
                                               "MaxSpotInstanceCountExceeded",
                                               "VcpuLimitExceeded",
                                               "UnfulfillableCapacity",
                                               "Unsupported",
                                               "MaxFleetCountExceeded",
                                               "ReservationCapacityExceeded",
                                               "InsufficientFreeAddressesInSubnet"};

constexpr std::string_view kThrottles[] = {"RequestLimitExceeded",     "Throttling",
                                           "ThrottlingException",      "ThrottledException",
                                           "RequestThrottled",         "RequestThrottledException",
                                           "TooManyRequestsException", "SlowDown",
                                           "PriorRequestNotComplete",  "EC2ThrottledException"};
constexpr std::string_view kPassing[] = {
    "InternalError",      "InternalFailure", "ServiceUnavailable",
    "Unavailable",        "RequestExpired",  "InvalidLaunchTemplateName.NotFoundException",
    "TooFewInstances",    "RequestTimeout",  "InvalidLaunchTemplateId.NotFound",
    "PendingVerification"};
constexpr std::string_view kDenials[] = {"UnauthorizedOperation", "AccessDenied",
                                         "AccessDeniedException", "AuthFailure", "OptInRequired"};

// In this order: the first text that is found decides.
struct Reason {
  std::string_view text;
  std::string_view reason;
  std::string_view with = "";  // is found, too
};
constexpr Reason kReasons[] = {
    {"AuthFailure.ServiceLinkedRoleCreationNotPermitted", "SpotSLRCreationFailed"},
    {"UnauthorizedOperation", "Unauthorized"},
    {"AccessDenied", "Unauthorized"},
    {"AuthFailure", "Unauthorized"},
    {"InvalidParameter", "SecurityGroupSubnetVPCMismatch", "belong to different networks"},
    {"iamInstanceProfile.name is invalid", "InstanceProfileNameInvalid"},
    {"InvalidLaunchTemplateId.NotFound", "LaunchTemplateNotFound"},
    {"User data is limited to", "UserDataSizeLimitExceeded"},
    {"InvalidAMIID.Malformed", "InvalidAMIID"},
    {"InvalidAMIID.NotFound", "AMINotFound"},
    {"RequestLimitExceeded", "RequestLimitExceeded"},
    {"InternalError", "InternalError"},
    {"not eligible for Free Tier", "FreeTierIneligible"},
    {"MaxFleetCountExceeded", "FleetQuotaExceeded"},
    {"PendingVerification", "AccountPendingVerification"},
    {"MaxSpotInstanceCountExceeded", "SpotQuotaExceeded"},
    {"VcpuLimitExceeded", "VCPULimitExceeded"},
    {"InsufficientFreeAddressesInSubnet", "InsufficientFreeAddressesInSubnet"},
};

}  // namespace

bool is_capacity_error(std::string_view code) {
  return is_one_of(code, kCapacityCodes);
}

bool is_address_error(std::string_view code) {
  return code == "InsufficientFreeAddressesInSubnet";
}

bool is_spot_role_error(std::string_view code) {
  return code == "AuthFailure.ServiceLinkedRoleCreationNotPermitted";
}

model::RefusalCode refusal_code(std::string_view code) {
  using model::RefusalCode;
  if (is_capacity_error(code) || is_spot_role_error(code)) return RefusalCode::kCapacity;
  if (is_one_of(code, kThrottles)) return RefusalCode::kThrottled;
  if (is_one_of(code, kPassing)) return RefusalCode::kRetry;
  if (is_one_of(code, kDenials) || code.starts_with("AuthFailure")) return RefusalCode::kDenied;
  // The token was used with other parameters: its instances are there, find them.
  if (code == "IdempotentParameterMismatch") return RefusalCode::kConflict;
  return RefusalCode::kInvalid;
}

std::string launch_reason(std::string_view text) {
  const auto has = [&](std::string_view word) { return text.find(word) != text.npos; };
  for (const Reason& one : kReasons)
    if (has(one.text) && has(one.with)) {
      const bool image = one.reason == "Unauthorized" && has("Not authorized for images");
      return image ? "AMIAuthorizationFailure" : std::string(one.reason);
    }
  return "LaunchFailed";
}

}  // namespace karst::providers::aws
