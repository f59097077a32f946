#include "events/archive_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/descriptor.h"
#include "base/sync_folder.h"
#include "base/system_error.h"

namespace karst::events {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDigits = 20;

std::optional<RangeFile> parse_range(const std::string& name, std::string_view suffix) {
  if (name.size() != 2 * kDigits + 1 + suffix.size() || name[kDigits] != '-' ||
      !name.ends_with(suffix))
    return std::nullopt;
  const auto number = [&](std::size_t at) -> std::uint64_t {
    std::uint64_t value = 0;
    const char* begin = name.data() + at;
    const auto [end, error] = std::from_chars(begin, begin + kDigits, value);
    return error == std::errc() && end == begin + kDigits ? value : 0;
  };
  RangeFile file{model::Position(number(0)), model::Position(number(kDigits + 1)), name, 0};
  if (file.first.value() == 0 || file.last < file.first) return std::nullopt;
  return file;
}

}  // namespace

tl::unexpected<base::Error> archive_file_error(const std::string& doing, const std::string& path) {
  const int code = errno;
  return base::fail(base::kind_of_errno(code, base::Kind::kInvalid),
                    doing + " " + path + ": " + std::strerror(code));
}

std::string position_digits(model::Position position) {
  const std::string text = std::to_string(position.value());
  return std::string(kDigits - text.size(), '0') + text;
}

std::string range_name(model::Position first, model::Position last, std::string_view suffix) {
  return position_digits(first) + "-" + position_digits(last) + std::string(suffix);
}

base::Result<std::vector<RangeFile>> range_files(const std::string& folder,
                                                 std::string_view suffix) {
  std::vector<RangeFile> found;
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
    auto file = parse_range(it->path().filename().string(), suffix);
    if (!file) continue;
    file->bytes = it->file_size(code);
    found.push_back(std::move(*file));
  }
  if (code)
    return base::fail(base::kind_of_errno(code.value(), base::Kind::kInvalid),
                      "cannot read " + folder + ": " + code.message());
  std::sort(found.begin(), found.end(), [](const RangeFile& a, const RangeFile& b) {
    return a.first != b.first ? a.first < b.first : a.last < b.last;
  });
  return found;
}

base::Status sync_archive_folder(const std::string& folder) {
  errno = base::sync_folder(folder);
  return errno == 0 ? base::Status() : archive_file_error("cannot sync", folder);
}

base::Status write_archive_file(const std::string& folder, const std::string& name,
                                std::string_view bytes) {
  const std::string path = folder + "/" + name, aside = path + ".new";
  const int file = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return archive_file_error("cannot make", aside);
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(file, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) {
      auto failed = archive_file_error("cannot write", aside);
      ::close(file);
      ::unlink(aside.c_str());
      return failed;
    }
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  const bool synced = fsync(file) == 0;
  if (::close(file) != 0 || !synced) return archive_file_error("cannot sync", aside);
  if (::rename(aside.c_str(), path.c_str()) != 0)
    return archive_file_error("cannot rename to", path);
  return sync_archive_folder(folder);
}

base::Result<std::string> read_archive_file(const std::string& path, std::size_t size_max) {
  std::error_code code;
  const auto size = fs::file_size(path, code);
  if (code)
    return base::fail(base::kind_of_errno(code.value(), base::Kind::kInvalid),
                      "cannot read " + path + ": " + code.message());
  if (size > size_max)
    return base::fail(base::Kind::kCorrupt, path + " has " + std::to_string(size) +
                                                " bytes, at most " + std::to_string(size_max) +
                                                " were expected");
  const base::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return archive_file_error("cannot open", path);
  std::string bytes(size, '\0');
  for (std::size_t have = 0; have < size;) {
    const ssize_t got = ::read(file.get(), bytes.data() + have, size - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return archive_file_error("cannot read", path);
    if (got == 0)
      return base::fail(base::Kind::kCorrupt, path + " became shorter while it was read");
    have += static_cast<std::size_t>(got);
  }
  return bytes;
}

base::Result<ArchiveLock> ArchiveLock::take(const std::string& folder,
                                            std::chrono::milliseconds wait_max) {
  const std::string path = folder + "/log";
  // NFS locks only what may be written.
  int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return archive_file_error("cannot open", path);
  ArchiveLock lock(file);
  for (auto waited = std::chrono::milliseconds(0);
       ::flock(file, LOCK_EX | LOCK_NB) != 0 && (errno == EWOULDBLOCK || errno == EINTR);
       waited += kArchiveLockLook) {
    if (waited >= wait_max)
      return base::fail(base::Kind::kTaken,
                        path + ": another process has held the archive for " +
                            std::to_string(wait_max.count() / 1000) +
                            " s; look whether a 'karst log archive' or 'karst log expire' is "
                            "stopped, or hangs");
    std::this_thread::sleep_for(kArchiveLockLook);
  }
  return lock;
}

ArchiveLock::~ArchiveLock() {
  if (file_ >= 0) ::close(file_);
}

std::vector<std::string> lines_of_text(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

}  // namespace karst::events
