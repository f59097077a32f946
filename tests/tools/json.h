// What karst prints as JSON, read back.
#pragma once

#include <nlohmann/json.hpp>

namespace karst::tests {

using Json = nlohmann::json;

}  // namespace karst::tests
