#include "events/json_plan.h"

#include <flatbuffers/util.h>

#include <cstring>

#include "base/check.h"
#include "base/utf8.h"

namespace karst::events {
namespace {

using flatbuffers::BaseType;

template <class Number>
Number read(const std::uint8_t* at) {
  return flatbuffers::ReadScalar<Number>(at);
}

// Text that is written as it stands: printable ASCII without quotes and backslashes.
constexpr bool is_plain(char c) {
  return c >= ' ' && c <= '~' && c != '"' && c != '\\';
}

// The same of eight characters at once. Each byte's highest bit, of: the byte itself (no ASCII),
// a borrow when a space is taken from it (a control character), a carry when one is added (a
// 0x7f), and the borrow of 1 from what is 0 where a quote or a backslash was. A borrow may spoil
// the byte above it, but only when there was a reason below.
constexpr std::uint64_t kEach = 0x0101010101010101;
constexpr bool are_plain(std::uint64_t c) {
  const std::uint64_t quote = c ^ kEach * '"', slash = c ^ kEach * '\\';
  return ((c | (c - kEach * ' ') | (c + kEach) | (quote - kEach) | (slash - kEach)) & kEach << 7) ==
         0;
}
constexpr std::size_t kWord = sizeof(std::uint64_t);

// Copies text up to the first eight that are not all plain; true when there are none.
bool copy_plain(std::string_view text, char* to) {
  const auto copy_word = [&](std::size_t at) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, kWord);
    std::memcpy(to + at, &word, kWord);
    return are_plain(word);
  };
  if (text.size() < kWord) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (!is_plain(text[i])) return false;
      to[i] = text[i];
    }
    return true;
  }
  for (std::size_t i = 0; i + kWord < text.size(); i += kWord)
    if (!copy_word(i)) return false;
  return copy_word(text.size() - kWord);  // some of them twice
}

std::size_t size_of(BaseType type) {
  return type == flatbuffers::BASE_TYPE_STRING || type == flatbuffers::BASE_TYPE_STRUCT
             ? sizeof(flatbuffers::uoffset_t)
             : flatbuffers::SizeOf(type);
}

}  // namespace

void append_quoted(std::string_view text, TextWriter& out) {
  char* const to = out.reserve(text.size() + 2);
  if (copy_plain(text, to + 1)) {
    to[0] = to[text.size() + 1] = '"';
    out.advance(text.size() + 2);
    return;
  }
  const auto escape = [](std::string_view utf8, std::string& escaped) {
    return flatbuffers::EscapeString(utf8.data(), utf8.size(), &escaped, false, false);
  };
  std::string escaped;
  if (!escape(text, escaped)) {
    escaped.clear();
    KARST_CHECK(escape(base::as_utf8(text), escaped), "UTF-8 can be escaped");
  }
  out.put(escaped);
}

JsonPlan::JsonPlan(const flatbuffers::Parser& parser) {
  for (const flatbuffers::StructDef* object : parser.structs_.vec) {
    by_name_.emplace(object->name, objects_.size());
    objects_.push_back({object->fixed, object->bytesize, {}});
  }
  for (const flatbuffers::StructDef* object : parser.structs_.vec) {
    Object& plan = objects_[find(object->name)];
    for (const flatbuffers::FieldDef* field : object->fields.vec) {
      KARST_CHECK(!field->deprecated && !field->nested_flatbuffer && !field->flexbuffer,
                  "the schemas have plain fields only");
      const std::string label = "\"" + field->name + "\": ";
      KARST_CHECK(label.size() <= kLabelMax, "names of fields are short");
      Field& made = plan.fields.emplace_back(
          Field{{}, label.size(), field->value.offset, type_of(field->value.type)});
      label.copy(made.label, kLabelMax);
    }
  }
}

JsonPlan::Type JsonPlan::type_of(const flatbuffers::Type& type) const {
  Type made{type.base_type, type.element, 0, type.fixed_length, {}};
  const bool list = type.base_type == flatbuffers::BASE_TYPE_VECTOR ||
                    type.base_type == flatbuffers::BASE_TYPE_ARRAY;
  const BaseType item = list ? type.element : type.base_type;
  KARST_CHECK(!flatbuffers::IsFloat(item) && item != flatbuffers::BASE_TYPE_UNION &&
                  item != flatbuffers::BASE_TYPE_UTYPE && item != flatbuffers::BASE_TYPE_VECTOR,
              "the schemas have no floats, unions, or lists of lists");
  if (item == flatbuffers::BASE_TYPE_STRUCT) made.object = find(type.struct_def->name);
  KARST_CHECK(type.enum_def == nullptr || (item == flatbuffers::BASE_TYPE_UCHAR && !list),
              "enums are single bytes, and never in lists");
  if (type.enum_def != nullptr) {
    for (const flatbuffers::EnumVal* value : type.enum_def->Vals()) {
      const auto number = static_cast<std::size_t>(value->GetAsInt64());
      KARST_CHECK(number == made.names.size(), "enums count from 0 without gaps");
      made.names.push_back("\"" + value->name + "\"");
    }
  }
  return made;
}

