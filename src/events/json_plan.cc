#include "events/json_plan.h"

#include <flatbuffers/util.h>

#include <charconv>

#include "base/check.h"

namespace karst::events {
namespace {

using flatbuffers::BaseType;

constexpr std::size_t kDigitsMax = 24;

template <class Number>
void append_number(Number number, std::string& out) {
  char digits[kDigitsMax];
  const auto end = std::to_chars(digits, digits + kDigitsMax, number);
  out.append(digits, end.ptr);
}

template <class Number>
Number read(const std::uint8_t* at) {
  return flatbuffers::ReadScalar<Number>(at);
}

// Text that is written as it stands: printable ASCII without quotes and backslashes.
constexpr bool is_plain(char c) {
  return c >= ' ' && c <= '~' && c != '"' && c != '\\';
}

std::size_t size_of(BaseType type) {
  return type == flatbuffers::BASE_TYPE_STRING || type == flatbuffers::BASE_TYPE_STRUCT
             ? sizeof(flatbuffers::uoffset_t)
             : flatbuffers::SizeOf(type);
}

}  // namespace

bool append_quoted(std::string_view text, std::string& out) {
  for (const char c : text)
    if (!is_plain(c))
      return flatbuffers::EscapeString(text.data(), text.size(), &out, false, false);
  out += '"';
  out += text;
  out += '"';
  return true;
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
      plan.fields.push_back(
          {"\"" + field->name + "\": ", field->value.offset, type_of(field->value.type)});
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

bool JsonPlan::append(std::size_t table, const char* payload, std::string& out) const {
  const auto* root = flatbuffers::GetRoot<std::uint8_t>(payload);
  return append_object(objects_[table], root, out);
}

bool JsonPlan::append_object(const Object& object, const std::uint8_t* at, std::string& out) const {
  const auto* table = reinterpret_cast<const flatbuffers::Table*>(at);
  out += '{';
  bool first = true;
  for (const Field& field : object.fields) {
    const std::uint8_t* value = at + field.offset;
    if (!object.fixed) {
      const flatbuffers::voffset_t place = table->GetOptionalFieldOffset(field.offset);
      if (place == 0) continue;
      value = at + place;
    }
    if (!first) out += ',';
    first = false;
    out += field.label;
    if (!append_value(field.type, value, out)) return false;
  }
  out += '}';
  return true;
}

bool JsonPlan::append_value(const Type& type, const std::uint8_t* at, std::string& out) const {
  switch (type.base) {
    case flatbuffers::BASE_TYPE_BOOL:
      out += read<std::uint8_t>(at) != 0 ? "true" : "false";
      return true;
    case flatbuffers::BASE_TYPE_UCHAR: {
      const auto number = read<std::uint8_t>(at);
      if (number < type.names.size())
        out += type.names[number];
      else
        append_number(static_cast<unsigned>(number), out);
      return true;
    }
    case flatbuffers::BASE_TYPE_SHORT:
      append_number(read<std::int16_t>(at), out);
      return true;
    case flatbuffers::BASE_TYPE_USHORT:
      append_number(read<std::uint16_t>(at), out);
      return true;
    case flatbuffers::BASE_TYPE_INT:
      append_number(read<std::int32_t>(at), out);
      return true;
    case flatbuffers::BASE_TYPE_UINT:
      append_number(read<std::uint32_t>(at), out);
      return true;
    case flatbuffers::BASE_TYPE_LONG:
      append_number(read<std::int64_t>(at), out);
      return true;
    case flatbuffers::BASE_TYPE_ULONG:
      append_number(read<std::uint64_t>(at), out);
      return true;
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
  return false;
}

bool JsonPlan::append_list(const Type& type, const std::uint8_t* first, std::size_t count,
                           std::string& out) const {
  const bool inlined = type.element == flatbuffers::BASE_TYPE_STRUCT && objects_[type.object].fixed;
  const std::size_t step = inlined ? objects_[type.object].size : size_of(type.element);
  const Type item{type.element, flatbuffers::BASE_TYPE_NONE, type.object, 0, {}};
  out += '[';
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) out += ',';
    if (!append_value(item, first + i * step, out)) return false;
  }
  out += ']';
  return true;
}

}  // namespace karst::events
