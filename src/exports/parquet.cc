#include "exports/parquet.h"

namespace karst::exports {
namespace {

constexpr std::string_view kMagic = "PAR1";
constexpr std::int32_t kVersion = 1;
constexpr std::int32_t kOptional = 1;
constexpr std::int32_t kConvertedUtf8 = 0, kConvertedTimeMillis = 9;  // for readers of before 2018
constexpr int kLogicalString = 1, kLogicalTime = 8, kUnitMillis = 1;

void describe_type(ThriftWriter& schema, ColumnType type) {
  if (type == ColumnType::kText) {
    schema.i32(6, kConvertedUtf8);
    schema.begin_struct(10);
    schema.begin_struct(kLogicalString);
    schema.end_struct();
    schema.end_struct();
  } else if (type == ColumnType::kTimeMillis) {
    schema.i32(6, kConvertedTimeMillis);
    schema.begin_struct(10);
    schema.begin_struct(kLogicalTime);
    schema.boolean(1, true);  // UTC
    schema.begin_struct(2);
    schema.begin_struct(kUnitMillis);
    schema.end_struct();
    schema.end_struct();
    schema.end_struct();
    schema.end_struct();
  }
}

}  // namespace

ParquetWriter::ParquetWriter(const Table& table, MetaData meta, ByteSink& sink)
    : table_(table), meta_(std::move(meta)), sink_(sink) {
  for (const Column& column : table_.columns) columns_.emplace_back(column, compressor_);
}

base::Status ParquetWriter::row(const Row& row) {
  if (sink_.bytes() == 0) KARST_TRY(sink_.write(kMagic));
  std::size_t held = 0;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    columns_[i].add(row.cells()[i]);
    held += columns_[i].size();
  }
  ++rows_in_group_;
  if (rows_in_group_ >= kRowGroupRows || held >= kRowGroupBytes) return close_group();
  return {};
}

base::Status ParquetWriter::close_group() {
  if (rows_in_group_ == 0) return {};
  Group group;
  group.rows = rows_in_group_;
  group.offset = static_cast<std::int64_t>(sink_.bytes());
  for (ParquetColumn& column : columns_) {
    ParquetColumn::Chunk chunk = column.finish(static_cast<std::int64_t>(sink_.bytes()));
    group.plain_bytes += chunk.plain_bytes;
    group.bytes += static_cast<std::int64_t>(chunk.pages.size());
    group.columns += chunk.description;
    KARST_TRY(sink_.write(chunk.pages));
  }
  rows_ += rows_in_group_;
  rows_in_group_ = 0;
  groups_.push_back(std::move(group));
  return {};
}

void ParquetWriter::describe_schema(ThriftWriter& footer) const {
  footer.begin_struct_list(2, table_.columns.size() + 1);
  footer.begin_element();
  footer.text(4, table_.name);
  footer.i32(5, static_cast<std::int32_t>(table_.columns.size()));
  footer.end_struct();
  for (const Column& column : table_.columns) {
    footer.begin_element();
    footer.i32(1, parquet_type(column.type));
    footer.i32(3, kOptional);
    footer.text(4, column.name);
    describe_type(footer, column.type);
    footer.end_struct();
  }
}

std::string ParquetWriter::footer() const {
  ThriftWriter footer;
  footer.i32(1, kVersion);
  describe_schema(footer);
  footer.i64(3, rows_);
  footer.begin_struct_list(4, groups_.size());
  for (const Group& group : groups_) {
    footer.begin_element();
    footer.begin_struct_list(1, columns_.size());
    footer.elements(group.columns);
    footer.i64(2, group.plain_bytes);
    footer.i64(3, group.rows);
    footer.i64(5, group.offset);
    footer.i64(6, group.bytes);
    footer.end_struct();
  }
  footer.begin_struct_list(5, meta_.size());
  for (const auto& [key, value] : meta_) {
    footer.begin_element();
    footer.text(1, key);
    footer.text(2, value);
    footer.end_struct();
  }
  footer.text(6, "karst");
  footer.begin_struct_list(7, columns_.size());  // order of the type, so that statistics count
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    footer.begin_element();
    footer.begin_struct(1);
    footer.end_struct();
    footer.end_struct();
  }
  return footer.take();
}

base::Status ParquetWriter::finish() {
  if (sink_.bytes() == 0) KARST_TRY(sink_.write(kMagic));
  KARST_TRY(close_group());
  std::string end = footer();
  const auto size = static_cast<std::uint32_t>(end.size());
  for (int shift = 0; shift < 32; shift += 8) end += static_cast<char>(size >> shift & 0xff);
  end += kMagic;
  KARST_TRY(sink_.write(end));
  return sink_.flush();
}

}  // namespace karst::exports
