// Thrift's compact protocol, as much of it as Parquet's headers and footer take. Source of the
// rules: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md. Pure
// values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace karst::exports {

void append_varint(std::string& out, std::uint64_t value);

// Writes one struct; fields in ascending order of their ids. Nested structs and lists are begun and
// ended in order.
class ThriftWriter {
 public:
  void i32(int field, std::int32_t value) { number(field, 5, value); }
  void i64(int field, std::int64_t value) { number(field, 6, value); }
  void boolean(int field, bool value) { header(field, value ? 1 : 2); }
  void text(int field, std::string_view value);
  void begin_struct(int field);
  void end_struct();
  // Elements follow, each as below.
  void begin_struct_list(int field, std::size_t size) { list(field, size, 12); }
  void begin_i32_list(int field, std::size_t size) { list(field, size, 5); }
  void begin_text_list(int field, std::size_t size) { list(field, size, 8); }
  void begin_element() { last_.push_back(0); }  // a struct; ended by end_struct
  void element(std::int32_t value);
  void element(std::string_view value);
  void elements(std::string_view taken) { out_ += taken; }  // structs from other writers' take()
  // Ends the outermost struct.
  std::string take();

 private:
  void header(int field, int type);
  void number(int field, int type, std::int64_t value);
  void list(int field, std::size_t size, int type);

  std::string out_;
  std::vector<int> last_ = {0};  // the last field id of each open struct
};

}  // namespace karst::exports
