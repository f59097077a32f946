// What lies in the log's folder beside the database: the lock that says who holds it, and the
// ballast that a full disk gives back. One owner, one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace karst::events {

inline constexpr std::uint64_t kBallastBytes = 64 << 20;

// What to do when the process may not open more files, or there is no memory: ends a message.
inline constexpr std::string_view kLimitAdvice =
    ". That is a limit of this process or machine and says nothing of the log: raise it (ulimit "
    "-n, memory) and try again";

// Held from open until destruction, and let go of by the kernel when the process dies.
class FolderLock {
 public:
  FolderLock() = default;
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  // Makes the folder when there is none, open to its owner alone, then takes FOLDER/lock. The files
  // in it are as private as the process's umask makes them.
  // Errors: kTaken names the process that holds it; kDenied; kInvalid when the path is no folder;
  // kFull.
  base::Status take(const std::string& folder);

 private:
  int file_ = -1;
};

// What the folder takes, all files in it together, and the disk it is on. Zeros where that cannot
// be read.
struct LogSizes {
  std::uint64_t log_bytes = 0;
  std::uint64_t free_bytes = 0;
  std::uint64_t disk_bytes = 0;
};
LogSizes sizes_of(const std::string& folder);

// FOLDER/ballast: bytes that are really reserved, to be given back when the disk is full. False
// when there is no room for it, which is no error: the alarm is that it is missing.
bool ensure_ballast(const std::string& folder, std::uint64_t bytes);
void release_ballast(const std::string& folder);
// Reserves the ballast again once twice as much is free. False: not yet.
bool restore_ballast(const std::string& folder, std::uint64_t bytes);

}  // namespace karst::events
