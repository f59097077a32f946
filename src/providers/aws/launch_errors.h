// What EC2's error codes mean for a launch: how to react, which offers have nothing left, and the
// reason for people in Karpenter's words (v1.14). Pure.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
#pragma once

#include <string>
#include <string_view>

#include "model/command.h"

namespace karst::providers::aws {

// No room for this choice now: try others.
bool is_capacity_error(std::string_view code);
// The subnet has no address left: others of its zone may.
bool is_address_error(std::string_view code);
// Nothing of spot can be had in this account until a person acts.
bool is_spot_role_error(std::string_view code);

// How the caller must react to an error that ended a launch.
model::RefusalCode refusal_code(std::string_view code);

// Of condition Launched: "SpotQuotaExceeded"; LaunchFailed when nothing better is known. `text`:
// every error of the launch, with its code.
std::string launch_reason(std::string_view text);

}  // namespace karst::providers::aws
