// A Parquet file with everything that the writer does and a small log does not ask of it: several
// row groups, many pages, a dictionary that is given up, nulls of every pattern, extremes.
// karst_parquet_sample FILE. tests/audit/exports.py knows what must be in it.
#include <cstdio>
#include <limits>

#include "exports/parquet.h"

using namespace karst::exports;

namespace {

constexpr Column kColumns[] = {
    {"n", ColumnType::kInt64},             // the row, from 0
    {"extreme", ColumnType::kInt64},       // least, greatest, 0, and so on
    {"sparse", ColumnType::kInt64},        // every 7th
    {"nothing", ColumnType::kText, true},  // null
    {"flag", ColumnType::kBool},           // n % 3 == 0; null at every 5th
    {"time", ColumnType::kTimeMillis},     // n seconds after 2026-11-21
    {"tenths", ColumnType::kTenths},       // n / 10
    {"few", ColumnType::kText, true},      // one of 5, from 0 to 4 letters
    {"many", ColumnType::kText, true},     // all different: no dictionary
    {"long", ColumnType::kText},           // 0 to 2,000 bytes
    {"one", ColumnType::kText, true},      // always the same
};
constexpr std::int64_t kRows = 250'000;
constexpr std::int64_t kBegin = 1'795'219'200'000;  // 2026-11-21T00:00:00Z

void fill(Row& row, std::int64_t n) {
  constexpr std::int64_t kExtremes[] = {std::numeric_limits<std::int64_t>::min(),
                                        std::numeric_limits<std::int64_t>::max(), 0};
  row.clear();
  row.number(n);
  row.number(kExtremes[n % 3]);
  n % 7 == 0 ? row.number(n) : row.skip();
  row.skip();
  n % 5 == 0 ? row.skip() : row.number(n % 3 == 0 ? 1 : 0);
  row.number(kBegin + n * 1000);
  row.number(n);
  row.text(std::string(static_cast<std::size_t>(n % 5), 'x'));
  row.text("row-" + std::to_string(n));
  row.text(std::string(static_cast<std::size_t>(n % 2001), static_cast<char>('a' + n % 26)));
  row.text("\xC3\xA4");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto file = OutputFile::make(argv[1]);
  if (!file) return 1;
  ByteSink sink(file->descriptor(), argv[1]);
  ParquetWriter writer({"sample", kColumns, {}}, {{"key", "value"}}, sink);
  Row row(std::size(kColumns));
  for (std::int64_t n = 0; n < kRows; ++n) {
    fill(row, n);
    if (!writer.row(row)) return 1;
  }
  return writer.finish() && file->finish() ? 0 : 1;
}
