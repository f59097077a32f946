#include "objects/withhold.h"

#include "base/sha256.h"
#include "objects/json.h"

namespace karst::objects {
namespace {

constexpr std::string_view kUserData = "userData";

std::string stand_in(std::string_view text) {
  return R"({"bytes":)" + std::to_string(text.size()) + R"(,"sha256":")" +
         base::hex_lower(base::sha256(text)) + R"("})";
}

}  // namespace

std::string withhold_user_data(model::NodeClass& node_class) {
  Parser parser;
  const auto parsed = parser.parse(node_class.spec_json, kObjectBytesMax);
  simdjson::dom::object spec;
  std::string_view text;
  if (!parsed || parsed->get(spec) || spec[kUserData].get(text) || text.empty()) return {};
  std::string user_data(text);
  std::string without = "{";
  for (const auto [key, value] : spec) {  // sorted, as they were
    if (without.size() > 1) without += ',';
    append_quoted(without, key);
    without += ':';
    without += key == kUserData ? stand_in(user_data) : canonical_json(value);
  }
  node_class.spec_json = without + "}";
  return user_data;
}

}  // namespace karst::objects
