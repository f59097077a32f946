#include "exports/csv.h"

#include <charconv>

#include "base/time.h"

namespace karst::exports {
namespace {

void append_number(std::string& line, std::int64_t number) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, number);
  line.append(digits, end.ptr);
}

void append_text(std::string& line, std::string_view text) {
  if (!text.empty() && text.find_first_of(",\"\r\n") == std::string_view::npos) {
    line += text;
    return;
  }
  line += '"';
  for (const char c : text) {
    if (c == '"') line += '"';
    line += c;
  }
  line += '"';
}

void append_cell(std::string& line, const Cell& cell, ColumnType type) {
  if (cell.null) return;
  switch (type) {
    case ColumnType::kInt64:
      return append_number(line, cell.number);
    case ColumnType::kText:
      return append_text(line, cell.text);
    case ColumnType::kBool:
      line += cell.number != 0 ? "true" : "false";
      return;
    case ColumnType::kTimeMillis:
      line += base::format_rfc3339(cell.number);
      return;
    case ColumnType::kTenths:
      if (cell.number < 0) line += '-';
      append_number(line, std::abs(cell.number / 10));
      line += '.';
      append_number(line, std::abs(cell.number % 10));
      return;
  }
}

}  // namespace

base::Status CsvWriter::header() {
  begun_ = true;
  line_.clear();
  for (const Column& column : table_.columns) {
    if (!line_.empty()) line_ += ',';
    append_text(line_, column.name);
  }
  line_ += "\r\n";
  return sink_.write(line_);
}

base::Status CsvWriter::row(const Row& row) {
  if (!begun_) KARST_TRY(header());
  line_.clear();
  for (std::size_t i = 0; i < table_.columns.size(); ++i) {
    if (i > 0) line_ += ',';
    append_cell(line_, row.cells()[i], table_.columns[i].type);
  }
  line_ += "\r\n";
  return sink_.write(line_);
}

base::Status CsvWriter::finish() {
  if (!begun_) KARST_TRY(header());
  return sink_.flush();
}

}  // namespace karst::exports
