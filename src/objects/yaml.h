// YAML as Kubernetes reads it, turned into JSON: YAML 1.1 with the scalars of the JSON schema; yes,
// no, on and off are booleans. Bounded: depth, size, aliases; a key that comes twice is an error.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "base/result.h"

namespace karst::objects {

inline constexpr std::size_t kYamlBytesMax = 3u << 20;
inline constexpr std::size_t kYamlDepthMax = 100;
inline constexpr std::size_t kYamlAliasesMax = 100;
inline constexpr std::size_t kYamlValuesMax = 1'000'000;  // after aliases are put in

// The first document of `text`; JSON is read too. Errors: kInvalid "line N: what is wrong".
base::Result<nlohmann::json> parse_yaml(std::string_view text);

}  // namespace karst::objects
