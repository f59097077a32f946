// CSV as RFC 4180 has it: a header line, CRLF at the ends of lines, quotes where needed. UTF-8. A
// missing value is an empty field, an empty text is "". Times are RFC 3339 with milliseconds,
// booleans true and false.
#pragma once

#include <string>

#include "exports/byte_sink.h"
#include "exports/table.h"

namespace karst::exports {

class CsvWriter final : public TableWriter {
 public:
  CsvWriter(const Table& table, ByteSink& sink) : table_(table), sink_(sink) {}
  base::Status row(const Row& row) override;
  base::Status finish() override;  // a table without rows is its header

 private:
  base::Status header();
  const Table table_;
  ByteSink& sink_;
  std::string line_;
  bool begun_ = false;
};

}  // namespace karst::exports
