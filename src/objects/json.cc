#include "objects/json.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/check.h"
#include "base/time.h"
#include "base/utf8.h"

namespace karst::objects {
namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

std::string_view type_name(element value) {
  switch (value.type()) {
    case element_type::ARRAY:
      return "an array";
    case element_type::OBJECT:
      return "an object";
    case element_type::STRING:
      return "a string";
    case element_type::BOOL:
      return "a boolean";
    case element_type::NULL_VALUE:
      return "null";
    default:
      return "a number";
  }
}

template <class Number>
std::string number_text(Number number) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number);
  return std::string(buffer, end.ptr);
}

void mismatch(Context& context, std::string_view expected, element found) {
  context.fail("expected " + std::string(expected) + ", found " + std::string(type_name(found)));
}

std::string quantity_text(Context& context, element value) {
  switch (value.type()) {
    case element_type::STRING:
      return std::string(std::string_view(value));
    case element_type::INT64:
      return number_text(std::int64_t(value));
    case element_type::UINT64:
      return number_text(std::uint64_t(value));
    case element_type::DOUBLE:
      return number_text(double(value));
    default:
      mismatch(context, "a quantity", value);
      return "0";
  }
}

// Depth is bounded by the parser (kDepthMax).
void append_canonical(std::string& out, element value) {
  switch (value.type()) {
    case element_type::OBJECT: {
      std::vector<std::pair<std::string_view, element>> fields;
      for (const auto field : simdjson::dom::object(value))
        fields.emplace_back(field.key, field.value);
      std::sort(fields.begin(), fields.end(),
                [](const auto& a, const auto& b) { return a.first < b.first; });
      out += '{';
      for (std::size_t i = 0; i < fields.size(); ++i) {
        if (i > 0) out += ',';
        append_quoted(out, fields[i].first);
        out += ':';
        append_canonical(out, fields[i].second);
      }
      out += '}';
      return;
    }
    case element_type::ARRAY: {
      out += '[';
      bool first = true;
      for (const element item : simdjson::dom::array(value)) {
        if (!first) out += ',';
        first = false;
        append_canonical(out, item);
      }
      out += ']';
      return;
    }
    case element_type::STRING:
      append_quoted(out, std::string_view(value));
      return;
    case element_type::INT64:
      out += number_text(std::int64_t(value));
      return;
    case element_type::UINT64:
      out += number_text(std::uint64_t(value));
      return;
    case element_type::DOUBLE:
      out += number_text(double(value));
      return;
    case element_type::BOOL:
      out += bool(value) ? "true" : "false";
      return;
    case element_type::NULL_VALUE:
      out += "null";
      return;
  }
}

}  // namespace

Parser::Parser() {
  // The depth given here stays when the parser grows for a larger document.
  KARST_CHECK(!parser_.allocate(4096, kDepthMax), "memory for a JSON parser");
}

base::Result<element> Parser::parse(std::string_view bytes, std::size_t bytes_max) {
  if (bytes.size() > bytes_max)
    return base::fail(base::Kind::kInvalid, std::to_string(bytes.size()) +
                                                " bytes of JSON, expected at most " +
                                                std::to_string(bytes_max));
  element value;
  const auto error = parser_.parse(bytes.data(), bytes.size()).get(value);
  if (error)
    return base::fail(base::Kind::kInvalid,
                      std::string("not JSON: ") + simdjson::error_message(error));
  return value;
}

base::Status Context::status() const {
  if (ok()) return {};
  return base::fail(base::Kind::kInvalid, error_);
}

void Context::fail(std::string_view what) {
  if (!ok()) return;
  for (std::size_t i = 0; i < depth_; ++i) {
    const Step& step = path_[i];
    if (step.key.empty()) {
      error_ += "[" + std::to_string(step.index) + "]";
    } else {
      if (!error_.empty()) error_ += '.';
      error_ += base::cut_utf8(step.key, 128);
    }
  }
  if (error_.empty()) error_ = "object";
  error_ += ": ";
  error_ += what;
}

Object Object::from(Context& context, element value) {
  simdjson::dom::object object;
  if (value.get_object().get(object)) mismatch(context, "an object", value);
  return {context, object};
}

bool Object::find(std::string_view key, element& value) const {
  // A default-made object (after a type mismatch) has no document behind it, and the context has
  // failed.
  if (!context_->ok()) return false;
  return !object_.at_key(key).get(value) && !value.is_null();
}

bool Object::has(std::string_view key) const {
  element value;
  return find(key, value);
}

std::string_view Object::view(std::string_view key, std::size_t bytes_max) const {
  element value;
  if (!find(key, value)) return {};
  Context::Scope scope(*context_, {key, 0});
  std::string_view text;
  if (value.get_string().get(text)) {
    mismatch(*context_, "a string", value);
    return {};
  }
  if (text.size() > bytes_max) {
    context_->fail("longer than " + std::to_string(bytes_max) + " bytes");
    return {};
  }
  return text;
}

