#include "exports/parquet_column.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace karst::exports {
namespace {

enum Type { kBoolean = 0, kInt64 = 2, kDouble = 5, kByteArray = 6 };
enum Encoding { kPlain = 0, kRle = 3, kRleDictionary = 8 };
enum PageType { kDataPage = 0, kDictionaryPage = 2 };
constexpr int kZstd = 6;
constexpr std::size_t kPerByte = 8;

template <class Number>
void append_little_endian(std::string& out, Number number) {
  char bytes[sizeof number];
  std::memcpy(bytes, &number, sizeof number);  // the build is for little-endian machines
  out.append(bytes, sizeof number);
}

void append_plain(std::string& out, ColumnType type, const Cell& cell) {
  if (type == ColumnType::kText) {
    append_little_endian(out, static_cast<std::uint32_t>(cell.text.size()));
    out += cell.text;
  } else if (type == ColumnType::kTenths) {
    append_little_endian(out, static_cast<double>(cell.number) / 10);
  } else {
    append_little_endian(out, cell.number);
  }
}

// Definition levels of a flat, optional column, behind their length in 4 bytes.
std::string levels(const std::vector<bool>& present) {
  std::string run;
  if (std::find(present.begin(), present.end(), !present.front()) == present.end()) {
    append_varint(run, present.size() << 1);
    run += present.front() ? '\1' : '\0';
  } else {
    run = bit_packed(std::vector<std::uint32_t>(present.begin(), present.end()), 1);
  }
  std::string out;
  append_little_endian(out, static_cast<std::uint32_t>(run.size()));
  return out + run;
}

}  // namespace

int parquet_type(ColumnType type) {
  switch (type) {
    case ColumnType::kText:
      return kByteArray;
    case ColumnType::kBool:
      return kBoolean;
    case ColumnType::kTenths:
      return kDouble;
    case ColumnType::kInt64:
    case ColumnType::kTimeMillis:
      return kInt64;
  }
  return kByteArray;
}

std::string bit_packed(const std::vector<std::uint32_t>& values, int bits) {
  const std::size_t groups = (values.size() + kPerByte - 1) / kPerByte;
  std::string out;
  append_varint(out, groups << 1 | 1);
  std::uint64_t pending = 0;
  int held = 0;
  for (std::size_t i = 0; i < groups * kPerByte; ++i) {
    pending |= std::uint64_t{i < values.size() ? values[i] : 0} << held;
    for (held += bits; held >= 8; held -= 8) {
      out += static_cast<char>(pending & 0xff);
      pending >>= 8;
    }
  }
  return out;
}

ParquetColumn::ParquetColumn(const Column& column, Compressor& compressor)
    : column_(column), compressor_(compressor) {
  clear();
}

void ParquetColumn::clear() {
  pages_.clear();
  values_.clear();
  present_.clear();
  bits_ = 0;
  dictionary_wanted_ = column_.repeats && column_.type == ColumnType::kText;
  dictionary_.clear();
  entries_.clear();
  indexes_.clear();
  count_ = nulls_ = plain_bytes_ = 0;
  has_extremes_ = false;
}

void ParquetColumn::add(const Cell& cell) {
  ++count_;
  present_.push_back(!cell.null);
  if (cell.null)
    ++nulls_;
  else
    add_value(cell);
  if (!dictionary_wanted_ && (values_.size() >= kPageBytes || present_.size() >= kPageBytes))
    close_plain_page();
}

void ParquetColumn::add_value(const Cell& cell) {
  note_extremes(cell.text, cell.number);
  if (dictionary_wanted_) {
    const auto [at, added] =
        dictionary_.try_emplace(cell.text, static_cast<std::uint32_t>(dictionary_.size()));
    if (added) entries_.push_back(at->first);
    indexes_.push_back(at->second);
    if (dictionary_.size() > kDictionaryMax) give_up_dictionary();
    return;
  }
  if (column_.type != ColumnType::kBool) return append_plain(values_, column_.type, cell);
  if (bits_ % static_cast<int>(kPerByte) == 0) values_ += '\0';
  if (cell.number != 0)
    values_.back() = static_cast<char>(values_.back() | 1 << (bits_ % static_cast<int>(kPerByte)));
  ++bits_;
}

void ParquetColumn::note_extremes(std::string_view value, std::int64_t number) {
  if (column_.type == ColumnType::kText) {
    if (!has_extremes_ || value < least_text_) least_text_ = value;
    if (!has_extremes_ || value > greatest_text_) greatest_text_ = value;
  } else {
    if (!has_extremes_ || number < least_) least_ = number;
    if (!has_extremes_ || number > greatest_) greatest_ = number;
  }
  has_extremes_ = true;
}

