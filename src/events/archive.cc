#include "events/archive.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/sha256.h"

namespace karst::events {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHead = "karst archive 1";
constexpr std::string_view kHeadOfAny = "karst archive ";
constexpr std::size_t kDigits = 20;
constexpr std::string_view kSuffix = ".seg";
constexpr std::size_t kSegmentFileMax = 2 * (kSegmentBodyMax + kPayloadMax);

tl::unexpected<base::Error> file_error(const std::string& doing, const std::string& path) {
  const int code = errno;
  const base::Kind kind = code == ENOSPC || code == EDQUOT                   ? base::Kind::kFull
                          : code == EACCES || code == EPERM || code == EROFS ? base::Kind::kDenied
                                                                             : base::Kind::kInvalid;
  return base::fail(kind, doing + " " + path + ": " + std::strerror(code));
}
tl::unexpected<base::Error> no_archive(const std::string& folder, const std::string& what) {
  return base::fail(base::Kind::kInvalid,
                    folder + " holds no archive of a log that can be used: " + what);
}

std::string secret_text(const LogIdentity& log) {
  return base::hex_lower(
      {reinterpret_cast<const std::uint8_t*>(log.secret.data()), log.secret.size()});
}
std::optional<std::string> parse_hex(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + i + 2, value, 16);
    if (error != std::errc() || end != text.data() + i + 2) return std::nullopt;
    out += static_cast<char>(value);
  }
  return text.size() % 2 == 0 ? std::optional(out) : std::nullopt;
}

std::string digits(model::Position position) {
  const std::string text = std::to_string(position.value());
  return std::string(kDigits - text.size(), '0') + text;
}

// "<first>-<last>.seg"; nullopt for other files.
std::optional<ArchivedSegment> parse_name(const std::string& name) {
  if (name.size() != 2 * kDigits + 1 + kSuffix.size() || name[kDigits] != '-' ||
      !name.ends_with(kSuffix))
    return std::nullopt;
  const auto number = [&](std::size_t at) -> std::uint64_t {
    std::uint64_t value = 0;
    const char* begin = name.data() + at;
    const auto [end, error] = std::from_chars(begin, begin + kDigits, value);
    return error == std::errc() && end == begin + kDigits ? value : 0;
  };
  ArchivedSegment segment{
      model::Position(number(0)), model::Position(number(kDigits + 1)), name, 0, {}};
  if (segment.first.value() == 0 || segment.last < segment.first) return std::nullopt;
  return segment;
}

base::Status sync_path(const std::string& path, int flags) {
  const int file = ::open(path.c_str(), flags | O_CLOEXEC);
  if (file < 0) return file_error("cannot open", path);
  const bool synced = fsync(file) == 0;
  ::close(file);
  return synced ? base::Status() : file_error("cannot sync", path);
}

// Whole, on stable storage, or not there at all.
base::Status write_file(const std::string& folder, const std::string& name,
                        std::string_view bytes) {
  const std::string path = folder + "/" + name, aside = path + ".new";
  const int file = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return file_error("cannot make", aside);
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(file, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) {
      auto failed = file_error("cannot write", aside);
      ::close(file);
      ::unlink(aside.c_str());
      return failed;
    }
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  const bool synced = fsync(file) == 0;
  if (::close(file) != 0 || !synced) return file_error("cannot sync", aside);
  if (::rename(aside.c_str(), path.c_str()) != 0) return file_error("cannot rename to", path);
  return sync_path(folder, O_RDONLY | O_DIRECTORY);
}

base::Result<std::string> read_file(const std::string& path, std::size_t size_max) {
  std::error_code code;
  const auto size = fs::file_size(path, code);
  if (code) return base::fail(base::Kind::kInvalid, "cannot read " + path + ": " + code.message());
  if (size > size_max)
    return base::fail(base::Kind::kCorrupt, path + " has " + std::to_string(size) +
                                                " bytes, at most " + std::to_string(size_max) +
                                                " were expected");
  std::string bytes(size, '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(bytes.data(), static_cast<std::streamsize>(size));
  if (!in) return base::fail(base::Kind::kDenied, "cannot read " + path);
  return bytes;
}

// Its three lines and a sum of them: a secret of which a bit has turned makes another tree.
std::string identity_text(const LogIdentity& log) {
  const std::string lines =
      std::string(kHead) + "\nid " + log.id.str() + "\nsecret " + secret_text(log) + "\n";
  return lines + "sha256 " + base::hex_lower(base::sha256(lines)) + "\n";
}

base::Result<LogIdentity> parse_identity(const std::string& folder, std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  if (!lines.empty() && lines[0].starts_with(kHeadOfAny) && lines[0] != kHead)
    return base::fail(base::Kind::kNewer, folder + "/log: \"" + lines[0].substr(0, 40) +
                                              "\" is of a later karst: expected \"" +
                                              std::string(kHead) + "\"");
  if (lines.size() != 4 || lines[0] != kHead || !lines[1].starts_with("id ") ||
      !lines[2].starts_with("secret "))
    return no_archive(folder, "its file 'log' does not say whose archive it is");
  auto secret = parse_hex(std::string_view(lines[2]).substr(7));
  if (!secret || secret->size() != 32)
    return no_archive(folder, "the secret in its file 'log' is not 64 hexadecimal digits");
  LogIdentity identity{model::LogId(lines[1].substr(3)), std::move(*secret)};
  if (identity_text(identity) != text)
    return base::fail(base::Kind::kCorrupt,
                      folder +
                          "/log: is damaged, its lines are not those of its sum; take the file "
                          "from another copy of the archive");
  return identity;
}

// The name of a file that is neither a new volume's own nor left by who was killed while beginning
// an archive; empty: there is none.
std::string anything_in(const std::string& folder) {
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
    std::string name = it->path().filename().string();
    if (name != "log.new" && name != "lost+found") return name;
  }
  return {};
}

