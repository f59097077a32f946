#include "objects/yaml_tree.h"

#include <yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "base/utf8.h"
#include "objects/yaml_scalar.h"

namespace karst::objects {
namespace {

std::string shown(std::string_view text) {
  return "\"" + std::string(base::cut_utf8(text, 80)) + "\"";
}

std::string text_of(const yaml_char_t* text) {
  return text == nullptr ? std::string() : std::string(reinterpret_cast<const char*>(text));
}

std::size_t count(const TreeValue& value) {
  std::size_t total = 1;
  for (const TreeValue& item : value.items) total += count(item);
  for (const TreeField& field : value.fields) total += count(field.value);
  return total;
}

tl::unexpected<base::Error> fail_at(std::size_t line, const std::string& what) {
  return base::fail(base::Kind::kInvalid, "line " + std::to_string(line) + ": " + what);
}

std::uint32_t line_of(const yaml_event_t& event) {
  return static_cast<std::uint32_t>(event.start_mark.line + 1);
}

class YamlBuilder {
 public:
  explicit YamlBuilder(std::string_view text) : text_(text) {
    yaml_parser_initialize(&parser_);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
  }
  ~YamlBuilder() { yaml_parser_delete(&parser_); }
  YamlBuilder(const YamlBuilder&) = delete;
  YamlBuilder& operator=(const YamlBuilder&) = delete;

  base::Result<std::vector<TreeValue>> documents(std::size_t documents_max) {
    std::vector<TreeValue> all;
    for (;;) {
      Event event;
      KARST_TRY(next(event));
      if (event.value.type == YAML_STREAM_END_EVENT) return all;
      if (event.value.type != YAML_DOCUMENT_START_EVENT) continue;
      if (all.size() == documents_max)
        return fail_at(line_of(event.value),
                       "more than " + std::to_string(documents_max) + " documents");
      Event root;
      KARST_TRY(next(root));
      TreeValue value;
      anchors_.clear();
      aliases_ = alias_values_ = anchored_values_ = 0;
      KARST_TRY(read(root.value, 0, value));
      if (!value.is(TreeValue::Type::kNull)) all.push_back(std::move(value));
      if (documents_max == 1) return all;
    }
  }

 private:
  struct Event {
    yaml_event_t value{};
    ~Event() { yaml_event_delete(&value); }
  };

  base::Status next(Event& event) {
    if (yaml_parser_parse(&parser_, &event.value) != 0) return {};
    return fail_at(problem_line(), parser_.problem != nullptr ? parser_.problem : "not YAML");
  }

  // Bytes that are no text are met while libyaml reads ahead: it says where, not on which line.
  std::size_t problem_line() const {
    if (parser_.error != YAML_READER_ERROR) return parser_.problem_mark.line + 1;
    const std::string_view before = text_.substr(0, parser_.problem_offset);
    return static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
  }

  base::Status read(const yaml_event_t& event, std::size_t depth, TreeValue& out) {
    const std::uint32_t line = line_of(event);
    if (depth > kYamlDepthMax)
      return fail_at(line, "nested deeper than " + std::to_string(kYamlDepthMax));
    if (++values_ > kTreeValuesMax)
      return fail_at(line, "more than " + std::to_string(kTreeValuesMax) + " values");
    std::string anchor;
    switch (event.type) {
      case YAML_SCALAR_EVENT:
        KARST_TRY(scalar(event, out));
        anchor = text_of(event.data.scalar.anchor);
        break;
      case YAML_ALIAS_EVENT:
        return alias(event, out);
      case YAML_SEQUENCE_START_EVENT:
        anchor = text_of(event.data.sequence_start.anchor);
        KARST_TRY(sequence(depth, out));
        break;
      case YAML_MAPPING_START_EVENT:
        anchor = text_of(event.data.mapping_start.anchor);
        KARST_TRY(mapping(depth, out));
        break;
      default:
        return fail_at(line, "expected a value");
    }
    out.line = line;
    if (anchor.empty()) return {};
    anchored_values_ += count(out);
    if (anchored_values_ > kAnchoredValuesMax) return fail_at(line, "anchors name too many values");
    anchors_[anchor] = out;
    return {};
  }

  static base::Status scalar(const yaml_event_t& event, TreeValue& out) {
    const auto& scalar = event.data.scalar;
    const std::string_view text(reinterpret_cast<const char*>(scalar.value), scalar.length);
    const bool plain = scalar.style == YAML_PLAIN_SCALAR_STYLE && scalar.tag == nullptr;
    out = plain ? plain_scalar(text) : text_value(text);
    if (plain && out.is(TreeValue::Type::kNumber) && out.text.empty())
      return fail_at(line_of(event), shown(text) + " is no number that JSON knows");
    return {};
  }

