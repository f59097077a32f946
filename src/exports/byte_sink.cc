#include "exports/byte_sink.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/sync_folder.h"
#include "base/system_error.h"

namespace karst::exports {
namespace {

base::Error failed(std::string_view what, const std::string& name, int reason) {
  const base::Kind kind =
      base::kind_of_errno(reason, reason == EPIPE ? base::Kind::kGone : base::Kind::kDenied);
  return {kind,
          name + ": cannot be " + std::string(what) + ": " + std::strerror(reason) +
              (kind == base::Kind::kFull ? ". Free some space there, or write elsewhere" : "")};
}

tl::unexpected<base::Error> taken(const std::string& path) {
  return base::fail(base::Kind::kTaken,
                    path +
                        ": another process writes to it; wait until it has ended, or name "
                        "another file");
}

// Whether somebody is at it: what a killed process left is locked by nobody.
bool is_locked(const std::string& part) {
  const int descriptor = ::open(part.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool locked = ::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(descriptor);
  return locked;
}

}  // namespace

base::Status ByteSink::write(std::string_view bytes) {
  bytes_ += bytes.size();
  if (buffer_.size() + bytes.size() > kBufferBytes) KARST_TRY(flush());
  buffer_.append(bytes);
  return {};
}

base::Status ByteSink::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return base::fail(failed("written", name_, errno));
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  buffer_.clear();
  return {};
}

base::Result<OutputFile> OutputFile::make(const std::string& path) {
  struct stat there{};
  const bool exists = lstat(path.c_str(), &there) == 0;
  if (exists && S_ISDIR(there.st_mode))
    return base::fail(base::Kind::kInvalid, path + ": is a folder; expected a file to write");
  // It would be replaced, be it /dev/null.
  if (exists && !S_ISREG(there.st_mode))
    return base::fail(base::Kind::kInvalid,
                      path +
                          ": is no regular file, and is not replaced; without --out the export "
                          "goes to stdout");
  const std::string part = path + ".part";
  if (is_locked(part)) return taken(path);
  ::unlink(part.c_str());  // of one that was killed
  const int descriptor =
      ::open(part.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (descriptor < 0 && errno == EEXIST) return taken(path);
  if (descriptor < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP))
    return base::fail(base::Kind::kInvalid,
                      "--out " + path + ": cannot be made: " + std::strerror(errno) +
                          "; expected a file in a folder that exists and can be written: make the "
                          "folder, or name another one");
  if (descriptor < 0) {
    base::Error error = failed("made", path, errno);
    if (error.kind == base::Kind::kDenied)
      error.message += "; expected a folder that can be written";
    return base::fail(std::move(error));
  }
  // Where there are no locks is_ours still finds out, at the end.
  (void)!::flock(descriptor, LOCK_EX | LOCK_NB);
  return OutputFile(path, descriptor);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      part_path_(std::move(other.part_path_)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  if (is_ours()) ::unlink(part_path_.c_str());
  ::close(descriptor_);
}

bool OutputFile::is_ours() const {
  struct stat made{}, there{};
  return fstat(descriptor_, &made) == 0 && lstat(part_path_.c_str(), &there) == 0 &&
         made.st_ino == there.st_ino && made.st_dev == there.st_dev;
}

base::Status OutputFile::finish() {
  if (::fsync(descriptor_) != 0) return base::fail(failed("written", part_path_, errno));
  if (!is_ours()) return taken(path_);
  if (std::rename(part_path_.c_str(), path_.c_str()) != 0)
    return base::fail(failed("made", path_, errno));
  ::close(std::exchange(descriptor_, -1));
  // What was renamed is whole, with the old name or the new, also where a folder cannot be synced.
  (void)base::sync_folder(std::filesystem::absolute(path_).parent_path());
  return {};
}

}  // namespace karst::exports
