// Bottlerocket's user data: settings in TOML, merged into those of the node class. What is set
// here wins; the user's other settings stay, but for keys of settings.kubernetes that Karpenter's
// model (v1.14) does not know. Pure.
#pragma once

#include <string>

#include "base/result.h"
#include "providers/aws/user_data.h"

namespace karst::providers::aws {

// Errors: kInvalid with the line of the class's own TOML.
base::Result<std::string> bottlerocket_settings(const UserDataInput& input);

}  // namespace karst::providers::aws
