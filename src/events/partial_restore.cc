#include "events/partial_restore.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/sync_folder.h"
#include "base/system_error.h"

namespace karst::events {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = "restoring";
constexpr std::string_view kLock = "lock";
// Somebody else's file of that name is not taken for the mark.
constexpr std::string_view kMarkText =
    "karst log restore has not ended: this folder holds a part of a log\n";

std::string mark_of(const std::string& folder) {
  return folder + "/" + std::string(kMark);
}

bool is_marked(const std::string& folder) {
  std::ifstream in(mark_of(folder), std::ios::binary);
  std::string text(kMarkText.size() + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  return std::string_view(text).substr(0, static_cast<std::size_t>(in.gcount())) == kMarkText;
}

bool holds_others(const std::string& folder, std::string_view but = {}) {
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code))
    if (but.empty() || it->path().filename() != but) return true;
  return false;
}

tl::unexpected<base::Error> not_empty(const std::string& folder) {
  return base::fail(base::Kind::kInvalid,
                    folder +
                        " is not empty: expected a folder that is, or is not there yet; give "
                        "--data another one");
}

tl::unexpected<base::Error> failed(const std::string& doing, const std::string& path, int reason) {
  return base::fail(base::kind_of_errno(reason, base::Kind::kDenied),
                    doing + " " + path + ": " + std::strerror(reason));
}

// All but the mark and the lock, which say meanwhile whose it is.
base::Status remove_restored(const std::string& folder) {
  std::error_code code;
  std::error_code removing;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
    const fs::path name = it->path().filename();
    if (name != kMark && name != kLock) fs::remove_all(it->path(), removing);
    if (removing) return failed("cannot remove", it->path().string(), removing.value());
  }
  return code ? failed("cannot read", folder, code.value()) : base::Status();
}

base::Status sync_folder(const std::string& folder) {
  const int reason = base::sync_folder(folder);
  return reason == 0 ? base::Status() : failed("cannot sync", folder, reason);
}

base::Status write_mark(const std::string& folder) {
  const std::string path = mark_of(folder);
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return failed("cannot make", path, errno);
  const bool whole =
      ::write(file, kMarkText.data(), kMarkText.size()) == static_cast<ssize_t>(kMarkText.size()) &&
      fsync(file) == 0;
  const int reason = errno;
  ::close(file);
  if (!whole) return failed("cannot write", path, reason);
  return sync_folder(folder);
}

}  // namespace

base::Status PartialRestore::check_free(const std::string& folder) {
  return !holds_others(folder) || is_marked(folder) ? base::Status() : not_empty(folder);
}

base::Result<PartialRestore> PartialRestore::begin(const std::string& folder, bool made) {
  const bool marked = is_marked(folder);
  if (!marked && holds_others(folder, kLock)) return not_empty(folder);
  PartialRestore partial(folder, made);
  if (marked) KARST_TRY(remove_restored(folder));
  KARST_TRY(write_mark(folder));
  return partial;
}

PartialRestore::PartialRestore(PartialRestore&& other) noexcept
    : folder_(std::exchange(other.folder_, {})), made_(other.made_) {}

PartialRestore::~PartialRestore() {
  // What cannot be removed keeps its mark.
  if (folder_.empty() || !remove_restored(folder_)) return;
  std::error_code ignored;
  fs::remove(mark_of(folder_), ignored);
  fs::remove(folder_ + "/" + std::string(kLock), ignored);
  if (made_) fs::remove(folder_, ignored);
}

base::Status PartialRestore::finish() {
  if (::unlink(mark_of(folder_).c_str()) != 0)
    return failed("cannot remove", mark_of(folder_), errno);
  const std::string folder = std::exchange(folder_, {});
  return sync_folder(folder);
}

base::Status check_restored(const std::string& folder) {
  if (!is_marked(folder)) return {};
  return base::fail(base::Kind::kInvalid,
                    folder +
                        " holds a part of a log: a restore into it was cut short, or goes on. "
                        "Expected a whole one: run `karst log restore` into it again");
}

}  // namespace karst::events
