// How each table of the schemas is written as JSON, worked out once from a parsed schema, so that
// writing an event only walks its bytes. The text is that of flatbuffers::GenerateText, byte for
// byte (tests/events compares them), at several times its speed: exports of a whole log live on it.
// Internal to events; const after it is made.
#pragma once

#include <flatbuffers/idl.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "events/text_writer.h"

namespace karst::events {

class JsonPlan {
 public:
  // Knows every table and struct of the parsed schemas. What no schema of ours has (floats, unions,
  // nested buffers) is refused by KARST_CHECK.
  explicit JsonPlan(const flatbuffers::Parser& parser);

  // Where a root table is, by its name; to be kept by who asks often.
  std::size_t find(std::string_view table) const;
  // Appends the JSON of a verified buffer. Of text that is not UTF-8, each byte that belongs to no
  // character is U+FFFD.
  void append(std::size_t table, const char* payload, TextWriter& out) const;

 private:
  static constexpr std::size_t kLabelMax = 48;
  struct Type {
    flatbuffers::BaseType base = flatbuffers::BASE_TYPE_NONE;
    flatbuffers::BaseType element = flatbuffers::BASE_TYPE_NONE;  // of vectors and arrays
    std::size_t object = 0;                                       // of structs and tables
    std::uint16_t length = 0;                                     // of arrays
    std::vector<std::string> names;  // of an enum's values, quoted; empty: plain numbers
  };
  struct Field {
    char label[kLabelMax];  // "\"name\": ", copied as a whole
    std::size_t label_size = 0;
    std::uint16_t offset = 0;
    Type type;
  };
  struct Object {
    bool fixed = false;
    std::size_t size = 0;
    std::vector<Field> fields;
  };
  Type type_of(const flatbuffers::Type& type) const;
  void append_object(const Object& object, const std::uint8_t* at, TextWriter& out) const;
  void append_value(const Type& type, const std::uint8_t* at, TextWriter& out) const;
  void append_list(const Type& type, const std::uint8_t* first, std::size_t count,
                   TextWriter& out) const;

  std::vector<Object> objects_;
  std::map<std::string, std::size_t, std::less<>> by_name_;
};

// Text in quotes, as above.
void append_quoted(std::string_view text, TextWriter& out);

}  // namespace karst::events
