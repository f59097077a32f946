#include "exports/thrift.h"

#include <utility>

namespace karst::exports {
namespace {

constexpr int kListType = 9, kTextType = 8, kStructType = 12;
constexpr int kShortDeltaMax = 15;
constexpr std::size_t kShortListMax = 14;

std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}

}  // namespace

void append_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  out += static_cast<char>(value);
}

void ThriftWriter::header(int field, int type) {
  const int delta = field - last_.back();
  last_.back() = field;
  if (delta > 0 && delta <= kShortDeltaMax) {
    out_ += static_cast<char>(delta << 4 | type);
    return;
  }
  out_ += static_cast<char>(type);
  append_varint(out_, zigzag(field));
}

void ThriftWriter::number(int field, int type, std::int64_t value) {
  header(field, type);
  append_varint(out_, zigzag(value));
}

void ThriftWriter::text(int field, std::string_view value) {
  header(field, kTextType);
  element(value);
}

void ThriftWriter::begin_struct(int field) {
  header(field, kStructType);
  last_.push_back(0);
}

void ThriftWriter::end_struct() {
  out_ += '\0';
  last_.pop_back();
}

void ThriftWriter::list(int field, std::size_t size, int type) {
  header(field, kListType);
  if (size <= kShortListMax) {
    out_ += static_cast<char>(size << 4 | static_cast<unsigned>(type));
    return;
  }
  out_ += static_cast<char>(0xf0 | type);
  append_varint(out_, size);
}

void ThriftWriter::element(std::int32_t value) {
  append_varint(out_, zigzag(value));
}

void ThriftWriter::element(std::string_view value) {
  append_varint(out_, value.size());
  out_ += value;
}

std::string ThriftWriter::take() {
  out_ += '\0';
  last_ = {0};
  return std::exchange(out_, {});
}

}  // namespace karst::exports
