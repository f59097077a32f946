#include "objects/schema.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/check.h"
#include "base/nearest.h"
#include "base/time.h"
#include "base/utf8.h"
#include "model/quantity.h"
#include "objects/manifest_rules.h"

namespace karst::objects {
namespace {

using ValueType = TreeValue::Type;

constexpr std::string_view kKubernetesTable =
#include "objects/data/kubernetes.schema.inc"
    ;
constexpr std::string_view kKarpenterTable =
#include "objects/data/karpenter.schema.inc"
    ;

constexpr std::size_t kNamesShownMax = 12;

// Cuts the first word off `text`, up to `separator`.
std::string_view take(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return word;
}

std::string joined(const std::vector<std::string_view>& words) {
  std::string text;
  for (const std::string_view word : words) text += (text.empty() ? "" : ", ") + std::string(word);
  return text;
}

std::string number_range(char scalar) {
  return scalar == 'i' ? "a whole number of 32 bits" : "a whole number";
}

bool fits_integer(const TreeValue& value, char scalar) {
  std::int64_t number = 0;
  const char* end = value.text.data() + value.text.size();
  const auto read = std::from_chars(value.text.data(), end, number);
  if (!value.is(ValueType::kInteger) || read.ec != std::errc() || read.ptr != end) return false;
  return scalar != 'i' || (number >= std::numeric_limits<std::int32_t>::min() &&
                           number <= std::numeric_limits<std::int32_t>::max());
}

void check_quantity(Review& review, const TreeValue& value, bool whole_or_text) {
  const bool number = value.is(ValueType::kInteger) || value.is(ValueType::kNumber);
  if ((!number && !value.is(ValueType::kText)) || (whole_or_text && value.is(ValueType::kNumber))) {
    review.refuse(value.line,
                  "expected a quantity such as 500m or \"2Gi\", found " + describe(value));
    return;
  }
  std::string_view text = value.text;
  if (text.starts_with('-')) text.remove_prefix(1);
  if (const auto amount = model::parse_quantity_units(text, model::Rounding::kUp); !amount)
    review.refuse(value.line, amount.error().message);
  else if (value.text.starts_with('-') && *amount != 0)
    review.refuse(value.line, "quantity \"" + value.text + "\": must not be negative");
}

void expect(Review& review, const TreeValue& value, bool found, const std::string& what) {
  if (found) return;
  const bool quotes =
      what == "a string" && value.type != ValueType::kList && value.type != ValueType::kMap;
  review.refuse(value.line, "expected " + what + ", found " + describe(value) +
                                (quotes ? "; put it in quotes" : ""));
}

void check_scalar(Review& review, const FieldType& type, const TreeValue& value) {
  switch (type.scalar) {
    case 's':
    case 't':
      expect(review, value, value.is(ValueType::kText), "a string");
      if (!value.is(ValueType::kText)) return;
      if (type.scalar == 't' && !base::parse_rfc3339(value.text))
        review.refuse(value.line, "expected a time such as 2026-01-31T12:00:00Z, found \"" +
                                      std::string(base::cut_utf8(value.text, 80)) + "\"");
      if (!type.words.empty() && !value.text.empty() &&
          std::find(type.words.begin(), type.words.end(), value.text) == type.words.end())
        review.refuse(value.line, "\"" + std::string(base::cut_utf8(value.text, 80)) +
                                      "\" is not one of " + joined(type.words));
      return;
    case 'b':
      return expect(review, value, value.is(ValueType::kBoolean), "true or false");
    case 'i':
    case 'l':
      return expect(review, value, fits_integer(value, type.scalar), number_range(type.scalar));
    case 'n':
      return expect(review, value, value.is(ValueType::kInteger) || value.is(ValueType::kNumber),
                    "a number");
    case 'x':
      return expect(review, value, fits_integer(value, 'i') || value.is(ValueType::kText),
                    "a whole number or a string");
    case 'q':
    case 'Q':
      return check_quantity(review, value, type.scalar == 'Q');
    default:
      return;  // anything
  }
}

void refuse_unknown(Review& review, const Type& type, const TreeField& field) {
  std::vector<std::string_view> names;
  for (const auto& [name, unused] : type.fields) names.push_back(name);
  const std::string_view near = base::nearest(field.key, names);
  std::string what = "unknown field";
  if (!near.empty())
    what += "; did you mean " + std::string(near) + "?";
  else if (names.size() <= kNamesShownMax)
    what += "; expected one of " + joined(names);
  review.refuse(field.key, field.line, std::move(what));
}

void check_value(Review& review, const FieldType& type, std::string_view containers,
                 const TreeValue& value, bool is_told);

// `is_told`: it is within a status.
void check_object(Review& review, const Type& type, const TreeValue& value, bool is_told) {
  if (!value.is(ValueType::kMap)) {
    review.refuse(value.line, "expected a map of fields, found " + describe(value));
    return;
  }
  const std::size_t before = review.count();
  for (const TreeField& field : value.fields) {
    const auto at = type.fields.find(field.key);
    if (at == type.fields.end()) {
      if (!is_told) refuse_unknown(review, type, field);
      continue;
    }
    if (field.value.is(ValueType::kNull)) continue;
    Review::Scope scope(review, field.key);
    check_value(review, at->second, at->second.containers, field.value,
                is_told || at->second.is_told);
  }
  for (const auto& [name, field] : type.fields)
    if (field.required && !is_told && value.find(name) == nullptr)
      review.refuse(name, value.line, "is missing; it must be there");
  if (type.rule != nullptr && review.count() == before) type.rule(review, value);
}

void check_value(Review& review, const FieldType& type, std::string_view containers,
                 const TreeValue& value, bool is_told) {
  if (containers.starts_with("[]")) {
    if (!value.is(ValueType::kList)) return expect(review, value, false, "a list");
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      if (value.items[i].is(ValueType::kNull) && type.scalar == 's') continue;  // counts as ""
      Review::Scope scope(review, i);
      check_value(review, type, containers.substr(2), value.items[i], is_told);
    }
    return;
  }
  if (containers.starts_with("{}")) {
    if (!value.is(ValueType::kMap)) return expect(review, value, false, "a map");
    for (const TreeField& field : value.fields) {
      if (field.value.is(ValueType::kNull)) continue;
      Review::Scope scope(review, field.key);
      check_value(review, type, containers.substr(2), field.value, is_told);
    }
    return;
  }
  if (type.type != nullptr) return check_object(review, *type.type, value, is_told);
  check_scalar(review, type, value);
}

}  // namespace

