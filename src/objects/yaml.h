// YAML as Kubernetes reads it, turned into JSON (value_tree.h says what is read and what is
// bounded).
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "base/result.h"
#include "objects/value_tree.h"

namespace karst::objects {

inline constexpr std::size_t kYamlBytesMax = 3u << 20;

// The first document of `text`; JSON is read too. Errors: kInvalid "line N: what is wrong".
base::Result<nlohmann::json> parse_yaml(std::string_view text);

}  // namespace karst::objects
