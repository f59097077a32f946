#include "objects/yaml.h"

#include <yaml.h>

#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace karst::objects {
namespace {

using nlohmann::json;

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words)
    if (text == word) return true;
  return false;
}

// A plain scalar by YAML 1.1's rules, as far as Kubernetes manifests use them: null, booleans,
// decimal integers, floats.
json plain_scalar(std::string_view text) {
  if (is_one_of(text, {"", "~", "null", "Null", "NULL"})) return nullptr;
  if (is_one_of(text, {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"})) return true;
  if (is_one_of(text, {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"}))
    return false;
  const char first = text.front();
  if ((first < '0' || first > '9') && first != '-' && first != '.') return std::string(text);
  const char* begin = text.data();
  const char* end = begin + text.size();
  std::int64_t whole = 0;
  if (const auto read = std::from_chars(begin, end, whole);
      read.ec == std::errc() && read.ptr == end)
    return whole;
  double fraction = 0;
  if (const auto read = std::from_chars(begin, end, fraction);
      read.ec == std::errc() && read.ptr == end)
    return fraction;
  return std::string(text);
}

class Builder {
 public:
  explicit Builder(std::string_view text) {
    yaml_parser_initialize(&parser_);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
  }
  ~Builder() { yaml_parser_delete(&parser_); }
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  base::Result<json> first_document() {
    json document = nullptr;
    for (;;) {
      Event event;
      KARST_TRY(next(event));
      if (event.value.type == YAML_STREAM_END_EVENT) return document;
      if (event.value.type != YAML_DOCUMENT_START_EVENT) continue;
      Event root;
      KARST_TRY(next(root));
      KARST_TRY(read(root.value, 0, document));
      return document;
    }
  }

 private:
  struct Event {
    yaml_event_t value{};
    ~Event() { yaml_event_delete(&value); }
  };

  base::Status next(Event& event) {
    if (yaml_parser_parse(&parser_, &event.value) != 0) return {};
    return fail_at(parser_.problem_mark.line,
                   parser_.problem != nullptr ? parser_.problem : "not YAML");
  }
  static tl::unexpected<base::Error> fail_at(std::size_t line, const std::string& what) {
    return base::fail(base::Kind::kInvalid, "line " + std::to_string(line + 1) + ": " + what);
  }

  base::Status read(const yaml_event_t& event, std::size_t depth, json& out) {
    const std::size_t line = event.start_mark.line;
    if (depth > kYamlDepthMax)
      return fail_at(line, "nested deeper than " + std::to_string(kYamlDepthMax));
    if (++values_ > kYamlValuesMax)
      return fail_at(line, "more than " + std::to_string(kYamlValuesMax) + " values");
    switch (event.type) {
      case YAML_SCALAR_EVENT:
        out = scalar(event);
        return keep(event.data.scalar.anchor, out);
      case YAML_ALIAS_EVENT:
        return alias(event, out);
      case YAML_SEQUENCE_START_EVENT: {
        const std::string anchor = anchor_of(event.data.sequence_start.anchor);
        KARST_TRY(sequence(depth, out));
        return keep(anchor, out);
      }
      case YAML_MAPPING_START_EVENT: {
        const std::string anchor = anchor_of(event.data.mapping_start.anchor);
        KARST_TRY(mapping(depth, out));
        return keep(anchor, out);
      }
      default:
        return fail_at(line, "expected a value");
    }
  }

  static json scalar(const yaml_event_t& event) {
    const auto& scalar = event.data.scalar;
    const std::string_view text(reinterpret_cast<const char*>(scalar.value), scalar.length);
    if (scalar.style == YAML_PLAIN_SCALAR_STYLE && scalar.tag == nullptr) return plain_scalar(text);
    return std::string(text);
  }

  base::Status sequence(std::size_t depth, json& out) {
    out = json::array();
    for (;;) {
      Event item;
      KARST_TRY(next(item));
      if (item.value.type == YAML_SEQUENCE_END_EVENT) return {};
      json value;
      KARST_TRY(read(item.value, depth + 1, value));
      out.push_back(std::move(value));
    }
  }

  base::Status mapping(std::size_t depth, json& out) {
    out = json::object();
    for (;;) {
      Event key;
      KARST_TRY(next(key));
      if (key.value.type == YAML_MAPPING_END_EVENT) return {};
      const std::size_t line = key.value.start_mark.line;
      if (key.value.type != YAML_SCALAR_EVENT)
        return fail_at(line, "expected a key that is a plain word");
      const auto& scalar = key.value.data.scalar;
      std::string name(reinterpret_cast<const char*>(scalar.value), scalar.length);
      if (out.contains(name))
        return fail_at(line, "the key \"" + name.substr(0, 80) + "\" comes twice; remove one");
      Event value_event;
      KARST_TRY(next(value_event));
      json value;
      KARST_TRY(read(value_event.value, depth + 1, value));
      out[std::move(name)] = std::move(value);
    }
  }

  static std::string anchor_of(const yaml_char_t* anchor) {
    return anchor == nullptr ? std::string() : std::string(reinterpret_cast<const char*>(anchor));
  }
  base::Status keep(const yaml_char_t* anchor, const json& value) {
    return keep(anchor_of(anchor), value);
  }
  base::Status keep(const std::string& anchor, const json& value) {
    if (!anchor.empty()) anchors_[anchor] = value;
    return {};
  }
  base::Status alias(const yaml_event_t& event, json& out) {
    const std::string name = anchor_of(event.data.alias.anchor);
    const auto at = anchors_.find(name);
    if (at == anchors_.end())
      return fail_at(event.start_mark.line, "nothing is named by &" + name.substr(0, 80));
    if (++aliases_ > kYamlAliasesMax)
      return fail_at(event.start_mark.line,
                     "more than " + std::to_string(kYamlAliasesMax) + " aliases");
    values_ += count(at->second);
    if (values_ > kYamlValuesMax)
      return fail_at(event.start_mark.line, "aliases unfold to too many values");
    out = at->second;
    return {};
  }
  static std::size_t count(const json& value) {
    std::size_t total = 1;
    if (value.is_structured())
      for (const json& item : value) total += count(item);
    return total;
  }

  yaml_parser_t parser_{};
  std::map<std::string, json> anchors_;
  std::size_t aliases_ = 0;
  std::size_t values_ = 0;
};

}  // namespace

base::Result<json> parse_yaml(std::string_view text) {
  if (text.size() > kYamlBytesMax)
    return base::fail(base::Kind::kInvalid, std::to_string(text.size()) +
                                                " bytes of YAML, expected at most " +
                                                std::to_string(kYamlBytesMax));
  return Builder(text).first_document();
}

}  // namespace karst::objects
