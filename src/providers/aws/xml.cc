#include "providers/aws/xml.h"

#include <charconv>

namespace karst::providers::aws {

base::Result<pugi::xml_document> read_xml(std::string_view body) {
  if (body.size() > kAnswerBytesMax)
    return base::fail(base::Kind::kInvalid, "an answer of more than 64 MiB");
  pugi::xml_document document;
  const auto read =
      document.load_buffer(body.data(), body.size(), pugi::parse_default, pugi::encoding_utf8);
  if (!read)
    return base::fail(base::Kind::kInvalid, std::string("an answer that is no XML: ") +
                                                read.description() + " at byte " +
                                                std::to_string(read.offset));
  return base::Result<pugi::xml_document>(std::move(document));
}

std::string text_at(const pugi::xml_node& node, const char* path) {
  return node.first_element_by_path(path).text().get();
}

std::optional<std::int64_t> number_at(const pugi::xml_node& node, const char* path) {
  const std::string text = text_at(node, path);
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size())
    return std::nullopt;
  return number;
}

bool true_at(const pugi::xml_node& node, const char* path) {
  return text_at(node, path) == "true";
}

void each_item(const pugi::xml_node& node, const char* path,
               const std::function<void(const pugi::xml_node&)>& read) {
  for (const pugi::xml_node& item : node.first_element_by_path(path).children("item")) read(item);
}

model::Labels tags_of(const pugi::xml_node& node) {
  model::Labels tags;
  each_item(node, "tagSet", [&](const pugi::xml_node& item) {
    model::set_label(tags, text_at(item, "key"), text_at(item, "value"));
  });
  return tags;
}

}  // namespace karst::providers::aws
