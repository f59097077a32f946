// What answers of EC2 and IAM have in common: XML of bounded size, lists of <item>, tags. Damaged
// XML is an error, never a crash; an element that is absent reads as empty. Not thread-safe per
// document; nothing is shared.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/labels.h"

namespace karst::providers::aws {

inline constexpr std::size_t kAnswerBytesMax = 64u << 20;

// Errors: kInvalid when it is no XML, or larger than kAnswerBytesMax.
base::Result<pugi::xml_document> read_xml(std::string_view body);

// The element's text, at a path such as "placement/availabilityZone".
std::string text_at(const pugi::xml_node& node, const char* path);
std::optional<std::int64_t> number_at(const pugi::xml_node& node, const char* path);
bool true_at(const pugi::xml_node& node, const char* path);

// Calls `read` for each <item> of the list at `path` below the answer's root element.
void each_item(const pugi::xml_node& node, const char* path,
               const std::function<void(const pugi::xml_node&)>& read);

// <tagSet><item><key/><value/>.
model::Labels tags_of(const pugi::xml_node& node);

}  // namespace karst::providers::aws
