#include "exports/sqlite.h"

#include <sqlite3.h>

#include <cstring>
#include <filesystem>
#include <utility>

#include "base/system_error.h"

namespace karst::exports {
namespace {

base::Error failed(sqlite3* database) {
  // SQLite itself knows ENOSPC alone: a full quota is an I/O error to it.
  int system = 0;
  sqlite3_file_control(database, "main", SQLITE_FCNTL_LAST_ERRNO, &system);
  const bool full = (sqlite3_errcode(database) & 0xff) == SQLITE_FULL ||
                    base::kind_of_errno(system, base::Kind::kDenied) == base::Kind::kFull;
  const char* path = sqlite3_db_filename(database, "main");
  return {full ? base::Kind::kFull : base::Kind::kDenied,
          "the SQLite file " + std::string(path == nullptr ? "" : path) +
              " cannot be written: " + sqlite3_errmsg(database) +
              (system == 0 ? "" : ": " + std::string(std::strerror(system))) +
              (full ? ". Free some space there, or write elsewhere" : "")};
}

base::Status run(sqlite3* database, const std::string& sql) {
  if (sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    return base::fail(failed(database));
  return {};
}

std::string_view sql_type(ColumnType type) {
  switch (type) {
    case ColumnType::kText:
      return "TEXT";
    case ColumnType::kTenths:
      return "REAL";
    case ColumnType::kInt64:
    case ColumnType::kBool:
    case ColumnType::kTimeMillis:
      return "INTEGER";
  }
  return "TEXT";
}

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

base::Result<Statement> prepare(sqlite3* database, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK)
    return base::fail(failed(database));
  return Statement(statement);
}

void bind_text(sqlite3_stmt* statement, int place, std::string_view text) {
  sqlite3_bind_text64(statement, place, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

// Runs once, to be used again.
base::Status step(sqlite3* database, sqlite3_stmt* statement) {
  const bool done = sqlite3_step(statement) == SQLITE_DONE;
  if (!done) return base::fail(failed(database));
  sqlite3_reset(statement);
  return {};
}

class SqliteTable final : public TableWriter {
 public:
  SqliteTable(sqlite3* database, Statement insert, const Table& table)
      : database_(database), insert_(std::move(insert)), table_(table) {}

  base::Status row(const Row& row) override {
    int place = 0;
    for (const Cell& cell : row.cells()) {
      const ColumnType type = table_.columns[static_cast<std::size_t>(place++)].type;
      if (cell.null)
        sqlite3_bind_null(insert_.get(), place);
      else if (type == ColumnType::kText)
        bind_text(insert_.get(), place, cell.text);
      else if (type == ColumnType::kTenths)
        sqlite3_bind_double(insert_.get(), place, static_cast<double>(cell.number) / 10);
      else
        sqlite3_bind_int64(insert_.get(), place, cell.number);
    }
    return step(database_, insert_.get());
  }

  base::Status finish() override {
    for (const std::string_view column : table_.indexed) {
      const std::string name = std::string(table_.name) + "_" + std::string(column);
      KARST_TRY(run(database_, "CREATE INDEX " + name + " ON " + std::string(table_.name) + " (" +
                                   std::string(column) + ")"));
    }
    return {};
  }

 private:
  sqlite3* database_;
  Statement insert_;
  Table table_;
};

// Indexes are sorted in files beside the database, where there is room for it and where it can be
// written on a file system that is read-only elsewhere; in memory they would take what they weigh.
std::string sort_beside(const std::string& path) {
  std::string folder = std::filesystem::path(path).parent_path().string();
  if (folder.empty()) folder = ".";
  const std::unique_ptr<char, void (*)(void*)> sql(
      sqlite3_mprintf("PRAGMA temp_store_directory = %Q; PRAGMA temp_store = FILE; ",
                      folder.c_str()),
      sqlite3_free);
  return sql.get();
}

}  // namespace

void SqliteFile::Close::operator()(sqlite3* database) const {
  sqlite3_close_v2(database);
}

base::Result<SqliteFile> SqliteFile::open(const std::string& path) {
  sqlite3* database = nullptr;
  const int opened =
      sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  SqliteFile file(database);
  if (opened != SQLITE_OK) return base::fail(failed(database));
  // Nobody reads it before it is whole: what a crash leaves is thrown away.
  KARST_TRY(run(database,
                sort_beside(path) +
                    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; "
                    "BEGIN; CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT"));
  return file;
}

base::Result<std::unique_ptr<TableWriter>> SqliteFile::add(const Table& table) {
  std::string columns, places;
  for (const Column& column : table.columns) {
    const bool key = columns.empty() && column.name == "position";
    columns += (columns.empty() ? "" : ", ") + std::string(column.name) + " " +
               std::string(sql_type(column.type)) + (key ? " PRIMARY KEY" : "");
    places += places.empty() ? "?" : ", ?";
  }
  const std::string name(table.name);
  KARST_TRY(run(database_.get(), "CREATE TABLE " + name + " (" + columns + ") STRICT"));
  auto insert = prepare(database_.get(), "INSERT INTO " + name + " VALUES (" + places + ")");
  if (!insert) return base::fail(insert.error());
  return std::unique_ptr<TableWriter>(
      std::make_unique<SqliteTable>(database_.get(), std::move(*insert), table));
}

base::Status SqliteFile::set_meta(std::string_view key, std::string_view value) {
  auto insert = prepare(database_.get(), "INSERT INTO meta VALUES (?, ?)");
  if (!insert) return base::fail(insert.error());
  bind_text(insert->get(), 1, key);
  bind_text(insert->get(), 2, value);
  return step(database_.get(), insert->get());
}

base::Status SqliteFile::finish() {
  return run(database_.get(), "COMMIT; PRAGMA journal_mode = DELETE");
}

}  // namespace karst::exports
