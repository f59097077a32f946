#include "events/log_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/system_error.h"

namespace karst::events {
namespace {

tl::unexpected<base::Error> folder_error(const std::string& doing, const std::string& path) {
  const int code = errno;
  const std::string message = doing + " " + path + ": " + std::strerror(code);
  const base::Kind kind = base::kind_of_errno(code, base::Kind::kInvalid);
  if (base::is_at_a_limit(code)) return base::fail(kind, message + std::string(kLimitAdvice));
  if (code == EIO) return base::fail(kind, message + ". See the kernel's log of that disk");
  if (kind == base::Kind::kDenied)
    return base::fail(kind, message + ". Let user " + std::to_string(geteuid()) +
                                ", as whom karst runs, read and write there, or give --data "
                                "another folder");
  if (kind == base::Kind::kFull) return base::fail(kind, message + ". Free some space");
  return base::fail(kind, message + ". Expected a folder that is the log's, or can be made");
}

// Of the folders on the way to `folder`, the last one that is there.
std::string standing_part(const std::string& folder) {
  std::error_code ignored;
  auto path = std::filesystem::absolute(folder, ignored).lexically_normal();
  while (path.has_relative_path() && !std::filesystem::exists(path, ignored))
    path = path.parent_path();
  return path.string();
}

std::string read_holder(int file) {
  char text[64];
  const ssize_t size = pread(file, text, sizeof(text), 0);
  std::string holder(text, size > 0 ? static_cast<std::size_t>(size) : 0);
  while (!holder.empty() && holder.back() == '\n') holder.pop_back();
  return holder;
}

// What is in a log, its secret too, is for its owner alone. A folder with other things in it is
// left as it is.
void make_private(const std::string& folder) {
  std::error_code ignored;
  const bool logs_own = std::filesystem::is_empty(folder, ignored) ||
                        std::filesystem::exists(folder + "/high-water", ignored);
  struct stat status{};
  if (!logs_own || stat(folder.c_str(), &status) != 0 || (status.st_mode & 077) == 0) return;
  // Somebody else's folder, a mounted volume: whoever made it decides.
  if (chmod(folder.c_str(), 0700) != 0) return;
}

}  // namespace

FolderLock::~FolderLock() {
  if (file_ >= 0) close(file_);
}

base::Status FolderLock::take(const std::string& folder) {
  std::error_code unmade;
  std::filesystem::create_directories(folder, unmade);
  if (unmade) {
    const std::string place = standing_part(folder);
    errno = unmade.value();
    return folder_error("cannot open " + folder + ": it cannot be made in", place);
  }
  make_private(folder);
  const std::string path = folder + "/lock";
  file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file_ < 0) return folder_error("cannot open", path);
  if (flock(file_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return folder_error("cannot lock", path);
    const std::string holder = read_holder(file_);
    return base::fail(base::Kind::kTaken,
                      folder + " is in use by " + (holder.empty() ? "another process" : holder) +
                          ": one process writes a log. Stop it, or give --data another folder");
  }
  const std::string holder = "process " + std::to_string(getpid()) + "\n";
  // Only for the message above: a failure to write it must not keep the log shut.
  if (ftruncate(file_, 0) != 0 ||
      pwrite(file_, holder.data(), holder.size(), 0) != static_cast<ssize_t>(holder.size()))
    return {};
  return {};
}

LogSizes sizes_of(const std::string& folder) {
  namespace fs = std::filesystem;
  LogSizes sizes;
  std::error_code code;
  for (fs::recursive_directory_iterator it(folder, code), end; !code && it != end;
       it.increment(code)) {
    std::error_code vanished;  // tables come and go
    const auto size = it->is_regular_file(vanished) ? it->file_size(vanished) : 0;
    if (!vanished) sizes.log_bytes += size;
  }
  struct statvfs disk{};
  if (statvfs(folder.c_str(), &disk) != 0) return sizes;
  sizes.free_bytes = static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
  sizes.disk_bytes = static_cast<std::uint64_t>(disk.f_blocks) * disk.f_frsize;
  return sizes;
}

bool ensure_ballast(const std::string& folder, std::uint64_t bytes) {
  const std::string path = folder + "/ballast";
  struct stat status{};
  if (stat(path.c_str(), &status) == 0 &&
      static_cast<std::uint64_t>(status.st_blocks) * 512 >= bytes)
    return true;
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return false;
  const bool reserved = posix_fallocate(file, 0, static_cast<off_t>(bytes)) == 0;
  close(file);
  if (!reserved) unlink(path.c_str());
  return reserved;
}

void release_ballast(const std::string& folder) {
  unlink((folder + "/ballast").c_str());
}

bool restore_ballast(const std::string& folder, std::uint64_t bytes) {
  struct statvfs disk{};
  if (statvfs(folder.c_str(), &disk) != 0) return false;
  if (static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize < 2 * bytes) return false;
  return ensure_ballast(folder, bytes);
}

}  // namespace karst::events