  base::Status sequence(std::size_t depth, TreeValue& out) {
    out.type = TreeValue::Type::kList;
    for (;;) {
      Event item;
      KARST_TRY(next(item));
      if (item.value.type == YAML_SEQUENCE_END_EVENT) return {};
      KARST_TRY(read(item.value, depth + 1, out.items.emplace_back()));
    }
  }

  base::Status mapping(std::size_t depth, TreeValue& out) {
    out.type = TreeValue::Type::kMap;
    TreeValue merged;
    for (;;) {
      Event key;
      KARST_TRY(next(key));
      if (key.value.type == YAML_MAPPING_END_EVENT) break;
      const std::uint32_t line = line_of(key.value);
      if (key.value.type != YAML_SCALAR_EVENT)
        return fail_at(line, "expected a key that is a plain word");
      const auto& scalar = key.value.data.scalar;
      const std::string name(reinterpret_cast<const char*>(scalar.value), scalar.length);
      Event value;
      KARST_TRY(next(value));
      if (name == "<<" && scalar.style == YAML_PLAIN_SCALAR_STYLE) {
        TreeValue from;
        KARST_TRY(read(value.value, depth + 1, from));
        KARST_TRY(merge(line, from, merged));
        continue;
      }
      out.fields.push_back({name, line, {}});
      KARST_TRY(read(value.value, depth + 1, out.fields.back().value));
    }
    KARST_TRY(check_keys(out));
    // What the map says itself comes before what it merges (yaml.org/type/merge.html).
    for (TreeField& field : merged.fields)
      if (!has(out, field.key)) out.fields.push_back(std::move(field));
    return {};
  }

  static bool has(const TreeValue& map, std::string_view key) {
    return std::any_of(map.fields.begin(), map.fields.end(),
                       [&](const TreeField& field) { return field.key == key; });
  }

  // What `from` says and `merged` does not yet: a map, or a list of maps of which the first wins.
  static base::Status merge(std::uint32_t line, const TreeValue& from, TreeValue& merged) {
    for (const TreeValue& item : from.items) {
      if (!item.is(TreeValue::Type::kMap)) return fail_at(line, "expected maps to merge");
      KARST_TRY(merge(line, item, merged));
    }
    if (from.is(TreeValue::Type::kList)) return {};
    if (!from.is(TreeValue::Type::kMap)) return fail_at(line, "expected a map to merge");
    for (const TreeField& field : from.fields)
      if (!has(merged, field.key)) merged.fields.push_back(field);
    return {};
  }

  static base::Status check_keys(const TreeValue& map) {
    std::vector<const TreeField*> fields;
    for (const TreeField& field : map.fields) fields.push_back(&field);
    std::stable_sort(fields.begin(), fields.end(),
                     [](const auto* a, const auto* b) { return a->key < b->key; });
    for (std::size_t i = 1; i < fields.size(); ++i)
      if (fields[i - 1]->key == fields[i]->key)
        return fail_at(fields[i]->line,
                       "the key " + shown(fields[i]->key) + " comes twice; remove one");
    return {};
  }

  base::Status alias(const yaml_event_t& event, TreeValue& out) {
    const std::string name = text_of(event.data.alias.anchor);
    const std::uint32_t line = line_of(event);
    const auto at = anchors_.find(name);
    if (at == anchors_.end())
      return fail_at(line, "nothing is named by &" + std::string(base::cut_utf8(name, 80)));
    if (++aliases_ > kYamlAliasesMax)
      return fail_at(line, "more than " + std::to_string(kYamlAliasesMax) + " aliases");
    alias_values_ += count(at->second);
    if (alias_values_ > kAliasValuesMax) return fail_at(line, "aliases unfold to too many values");
    out = at->second;
    return {};
  }

  std::string_view text_;
  yaml_parser_t parser_{};
  std::map<std::string, TreeValue> anchors_;
  std::size_t aliases_ = 0;
  std::size_t alias_values_ = 0;
  std::size_t anchored_values_ = 0;
  std::size_t values_ = 0;
};

}  // namespace

base::Result<std::vector<TreeValue>> read_yaml_documents(std::string_view text,
                                                         std::size_t documents_max) {
  return YamlBuilder(text).documents(documents_max);
}

}  // namespace karst::objects
