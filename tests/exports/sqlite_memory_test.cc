// A database's indexes do not take the memory that they weigh.
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "exports/sqlite.h"
#include "tests/sanitized.h"

namespace karst::exports {
namespace {

constexpr Column kColumns[] = {{"position", ColumnType::kInt64}, {"subject", ColumnType::kText}};
constexpr std::string_view kIndexed[] = {"subject"};
constexpr Table kTable{"rows", kColumns, kIndexed};
constexpr std::int64_t kRows = 300'000, kRowBytes = 300;  // an index of some 90 MB
constexpr rlim_t kMoreBytes = 48 << 20;

void allow_no_more_than(rlim_t more_bytes) {
  std::ifstream statm("/proc/self/statm");
  rlim_t pages = 0;
  statm >> pages;
  const rlim_t bytes = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + more_bytes;
  const rlimit limit{bytes, bytes};
  setrlimit(RLIMIT_AS, &limit);
}

base::Status write_rows(const std::string& path) {
  auto file = SqliteFile::open(path);
  if (!file) return base::fail(file.error());
  if (sqlite3_temp_directory == nullptr ||
      std::filesystem::path(path).parent_path() != sqlite3_temp_directory)
    return base::fail(base::Kind::kDenied, "sorted elsewhere");
  auto writer = file->add(kTable);
  if (!writer) return base::fail(writer.error());
  Row row(std::size(kColumns));
  for (std::int64_t i = 0; i < kRows; ++i) {
    row.clear();
    row.number(i + 1);
    std::string subject = std::to_string(i * 7'919 % kRows);
    subject.resize(kRowBytes, '.');
    row.text(subject);
    KARST_TRY((*writer)->row(row));
  }
  KARST_TRY((*writer)->finish());
  writer->reset();
  return file->finish();
}

TEST(Sqlite, SortsItsIndexesBesideTheFile) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("karst-it's-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  const pid_t child = fork();
  if (child == 0) {
    // Where the standard places cannot be written.
    setenv("TMPDIR", "/proc/none", 1);
    if (!kSanitized) allow_no_more_than(kMoreBytes);
    const base::Status written = write_rows(folder / "rows.db");
    if (!written) fprintf(stderr, "%s\n", written.error().message.c_str());
    _exit(written ? 0 : 1);
  }
  int ended = -1;
  waitpid(child, &ended, 0);
  EXPECT_EQ(ended, 0);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace karst::exports
