#include "daemon/access_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/descriptor.h"
#include "base/sha256.h"
#include "base/system_error.h"
#include "base/time.h"

namespace karst::daemon {
namespace {

constexpr int kWriteTriesMax = 3;

// nullopt: it is no regular file.
std::optional<std::size_t> size_of(const base::Descriptor& file) {
  struct stat about{};
  if (fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
  return static_cast<std::size_t>(about.st_size);
}
bool is_full(std::size_t size) {
  return size + kAccessLineMax > kAccessFileMax;
}

// What root writes the daemon must be able to read: it is its folder. Who is not root cannot do it,
// and has no need to.
void give_to_owner_of(const std::string& data, const base::Descriptor& file) {
  struct stat folder{}, about{};
  if (stat(data.c_str(), &folder) != 0 || fstat(file.get(), &about) != 0) return;
  // Of a file with another name elsewhere nothing is given away.
  if (about.st_uid != folder.st_uid && about.st_nlink == 1)
    (void)!fchown(file.get(), folder.st_uid, folder.st_gid);
}

// A daemon that starts meanwhile may have moved it aside, and read it already.
bool is_at(const std::string& path, const base::Descriptor& file) {
  struct stat made{}, there{};
  return fstat(file.get(), &made) == 0 && lstat(path.c_str(), &there) == 0 &&
         made.st_ino == there.st_ino && made.st_dev == there.st_dev;
}

// False: written, but perhaps into what nobody reads any more.
base::Result<bool> write_line_once(const std::string& data, const std::string& line) {
  const std::string path = data + "/access";
  const base::Descriptor file(::open(
      path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (file.get() < 0 && errno != ENXIO) return access_error("cannot open", path);  // ENXIO: a pipe
  const std::optional<std::size_t> size = size_of(file);
  if (!size) return base::fail(base::Kind::kInvalid, path + " is no regular file: move it away");
  if (*size == 0) give_to_owner_of(data, file);
  if (is_full(*size))
    return base::fail(base::Kind::kFull,
                      path + " has " + std::to_string(*size) +
                          " bytes of such records and takes no more: start karst on this folder, "
                          "which takes them over into the log, or move the file away and keep it");
  const ssize_t written = write(file.get(), line.data(), line.size());
  if (written >= 0 && written < static_cast<ssize_t>(line.size())) errno = ENOSPC;
  if (written != static_cast<ssize_t>(line.size())) return access_error("cannot write", path);
  return is_at(path, file);
}

// The lines of a file, in bounded memory.
class Lines {
 public:
  explicit Lines(const std::string& path)
      : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)),
        refused_(file_.get() < 0 ? errno : 0) {}

  // Somebody put something else there.
  bool is_no_file() const {
    return refused_ == ELOOP || refused_ == ENXIO || (refused_ == 0 && !size_of(file_));
  }
  // 0, or why it cannot be opened or read on: what it holds is not known then.
  int refused() const { return is_no_file() ? 0 : refused_; }
  bool full() const { return is_full(size_of(file_).value_or(0)); }
  // The file goes on after kAccessFileMax.
  bool cut() const { return read_ >= kAccessFileMax; }
  // One that is longer than kAccessLineMax is cut.
  std::optional<std::string> next() {
    std::string line;
    for (bool any = false;; any = true) {
      if (at_ == bytes_.size() && !fill()) return any ? std::optional(line) : std::nullopt;
      const char byte = bytes_[at_++];
      if (byte == '\n') return line;
      if (line.size() < kAccessLineMax) line += byte;
    }
  }

 private:
  bool fill() {
    bytes_.resize(64 << 10);
    const ssize_t size = cut() ? 0 : read(file_.get(), bytes_.data(), bytes_.size());
    if (size < 0) refused_ = errno;
    bytes_.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    read_ += bytes_.size();
    at_ = 0;
    return !bytes_.empty();
  }
  const base::Descriptor file_;
  int refused_;
  std::string bytes_;
  std::size_t at_ = 0, read_ = 0;
};

struct OfflineAccess {
  std::string time, user, command;
};

std::optional<OfflineAccess> parse_line(std::string_view line) {
  const std::size_t first = line.find('\t'), second = line.find('\t', first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos) return std::nullopt;
  const std::string time(line.substr(0, first));
  if (!base::parse_rfc3339(time)) return std::nullopt;
  return OfflineAccess{time, plain_command(line.substr(first + 1, second - first - 1)),
                       plain_command(line.substr(second + 1))};
}

// Some in a row that differ by their times only.
struct Run {
  OfflineAccess first;
  std::string last_time;
  std::size_t count = 1;

  bool takes(const OfflineAccess& access) {
    if (access.user != first.user || access.command != first.command) return false;
    last_time = access.time;
    ++count;
    return true;
  }
  events::AccessRecorded told() const {
    const std::string when =
        count == 1 ? "at " + first.time
                   : std::to_string(count) + " times from " + first.time + " to " + last_time;
    return {first.user, first.command + " (" + when + ", while no daemon ran)"};
  }
};

events::AccessRecorded not_as_written(std::size_t count) {
  return {"unknown", std::to_string(count) +
                         " more, while no daemon ran: DIR/access held what karst does not write"};
}

// The trail says that something is missing, and the daemon what is to be done.
OfflineAccesses unread(const std::string& taken, int reason) {
  const std::string why = std::strerror(reason);
  return {{{"unknown", "those of DIR/access.taken, while no daemon ran: it could not be read (" +
                           why + "), and stays there for the next start"}},
          base::Error{
              base::kind_of_errno(reason, base::Kind::kDenied),
              taken + ": " + why +
                  ": who read the trail while no daemon ran is not recorded yet; it stays there "
                  "for the next start: let the user that karst runs as read it (chown), or mend "
                  "what keeps it from that"}};
}

}  // namespace

tl::unexpected<base::Error> access_error(const std::string& doing, const std::string& path) {
  const int code = errno;
  return base::fail(base::kind_of_errno(code, base::Kind::kInvalid),
                    doing + " " + path + ": " + std::strerror(code));
}

std::string plain_command(std::string_view command) {
  std::string plain(command);
  if (command.size() > kAccessCommandMax) {
    const std::string mark = " ... (cut: it has " + std::to_string(command.size()) +
                             " bytes, SHA-256 " + base::hex_lower(base::sha256(command)) + ")";
    plain = plain.substr(0, kAccessCommandMax - mark.size()) + mark;
  }
  for (char& c : plain)
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7F) c = '?';
  return plain;
}

base::Status write_access_line(const std::string& data, const std::string& line) {
  for (int tries = 0; tries < kWriteTriesMax; ++tries) {
    const base::Result<bool> there = write_line_once(data, line);
    if (!there) return base::fail(there.error());
    if (*there) return {};
  }
  return base::fail(base::Kind::kRetry,
                    data + "/access was taken away each time that it was written");
}

OfflineAccesses offline_accesses(const std::string& data) {
  const std::string taken = data + "/access.taken";
  // What a daemon before this one has taken and not recorded comes first.
  if (access(taken.c_str(), F_OK) != 0 && rename((data + "/access").c_str(), taken.c_str()) != 0)
    return {};
  Lines lines(taken);
  if (lines.is_no_file()) return {{not_as_written(1)}, {}};
  if (lines.refused() != 0) return unread(taken, lines.refused());
  std::vector<Run> runs;
  std::size_t too_many = 0, none = 0;
  std::string last_time;
  while (const std::optional<std::string> line = lines.next()) {
    const auto access = parse_line(*line);
    if (!access) {
      ++none;
      continue;
    }
    last_time = access->time;
    if (!runs.empty() && too_many == 0 && runs.back().takes(*access))
      continue;
    else if (runs.size() < kAccessOfflineMax)
      runs.push_back({*access, access->time});
    else
      ++too_many;
  }
  std::vector<events::AccessRecorded> found;
  for (const Run& run : runs) found.push_back(run.told());
  if (too_many > 0)
    found.push_back({"several", std::to_string(too_many) + (lines.cut() ? " and more" : " more") +
                                    ", up to " + last_time +
                                    ", while no daemon ran: too many to name"});
  if (lines.full())
    found.push_back({"unknown", "others may be missing, after " + last_time +
                                    ", while no daemon ran: DIR/access was full, which readers "
                                    "were told"});
  if (none > 0) found.push_back(not_as_written(none));
  if (lines.refused() != 0) return unread(taken, lines.refused());
  return {std::move(found), {}};
}

void forget_accesses(const std::string& data) {
  unlink((data + "/access.taken").c_str());
}

}  // namespace karst::daemon
