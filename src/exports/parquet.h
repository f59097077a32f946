// A Parquet file with one table: flat, every column optional, zstd, row groups of at most
// kRowGroupRows rows and about kRowGroupBytes bytes, with the least and greatest value of each
// column. int64, UTF-8 text, boolean, timestamp (ms, UTC) and double. Written front to back, so a
// pipe will do. Memory: one row group.
//
// What was asked for and left out travels in the file's key-value metadata.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "exports/byte_sink.h"
#include "exports/parquet_column.h"
#include "exports/table.h"

namespace karst::exports {

inline constexpr std::int64_t kRowGroupRows = 100'000;
inline constexpr std::size_t kRowGroupBytes = 64 << 20;

using MetaData = std::vector<std::pair<std::string, std::string>>;

class ParquetWriter final : public TableWriter {
 public:
  ParquetWriter(const Table& table, MetaData meta, ByteSink& sink);
  base::Status row(const Row& row) override;
  base::Status finish() override;

 private:
  struct Group {
    std::int64_t rows = 0, plain_bytes = 0, bytes = 0, offset = 0;
    std::string columns;  // the list of ColumnChunks, as the footer has them
  };
  base::Status close_group();
  void describe_schema(ThriftWriter& footer) const;
  std::string footer() const;

  const Table table_;
  MetaData meta_;
  ByteSink& sink_;
  Compressor compressor_;
  std::vector<ParquetColumn> columns_;
  std::vector<Group> groups_;
  std::int64_t rows_in_group_ = 0, rows_ = 0;
};

}  // namespace karst::exports
