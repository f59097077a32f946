// User data that is not in the log: a launch order whose class brings its own carries that text's
// hash and, as an object in place of "UserData", all else that user data is made of. The hands put
// text and object together when the template leaves. What karst adds is in the object as well
// ("without"), so that the template's name changes when a newer karst writes it differently. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "providers/aws/node_class_spec.h"
#include "providers/aws/request.h"
#include "providers/aws/user_data.h"

namespace karst::providers::aws {

// What stands in LaunchTemplateData's "UserData". `input.custom` is empty.
// Errors: as user_data().
base::Result<Tree> late_user_data(const UserDataInput& input, const WithheldText& custom);

// The SHA-256 of the text that a CreateLaunchTemplate lacks; empty: it lacks none.
std::string lacking_text(const Request& launch_template);

// Puts in what was made with `custom`. Errors: kInvalid: the class's own is broken, the whole is
// larger than kUserDataBytesMax, or the object is not late_user_data's; the request is as it was.
base::Status complete(Request& launch_template, std::string_view custom);

}  // namespace karst::providers::aws
