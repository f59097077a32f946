#include "objects/value_tree.h"

#include "objects/json.h"
#include "objects/json_tree.h"
#include "objects/yaml_tree.h"

namespace karst::objects {
namespace {

// Depth is bounded by the readers (kYamlDepthMax).
void append_json(std::string& out, const TreeValue& value) {
  switch (value.type) {
    case TreeValue::Type::kNull:
      out += "null";
      return;
    case TreeValue::Type::kText:
      append_quoted(out, value.text);
      return;
    case TreeValue::Type::kList:
      out += '[';
      for (std::size_t i = 0; i < value.items.size(); ++i) {
        if (i > 0) out += ',';
        append_json(out, value.items[i]);
      }
      out += ']';
      return;
    case TreeValue::Type::kMap:
      out += '{';
      for (std::size_t i = 0; i < value.fields.size(); ++i) {
        if (i > 0) out += ',';
        append_quoted(out, value.fields[i].key);
        out += ':';
        append_json(out, value.fields[i].value);
      }
      out += '}';
      return;
    default:
      out += value.text;
  }
}

base::Status check_size(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return {};
  return base::fail(base::Kind::kInvalid, std::to_string(text.size()) +
                                              " bytes of YAML, expected at most " +
                                              std::to_string(bytes_max));
}

// YAML's flow style begins like it, but for its keys; and JSON knows no line between documents.
bool looks_like_json(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos || text[first] != '{') return false;
  const std::size_t next = text.find_first_not_of(kSpace, first + 1);
  return (next == std::string_view::npos || text[next] == '"' || text[next] == '}') &&
         text.find("\n---") == std::string_view::npos;
}

}  // namespace

const TreeValue* TreeValue::find(std::string_view key) const {
  for (const TreeField& field : fields)
    if (field.key == key) return field.value.is(Type::kNull) ? nullptr : &field.value;
  return nullptr;
}

const TreeValue* TreeValue::at(std::initializer_list<std::string_view> path) const {
  const TreeValue* value = this;
  for (const std::string_view key : path)
    if (value != nullptr) value = value->find(key);
  return value;
}

std::string_view TreeValue::text_of(std::string_view key) const {
  const TreeValue* value = find(key);
  return value != nullptr && value->is(Type::kText) ? std::string_view(value->text)
                                                    : std::string_view();
}

void TreeValue::set(std::string_view key, TreeValue value) {
  for (TreeField& field : fields)
    if (field.key == key) {
      field.value = std::move(value);
      return;
    }
  fields.push_back({std::string(key), line, std::move(value)});
}

TreeValue text_value(std::string_view text) {
  TreeValue value;
  value.type = TreeValue::Type::kText;
  value.text = text;
  return value;
}

base::Result<std::vector<TreeValue>> read_documents(std::string_view text, std::size_t bytes_max) {
  KARST_TRY(check_size(text, bytes_max));
  if (looks_like_json(text)) return read_json_documents(text);
  return read_yaml_documents(text, kTreeDocumentsMax);
}

base::Result<TreeValue> read_first_yaml(std::string_view text, std::size_t bytes_max) {
  KARST_TRY(check_size(text, bytes_max));
  auto documents = read_yaml_documents(text, 1);
  if (!documents) return base::fail(std::move(documents.error()));
  if (documents->empty()) return TreeValue();
  return std::move(documents->front());
}

std::string to_json(const TreeValue& value) {
  std::string out;
  append_json(out, value);
  return out;
}

}  // namespace karst::objects
