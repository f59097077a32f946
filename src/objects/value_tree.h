// YAML and JSON as a tree in which every value knows its line, so that a refusal can name the
// place. YAML as Kubernetes reads it: YAML 1.1 scalars (yes, no, on, off, y and n are booleans),
// merge keys, anchors. Input is hostile: size, depth, aliases and the number of values are bounded,
// and a key that comes twice is an error. Owner: the caller; plain values, no thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace karst::objects {

inline constexpr std::size_t kYamlDepthMax = 100;
inline constexpr std::size_t kYamlAliasesMax = 100;      // of one document
inline constexpr std::size_t kAliasValuesMax = 100'000;  // that aliases put in, of one document
inline constexpr std::size_t kAnchoredValuesMax =
    1'000'000;  // that have an anchor, each as often as it has
inline constexpr std::size_t kTreeValuesMax = 2'000'000;   // of one text
inline constexpr std::size_t kTreeDocumentsMax = 100'000;  // of one text

struct TreeField;

struct TreeValue {
  enum class Type { kNull, kBoolean, kInteger, kNumber, kText, kList, kMap };
  Type type = Type::kNull;
  std::uint32_t line = 0;  // from 1
  std::string text;        // of a scalar; numbers and booleans as JSON writes them
  std::vector<TreeField> fields;
  std::vector<TreeValue> items;

  bool is(Type other) const { return type == other; }
  // The field of that name; nullptr when absent or null.
  const TreeValue* find(std::string_view key) const;
  // The value at the end of a path of fields; nullptr when there is nothing on the way.
  const TreeValue* at(std::initializer_list<std::string_view> path) const;
  // The text of a field that is a string; empty otherwise.
  std::string_view text_of(std::string_view key) const;
  // Adds the field, or takes the place of its value.
  void set(std::string_view key, TreeValue value);
};

struct TreeField {
  std::string key;
  std::uint32_t line = 0;
  TreeValue value;
};

TreeValue text_value(std::string_view text);

// Every document of a text: JSON values one after another when it starts with a brace, YAML
// otherwise. Empty documents are left out. Errors: kInvalid "line N: what is wrong".
base::Result<std::vector<TreeValue>> read_documents(std::string_view text, std::size_t bytes_max);

// The first document, read as YAML; null when there is none. Errors as above.
base::Result<TreeValue> read_first_yaml(std::string_view text, std::size_t bytes_max);

std::string to_json(const TreeValue& value);

}  // namespace karst::objects
