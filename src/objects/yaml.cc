#include "objects/yaml.h"

#include <nlohmann/json.hpp>

namespace karst::objects {

base::Result<nlohmann::json> parse_yaml(std::string_view text) {
  auto value = read_first_yaml(text, kYamlBytesMax);
  if (!value) return base::fail(std::move(value.error()));
  auto json = nlohmann::json::parse(to_json(*value), nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded())
    return base::fail(base::Kind::kInvalid, "line 1: text that is not UTF-8");
  return json;
}

}  // namespace karst::objects
