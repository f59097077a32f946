// Rows with typed columns, and who writes them. A view (rows.h) makes rows, a format takes them.
// One thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace karst::exports {

enum class ColumnType {
  kInt64,
  kText,        // UTF-8
  kBool,        // 0 or 1
  kTimeMillis,  // ms since 1970-01-01T00:00:00Z
  kTenths,      // a number with one decimal, kept as ten times its value
};

// What a number of a column is, where its name does not say it, is in docs/export.md.
struct Column {
  std::string_view name;
  ColumnType type = ColumnType::kText;
  bool repeats = false;  // few values: worth a dictionary
};

struct Table {
  std::string_view name;
  std::span<const Column> columns;
  std::span<const std::string_view> indexed;  // columns that are worth an index
};

struct Cell {
  bool null = true;
  std::int64_t number = 0;
  std::string text;
};

// Filled column by column; the strings' room is used again. Every cell is null after clear().
class Row {
 public:
  explicit Row(std::size_t columns) : cells_(columns) {}
  void clear() {
    for (Cell& cell : cells_) cell.null = true;
    next_ = 0;
  }
  void number(std::int64_t value) {
    Cell& cell = cells_[next_++];
    cell.null = false;
    cell.number = value;
  }
  void text(std::string_view value) {
    Cell& cell = cells_[next_++];
    cell.null = false;
    cell.text.assign(value);
  }
  void skip(std::size_t columns = 1) { next_ += columns; }  // null
  // A position or time: null when 0.
  void number_or_null(std::int64_t value) { value == 0 ? skip() : number(value); }
  void text_or_null(std::string_view value) { value.empty() ? skip() : text(value); }
  std::span<const Cell> cells() const { return cells_; }
  bool full() const { return next_ == cells_.size(); }

 private:
  std::vector<Cell> cells_;
  std::size_t next_ = 0;
};

class TableWriter {
 public:
  virtual ~TableWriter() = default;
  // Errors: kFull, kDenied as the file system says; kGone when nobody reads any more.
  virtual base::Status row(const Row& row) = 0;
  // After the last row of all.
  virtual base::Status finish() = 0;
};

}  // namespace karst::exports