std::int64_t Object::integer(std::string_view key, std::int64_t fallback) const {
  element value;
  if (!find(key, value)) return fallback;
  Context::Scope scope(*context_, {key, 0});
  std::int64_t number = 0;
  if (value.get_int64().get(number)) {
    mismatch(*context_, "a whole number of 64 bits", value);
    return fallback;
  }
  return number;
}

std::int32_t Object::integer32(std::string_view key, std::int32_t fallback) const {
  const std::int64_t number = integer(key, fallback);
  if (number >= std::numeric_limits<std::int32_t>::min() &&
      number <= std::numeric_limits<std::int32_t>::max())
    return static_cast<std::int32_t>(number);
  Context::Scope scope(*context_, {key, 0});
  context_->fail("expected a whole number of 32 bits");
  return fallback;
}

bool Object::boolean(std::string_view key, bool fallback) const {
  element value;
  if (!find(key, value)) return fallback;
  Context::Scope scope(*context_, {key, 0});
  bool flag = fallback;
  if (value.get_bool().get(flag)) mismatch(*context_, "a boolean", value);
  return flag;
}

std::int64_t Object::time_millis(std::string_view key) const {
  const std::string_view text = view(key);
  if (text.empty()) return 0;
  const auto millis = base::parse_rfc3339(text);
  if (millis) return *millis;
  Context::Scope scope(*context_, {key, 0});
  context_->fail("expected a time as RFC 3339, found \"" + std::string(base::cut_utf8(text, 40)) +
                 "\"");
  return 0;
}

std::vector<element> Object::array(std::string_view key) const {
  std::vector<element> elements;
  element value;
  if (!find(key, value)) return elements;
  simdjson::dom::array array;
  if (value.get_array().get(array)) {
    mismatch(*context_, "an array", value);
    return elements;
  }
  for (const element item : array) {
    if (elements.size() == kElementsMax) {
      context_->fail("more than " + std::to_string(kElementsMax) + " elements");
      break;
    }
    elements.push_back(item);
  }
  return elements;
}

std::vector<std::string> Object::texts(std::string_view key) const {
  Context::Scope scope(*context_, {key, 0});
  std::vector<std::string> texts;
  for (const element item : array(key)) {
    Context::Scope inner(*context_, {{}, texts.size()});
    std::string_view text;
    if (!item.is_null() && item.get_string().get(text)) mismatch(*context_, "a string", item);
    if (text.size() > kTextBytesMax)
      context_->fail("longer than " + std::to_string(kTextBytesMax) + " bytes");
    texts.emplace_back(text);
  }
  return texts;
}

model::Labels Object::labels(std::string_view key) const {
  model::Labels labels;
  object(key, [&](const Object& map) {
    if (!context_->ok()) return;
    for (const auto field : map.object_) {
      Context::Scope scope(*context_, {field.key, 0});
      std::string_view text;
      if (!field.value.is_null() && field.value.get_string().get(text))
        mismatch(*context_, "a string", field.value);
      if (field.key.size() > kTextBytesMax || text.size() > kObjectBytesMax)
        context_->fail("too long");
      if (labels.size() == kElementsMax)
        context_->fail("more than " + std::to_string(kElementsMax) + " keys");
      if (!context_->ok()) return;
      labels.emplace_back(field.key, text);
    }
  });
  std::sort(labels.begin(), labels.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto same_key = [](const auto& a, const auto& b) { return a.first == b.first; };
  labels.erase(std::unique(labels.begin(), labels.end(), same_key), labels.end());
  return labels;
}

std::vector<std::pair<std::string_view, std::string>> Object::quantities(
    std::string_view key) const {
  std::vector<std::pair<std::string_view, std::string>> found;
  object(key, [&](const Object& map) {
    if (!context_->ok()) return;
    for (const auto field : map.object_) {
      Context::Scope scope(*context_, {field.key, 0});
      if (field.key.size() > kTextBytesMax || found.size() == kElementsMax)
        context_->fail("too many or too long keys");
      if (field.value.is_null()) continue;
      found.emplace_back(field.key, quantity_text(*context_, field.value));
      if (!context_->ok()) return;
    }
  });
  return found;
}

model::Resources Object::resources(std::string_view key, model::Rounding rounding,
                                   std::int64_t amount_max) const {
  model::Resources resources;
  for (const auto& [name, text] : quantities(key)) {
    const auto status = model::set_from_quantity(resources, name, text, rounding);
    if (status) {
      resources.set_amount(name, std::min(resources.amount(name), amount_max));
      continue;
    }
    Context::Scope outer(*context_, {key, 0});
    Context::Scope inner(*context_, {name, 0});
    context_->fail(status.error().message);
    resources.set_amount(name, 0);
  }
  return resources;
}

std::string canonical_json(element value) {
  std::string out;
  append_canonical(out, value);
  return out;
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      constexpr char kHex[] = "0123456789abcdef";
      out += "\\u00";
      out += kHex[(c >> 4) & 15];
      out += kHex[c & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace karst::objects