std::string Refusal::text() const {
  std::string text = file;
  if (line > 0) text += ":" + std::to_string(line);
  text += ": ";
  if (!object.empty()) text += object + ": ";
  if (!field.empty()) text += field + ": ";
  return text + what;
}

void Review::refuse(std::uint32_t line, std::string what) {
  if (++count_ <= kRefusalsMax) refusals_.push_back({file_, line, object_, path_, std::move(what)});
}

void Review::refuse(std::string_view name, std::uint32_t line, std::string what) {
  Scope scope(*this, name);
  refuse(line, std::move(what));
}

// A key that is no plain word stands in brackets: labels[app.kubernetes.io/name].
Review::Scope::Scope(Review& review, std::string_view key)
    : review_(review), length_(review.path_.size()) {
  const bool word = key.find_first_of("./[] ") == std::string_view::npos && !key.empty();
  const std::string shown(base::cut_utf8(key, 128));
  if (word)
    review.path_ += (review.path_.empty() ? "" : ".") + shown;
  else
    review.path_ += "[" + shown + "]";
}

Review::Scope::Scope(Review& review, std::size_t index)
    : review_(review), length_(review.path_.size()) {
  review.path_ += "[" + std::to_string(index) + "]";
}

const Schema& Schema::instance() {
  static const Schema schema;
  return schema;
}

Schema::Schema() {
  read(kKubernetesTable);
  for (auto& [name, type] : types_)
    if (const auto status = type.fields.find("status"); status != type.fields.end())
      status->second.is_told = status->second.type != nullptr;
  read(kKarpenterTable);
  for (const auto& [name, rule] : manifest_rules()) {
    const auto at = types_.find(name);
    KARST_CHECK(at != types_.end(), "a rule for a type that no table has");
    at->second.rule = rule;
  }
}

void Schema::read(std::string_view table) {
  for (std::string_view lines = table; !lines.empty();)
    if (std::string_view line = take(lines, '\n'); !line.empty()) {
      const std::string_view name = take(line, ' ');
      types_[name].name = name;
      while (!line.empty()) add_field(types_[name], take(line, ' '));
    }
}

void Schema::add_field(Type& type, std::string_view text) {
  const std::string_view name = take(text, ':');
  FieldType field;
  field.required = text.ends_with('!');
  if (field.required) text.remove_suffix(1);
  std::size_t at = 0;
  while (text.substr(at).starts_with("[]") || text.substr(at).starts_with("{}")) at += 2;
  field.containers = text.substr(0, at);
  text.remove_prefix(at);
  KARST_CHECK(!text.empty(), "a field of the schema has a type");
  if (text.size() == 1 || text.starts_with("s(")) {
    field.scalar = text[0];
    if (text.size() > 1)
      for (std::string_view words = text.substr(2, text.size() - 3); !words.empty();)
        field.words.push_back(take(words, '|'));
  } else {
    field.type = &types_[text];  // its line may come later; map entries stay where they are
  }
  type.fields[name] = std::move(field);
}

void Schema::check(Review& review, std::string_view type, const TreeValue& value) const {
  check_object(review, this->type(type), value, false);
}

const Type& Schema::type(std::string_view name) const {
  const auto at = types_.find(name);
  KARST_CHECK(at != types_.end() && !at->second.name.empty(), "the schema has this type");
  return at->second;
}

std::string describe(const TreeValue& value) {
  switch (value.type) {
    case ValueType::kNull:
      return "nothing";
    case ValueType::kBoolean:
      return value.text;
    case ValueType::kInteger:
    case ValueType::kNumber:
      return "the number " + std::string(base::cut_utf8(value.text, 40));
    case ValueType::kText:
      return "the string \"" + std::string(base::cut_utf8(value.text, 80)) + "\"";
    case ValueType::kList:
      return "a list";
    case ValueType::kMap:
      return "a map";
  }
  return "";
}

}  // namespace karst::objects
