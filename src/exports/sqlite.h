// A SQLite 3 database: one STRICT table for each view, indexes on what people look for, and `meta`
// (key, value). Times are INTEGER milliseconds since 1970-01-01T00:00:00Z, booleans 0 and 1. One
// owner, one thread. What a failure leaves behind is the half-written file: give it a path that is
// renamed at the end (OutputFile).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "exports/table.h"

struct sqlite3;
struct sqlite3_stmt;

namespace karst::exports {

class SqliteFile {
 public:
  // Into an empty or new file. Errors: kDenied, kFull, with SQLite's words.
  static base::Result<SqliteFile> open(const std::string& path);
  // Adds the table; the writer must not outlive the file. Its finish() makes the indexes.
  base::Result<std::unique_ptr<TableWriter>> add(const Table& table);
  base::Status set_meta(std::string_view key, std::string_view value);
  // Commits; the destructor closes.
  base::Status finish();

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  explicit SqliteFile(sqlite3* database) : database_(database) {}
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace karst::exports
