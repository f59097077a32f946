// One column of one row group on its way into a Parquet file: values become pages of about
// kPageBytes, compressed as they fill. A column whose values repeat is kept as indexes into a
// dictionary for as long as that has at most kDictionaryMax entries. Internal to parquet.
//
// Source of the rules: https://github.com/apache/parquet-format (README.md, Encodings.md,
// src/main/thrift/parquet.thrift): PLAIN, RLE_DICTIONARY, definition levels by RLE; ZSTD.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "exports/compress.h"
#include "exports/table.h"
#include "exports/thrift.h"

namespace karst::exports {

inline constexpr std::size_t kPageBytes = 1 << 20;
inline constexpr std::size_t kDictionaryMax = 1 << 15;
inline constexpr std::size_t kStatisticBytesMax = 64;  // of a text's least and greatest value

// The type in the file, by the numbers of parquet.thrift.
int parquet_type(ColumnType type);

// `bits` bits of each value, packed from the lowest bit on, as one run.
std::string bit_packed(const std::vector<std::uint32_t>& values, int bits);

class ParquetColumn {
 public:
  ParquetColumn(const Column& column, Compressor& compressor);
  void add(const Cell& cell);
  // Bytes that are held, about.
  std::size_t size() const { return pages_.size() + values_.size() + 4 * indexes_.size(); }
  // A column of a row group that is whole.
  struct Chunk {
    std::string pages;             // to be written at the offset that was given
    std::string description;       // ColumnChunk of the footer
    std::int64_t plain_bytes = 0;  // of the pages before compression
  };
  // Begins anew.
  Chunk finish(std::int64_t offset);

 private:
  void add_value(const Cell& cell);
  void close_page(std::string_view body, bool dictionary);
  void close_plain_page();
  void close_dictionary();
  void give_up_dictionary();
  void note_extremes(std::string_view value, std::int64_t number);
  std::string page(std::string_view body, int type, std::int32_t count, int encoding);
  std::string describe(std::int64_t offset, std::size_t dictionary_bytes) const;
  void describe_statistics(ThriftWriter& chunk) const;
  void clear();

  Column column_;
  Compressor& compressor_;
  std::string pages_;   // finished
  std::string values_;  // PLAIN, of the page that is being filled
  std::vector<bool> present_;
  int bits_ = 0;  // a page of booleans: values in it
  bool dictionary_wanted_ = false;
  std::map<std::string, std::uint32_t, std::less<>> dictionary_;
  std::vector<std::string_view> entries_;  // of the dictionary, by index
  std::vector<std::uint32_t> indexes_;
  std::int64_t count_ = 0, nulls_ = 0, plain_bytes_ = 0;
  bool has_extremes_ = false;
  std::int64_t least_ = 0, greatest_ = 0;
  std::string least_text_, greatest_text_;
};

}  // namespace karst::exports