base::Result<std::vector<ArchivedSegment>> list(const std::string& folder) {
  std::vector<ArchivedSegment> found;
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
    auto segment = parse_name(it->path().filename().string());
    if (!segment) continue;
    segment->bytes = it->file_size(code);
    found.push_back(std::move(*segment));
  }
  if (code) return no_archive(folder, code.message());
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  model::Position next(1);
  for (const ArchivedSegment& segment : found) {
    if (segment.first != next)
      return base::fail(base::Kind::kCorrupt, folder + ": the segment that begins at position " +
                                                  std::to_string(next.value()) +
                                                  " is missing; next is " + segment.file);
    next = model::Position(segment.last.value() + 1);
  }
  return found;
}

}  // namespace

base::Result<Archive> Archive::open(const std::string& folder, const LogIdentity& log) {
  std::error_code code;
  fs::create_directories(folder, code);
  if (!fs::exists(folder + "/log", code)) {
    const std::string other = anything_in(folder);
    if (!other.empty())
      return no_archive(folder, "it has no file 'log', and there is " + other +
                                    "; name an empty folder, or one that is not there yet");
    KARST_TRY(write_file(folder, "log", identity_text(log)));
  }
  auto archive = open_existing(folder);
  if (archive && archive->identity_.id != log.id)
    return no_archive(
        folder, "it is that of log " + archive->identity_.id.str() + ", not of " + log.id.str());
  if (archive && archive->identity_.secret != log.secret)
    return base::fail(base::Kind::kCorrupt, folder + "/log: holds another secret than the log");
  return archive;
}

base::Result<Archive> Archive::open_existing(const std::string& folder) {
  auto text = read_file(folder + "/log", 4096);
  if (!text) return no_archive(folder, text.error().message);
  auto identity = parse_identity(folder, *text);
  if (!identity) return base::fail(identity.error());
  auto segments = list(folder);
  if (!segments) return base::fail(segments.error());
  Archive archive;
  archive.folder_ = folder;
  archive.identity_ = std::move(*identity);
  archive.segments_ = std::move(*segments);
  return archive;
}

model::Position Archive::end() const {
  return model::Position(segments_.empty() ? 1 : segments_.back().last.value() + 1);
}

base::Result<std::optional<ArchivedSegment>> Archive::seal_next(const EventLog& log,
                                                                model::Position last) {
  if (last < end()) return std::optional<ArchivedSegment>();
  auto cursor = log.read(end());
  if (!cursor) return base::fail(cursor.error());
  SegmentWriter writer;
  while (writer.has_room() && (writer.empty() || writer.last() < last)) {
    auto event = (*cursor)->next();
    if (!event) return base::fail(event.error());
    if (!*event) break;
    writer.add(**event);
  }
  if (writer.empty()) return std::optional<ArchivedSegment>();
  const std::string bytes = writer.seal(identity_.id);
  ArchivedSegment segment{
      writer.first(), writer.last(), {}, bytes.size(), base::hex_lower(base::sha256(bytes))};
  segment.file = digits(segment.first) + "-" + digits(segment.last) + std::string(kSuffix);
  KARST_TRY(write_file(folder_, segment.file, bytes));
  segments_.push_back(segment);
  return std::optional(segment);
}

base::Result<Segment> Archive::read(const ArchivedSegment& segment) const {
  const std::string path = folder_ + "/" + segment.file;
  auto bytes = read_file(path, kSegmentFileMax);
  if (!bytes) return base::fail(bytes.error());
  auto opened = Segment::open(*bytes);
  if (!opened) return base::fail(opened.error().with_context(path));
  if (opened->log() != identity_.id || opened->first() != segment.first ||
      opened->last() != segment.last)
    return base::fail(base::Kind::kCorrupt, path + ": it holds " +
                                                std::to_string(opened->first().value()) + " to " +
                                                std::to_string(opened->last().value()) +
                                                " of log " + opened->log().str());
  return opened;
}

base::Status each_archived(const Archive& archive,
                           const std::function<base::Status(const Event&)>& take) {
  for (const ArchivedSegment& place : archive.segments()) {
    auto segment = archive.read(place);
    if (!segment) return base::fail(segment.error());
    const auto cursor = segment->read();
    for (;;) {
      auto event = cursor->next();
      if (!event) return base::fail(event.error().with_context(place.file));
      if (!*event) break;
      KARST_TRY(take(**event));
    }
  }
  return {};
}

}  // namespace karst::events