std::size_t JsonPlan::find(std::string_view table) const {
  const auto at = by_name_.find(table);
  KARST_CHECK(at != by_name_.end(), "every event type has a root table of its name");
  return at->second;
}

void JsonPlan::append(std::size_t table, const char* payload, TextWriter& out) const {
  const auto* root = flatbuffers::GetRoot<std::uint8_t>(payload);
  append_object(objects_[table], root, out);
}

void JsonPlan::append_object(const Object& object, const std::uint8_t* at, TextWriter& out) const {
  const auto* table = reinterpret_cast<const flatbuffers::Table*>(at);
  out.put('{');
  bool first = true;
  for (const Field& field : object.fields) {
    const std::uint8_t* value = at + field.offset;
    if (!object.fixed) {
      const flatbuffers::voffset_t place = table->GetOptionalFieldOffset(field.offset);
      if (place == 0) continue;
      value = at + place;
    }
    if (!first) out.put(',');
    first = false;
    std::memcpy(out.reserve(kLabelMax), field.label, kLabelMax);
    out.advance(field.label_size);
    append_value(field.type, value, out);
  }
  out.put('}');
}

void JsonPlan::append_value(const Type& type, const std::uint8_t* at, TextWriter& out) const {
  switch (type.base) {
    case flatbuffers::BASE_TYPE_BOOL:
      out.put(read<std::uint8_t>(at) != 0 ? std::string_view("true") : "false");
      return;
    case flatbuffers::BASE_TYPE_UCHAR: {
      const auto number = read<std::uint8_t>(at);
      if (number < type.names.size())
        out.put(type.names[number]);
      else
        out.put_number(static_cast<unsigned>(number));
      return;
    }
    case flatbuffers::BASE_TYPE_SHORT:
      out.put_number(read<std::int16_t>(at));
      return;
    case flatbuffers::BASE_TYPE_USHORT:
      out.put_number(read<std::uint16_t>(at));
      return;
    case flatbuffers::BASE_TYPE_INT:
      out.put_number(read<std::int32_t>(at));
      return;
    case flatbuffers::BASE_TYPE_UINT:
      out.put_number(read<std::uint32_t>(at));
      return;
    case flatbuffers::BASE_TYPE_LONG:
      out.put_number(read<std::int64_t>(at));
      return;
    case flatbuffers::BASE_TYPE_ULONG:
      out.put_number(read<std::uint64_t>(at));
      return;
    case flatbuffers::BASE_TYPE_STRING: {
      const auto* text =
          reinterpret_cast<const flatbuffers::String*>(at + read<flatbuffers::uoffset_t>(at));
      return append_quoted({text->c_str(), text->size()}, out);
    }
    case flatbuffers::BASE_TYPE_STRUCT: {
      const Object& object = objects_[type.object];
      return append_object(object, object.fixed ? at : at + read<flatbuffers::uoffset_t>(at), out);
    }
    case flatbuffers::BASE_TYPE_VECTOR: {
      const std::uint8_t* list = at + read<flatbuffers::uoffset_t>(at);
      return append_list(type, list + sizeof(flatbuffers::uoffset_t),
                         read<flatbuffers::uoffset_t>(list), out);
    }
    case flatbuffers::BASE_TYPE_ARRAY:
      return append_list(type, at, type.length, out);
    default:
      KARST_CHECK(false, "the schemas have no field of this type");
  }
}

void JsonPlan::append_list(const Type& type, const std::uint8_t* first, std::size_t count,
                           TextWriter& out) const {
  const bool inlined = type.element == flatbuffers::BASE_TYPE_STRUCT && objects_[type.object].fixed;
  const std::size_t step = inlined ? objects_[type.object].size : size_of(type.element);
  const Type item{type.element, flatbuffers::BASE_TYPE_NONE, type.object, 0, {}};
  out.put('[');
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) out.put(',');
    append_value(item, first + i * step, out);
  }
  out.put(']');
}

}  // namespace karst::events
