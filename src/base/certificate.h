// When a certificate ends, for messages: what it is good for is the server's to say.
#pragma once

#include <optional>
#include <string_view>

#include "base/time.h"

namespace karst::base {

// Of the first X.509 certificate in `pem`; nullopt when there is none.
std::optional<WallTime> certificate_end(std::string_view pem);

}  // namespace karst::base