void ParquetColumn::give_up_dictionary() {
  dictionary_wanted_ = false;
  Cell cell;
  for (const std::uint32_t index : indexes_) {
    cell.text = entries_[index];
    append_plain(values_, column_.type, cell);
  }
  dictionary_.clear();
  entries_.clear();
  indexes_.clear();
}

std::string ParquetColumn::page(std::string_view body, int type, std::int32_t count, int encoding) {
  const std::string packed = compressor_.compress(body);
  ThriftWriter header;
  header.i32(1, type);
  header.i32(2, static_cast<std::int32_t>(body.size()));
  header.i32(3, static_cast<std::int32_t>(packed.size()));
  header.begin_struct(type == kDataPage ? 5 : 7);
  header.i32(1, count);
  header.i32(2, encoding);
  if (type == kDataPage) {
    header.i32(3, kRle);
    header.i32(4, kRle);
  }
  header.end_struct();
  std::string head = header.take();
  plain_bytes_ += static_cast<std::int64_t>(head.size() + body.size());
  return head + packed;
}

void ParquetColumn::close_page(std::string_view body, bool dictionary) {
  pages_ += page(levels(present_) + std::string(body), kDataPage,
                 static_cast<std::int32_t>(present_.size()), dictionary ? kRleDictionary : kPlain);
  present_.clear();
}

void ParquetColumn::close_plain_page() {
  close_page(values_, false);
  values_.clear();
  bits_ = 0;
}

void ParquetColumn::close_dictionary() {
  const int bits = std::max(1, static_cast<int>(std::bit_width(entries_.size() - 1)));
  close_page(static_cast<char>(bits) + bit_packed(indexes_, bits), true);
}

ParquetColumn::Chunk ParquetColumn::finish(std::int64_t offset) {
  std::string front;
  if (dictionary_wanted_ && !entries_.empty()) {
    Cell cell;
    for (const std::string_view entry : entries_) {
      cell.text = entry;
      append_plain(values_, column_.type, cell);
    }
    front = page(values_, kDictionaryPage, static_cast<std::int32_t>(entries_.size()), kPlain);
    close_dictionary();
  } else if (!present_.empty()) {
    close_plain_page();
  }
  const std::size_t dictionary_bytes = front.size();
  pages_.insert(0, front);
  Chunk chunk{"", describe(offset, dictionary_bytes), plain_bytes_};
  chunk.pages.swap(pages_);
  clear();
  return chunk;
}

std::string ParquetColumn::describe(std::int64_t offset, std::size_t dictionary_bytes) const {
  ThriftWriter chunk;  // ColumnChunk
  chunk.i64(2, offset);
  chunk.begin_struct(3);  // ColumnMetaData
  chunk.i32(1, parquet_type(column_.type));
  chunk.begin_i32_list(2, dictionary_bytes > 0 ? 3 : 2);
  chunk.element(kPlain);
  chunk.element(kRle);
  if (dictionary_bytes > 0) chunk.element(kRleDictionary);
  chunk.begin_text_list(3, 1);
  chunk.element(column_.name);
  chunk.i32(4, kZstd);
  chunk.i64(5, count_);
  chunk.i64(6, plain_bytes_);
  chunk.i64(7, static_cast<std::int64_t>(pages_.size()));
  chunk.i64(9, offset + static_cast<std::int64_t>(dictionary_bytes));
  if (dictionary_bytes > 0) chunk.i64(11, offset);
  describe_statistics(chunk);
  chunk.end_struct();
  return chunk.take();
}

void ParquetColumn::describe_statistics(ThriftWriter& chunk) const {
  const bool text = column_.type == ColumnType::kText;
  const bool small =
      least_text_.size() <= kStatisticBytesMax && greatest_text_.size() <= kStatisticBytesMax;
  chunk.begin_struct(12);
  chunk.i64(3, nulls_);
  if (has_extremes_ && (!text || small)) {
    const auto bytes_of = [&](std::int64_t number, const std::string& value) {
      std::string bytes;
      Cell cell;
      cell.number = number;
      if (column_.type == ColumnType::kBool) return std::string(1, static_cast<char>(number));
      append_plain(bytes, column_.type, cell);
      return text ? value : bytes;
    };
    chunk.text(5, bytes_of(greatest_, greatest_text_));
    chunk.text(6, bytes_of(least_, least_text_));
  }
  chunk.end_struct();
}

}  // namespace karst::exports
