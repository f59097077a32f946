#include "tools/tile_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "base/system_error.h"

namespace karst::tools {
namespace {

constexpr int kPartTriesMax = 100;
constexpr mode_t kMode = 0666;  // less the umask: tiles are made to be published

tl::unexpected<base::Error> cannot_write(const std::filesystem::path& path, int reason) {
  const base::Kind kind = base::kind_of_errno(reason, base::Kind::kDenied);
  const bool full = kind == base::Kind::kFull;
  return base::fail(kind,
                    fmt::format("{}: cannot be written: {}{}", path.string(), std::strerror(reason),
                                full ? ". Free some space there, or write elsewhere"
                                     : ". Expected a folder that can be written"));
}

bool has_already(const std::filesystem::path& path, std::string_view bytes) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(path, error))) return false;
  if (std::filesystem::file_size(path, error) != bytes.size() || error) return false;
  std::ifstream in(path, std::ios::binary);
  std::string there(bytes.size(), '\0');
  in.read(there.data(), static_cast<std::streamsize>(there.size()));
  return in && there == bytes;
}

// 0, or why not.
int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::fsync(descriptor) == 0 ? 0 : errno;
}

// Two exports may write to one folder, each tile with the same bytes: one after the other. What one
// left that was killed is written over.
int open_part(const std::string& part) {
  for (int tries = 0; tries < kPartTriesMax; ++tries) {
    const int descriptor = ::open(part.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, kMode);
    if (descriptor < 0) return -1;
    while (::flock(descriptor, LOCK_EX) != 0 && errno == EINTR) {
    }
    struct stat ours{}, there{};
    if (::fstat(descriptor, &ours) == 0 && ::lstat(part.c_str(), &there) == 0 &&
        ours.st_ino == there.st_ino && ours.st_dev == there.st_dev &&
        ::ftruncate(descriptor, 0) == 0)
      return descriptor;
    ::close(descriptor);  // the other one has just finished it
  }
  errno = EBUSY;
  return -1;
}

}  // namespace

base::Status write_tile_file(const std::filesystem::path& path, std::string_view bytes) {
  if (has_already(path, bytes)) return {};
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  if (error) return cannot_write(path, error.value());
  const std::string part = path.string() + ".part";
  const int descriptor = open_part(part);
  if (descriptor < 0) return cannot_write(path, errno);
  int reason = write_all(descriptor, bytes);
  if (reason == 0 && std::rename(part.c_str(), path.c_str()) != 0) reason = errno;
  if (reason != 0) ::unlink(part.c_str());
  ::close(descriptor);  // and with it the lock
  return reason == 0 ? base::Status() : cannot_write(path, reason);
}

base::Status sync_tile_files(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = descriptor >= 0 && ::syncfs(descriptor) == 0;
  const int reason = synced ? 0 : errno;
  if (descriptor >= 0) ::close(descriptor);
  return synced ? base::Status() : cannot_write(folder, reason);
}

}  // namespace karst::tools
