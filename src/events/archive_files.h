// Files of an archive's folder: named, written whole, read whole. Inner part of src/events; what
// they hold is archive.h's and archive_expiry.h's.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/ids.h"

namespace karst::events {

inline constexpr std::string_view kSegmentSuffix = ".seg";
inline constexpr std::string_view kLeavesSuffix = ".leaves";
inline constexpr std::string_view kBaselineSuffix = ".baseline";

// With errno. kFull, kDenied, otherwise kInvalid.
tl::unexpected<base::Error> archive_file_error(const std::string& doing, const std::string& path);

// 20 digits.
std::string position_digits(model::Position position);

// "<first>-<last>SUFFIX", both in 20 digits.
struct RangeFile {
  model::Position first;
  model::Position last;
  std::string name;
  std::uint64_t bytes = 0;
};
std::string range_name(model::Position first, model::Position last, std::string_view suffix);
// Those of a folder, by their first positions; other files are passed over. Errors: those of
// archive_file_error.
base::Result<std::vector<RangeFile>> range_files(const std::string& folder,
                                                 std::string_view suffix);

// Whole, on stable storage, or not there at all: so is its name, and what was removed before.
base::Status write_archive_file(const std::string& folder, const std::string& name,
                                std::string_view bytes);
// Errors: kInvalid when it is not there, kCorrupt above `size_max`, those of archive_file_error.
base::Result<std::string> read_archive_file(const std::string& path, std::size_t size_max);
base::Status sync_archive_folder(const std::string& folder);

// Held while a segment is sealed, or what is too old goes: a daemon and `log archive` may do that
// to one folder. Let go of by the kernel when the process dies. On a file system without locks
// nothing is held.
inline constexpr std::chrono::milliseconds kArchiveLockWaitMax{10'000};
inline constexpr std::chrono::milliseconds kArchiveLockLook{5};  // between two looks
// Who takes it again and again lets go of it for so long between, or others would never get it.
inline constexpr std::chrono::milliseconds kArchiveLockPause{2 * kArchiveLockLook};
class ArchiveLock {
 public:
  // Waits for whoever holds it. Errors: kTaken after `wait_max`; kDenied, kInvalid when FOLDER/log
  // cannot be opened.
  static base::Result<ArchiveLock> take(const std::string& folder,
                                        std::chrono::milliseconds wait_max = kArchiveLockWaitMax);
  ArchiveLock(ArchiveLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  ArchiveLock& operator=(ArchiveLock&&) = delete;
  ~ArchiveLock();

 private:
  explicit ArchiveLock(int file) : file_(file) {}
  int file_;
};

std::vector<std::string> lines_of_text(std::string_view text);

}  // namespace karst::events
