#include "events/archive.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/check.h"
#include "base/sha256.h"
#include "events/archive_expiry.h"
#include "events/archive_files.h"

namespace karst::events {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHead = "karst archive 1";
constexpr std::string_view kHeadOfAny = "karst archive ";
constexpr std::size_t kSegmentFileMax = 2 * (kSegmentBodyMax + kPayloadMax);

tl::unexpected<base::Error> no_archive(const std::string& folder, const std::string& what) {
  return base::fail(base::Kind::kInvalid,
                    folder + " holds no archive of a log that can be used: " + what);
}

// What cannot be read may be an archive: only what is not there says that it is none.
tl::unexpected<base::Error> no_archive(const std::string& folder, const base::Error& error) {
  if (error.kind == base::Kind::kInvalid) return no_archive(folder, error.message);
  return base::fail(error.with_context("the archive " + folder));
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

// Its three lines and a sum of them: a secret of which a bit has turned makes another tree.
std::string identity_text(const LogIdentity& log) {
  const std::string lines =
      std::string(kHead) + "\nid " + log.id.str() + "\nsecret " + secret_text(log) + "\n";
  return lines + "sha256 " + base::hex_lower(base::sha256(lines)) + "\n";
}

base::Result<LogIdentity> parse_identity(const std::string& folder, std::string_view text) {
  const std::vector<std::string> lines = lines_of_text(text);
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

// Those that are wholly before `first` have expired: a kill may have left some of them. One that
// another covers says nothing more; two processes of an earlier version made such.
base::Result<std::vector<ArchivedSegment>> list(const std::string& folder, model::Position first) {
  auto files = range_files(folder, kSegmentSuffix);
  if (!files) return no_archive(folder, files.error());
  std::vector<ArchivedSegment> found;
  for (RangeFile& file : *files) {
    if (file.last < first) continue;
    if (!found.empty() && file.last <= found.back().last) continue;
    if (!found.empty() && file.first == found.back().first) found.pop_back();
    const model::Position next = found.empty() ? std::min(file.first, first)
                                               : model::Position(found.back().last.value() + 1);
    if (file.first != next)
      return base::fail(base::Kind::kCorrupt, folder + ": the segment that " +
                                                  (found.empty() ? "holds" : "begins at") +
                                                  " position " + std::to_string(next.value()) +
                                                  " is missing; next is " + file.name);
    found.push_back({file.first, file.last, std::move(file.name), file.bytes, {}});
  }
  return found;
}

tl::unexpected<base::Error> other_history(const Archive& archive, const std::string& folder,
                                          const EventLog& log, const std::string& where) {
  return base::fail(
      base::Kind::kInvalid,
      folder + ": is the archive of another history of log " + log.id().str() + ": " + where +
          " it is not as the log, it holds the positions " +
          std::to_string(archive.first().value()) + " to " +
          std::to_string(archive.end().value() - 1) + " and the log ends at " +
          std::to_string(log.end().value() - 1) +
          "; expected events that are all the log's, byte for byte. One of the two was put back "
          "from a copy: put back the other one of that time too, or name an empty folder with "
          "--archive");
}

base::Result<bool> is_next(Cursor& ours, const Event& archived) {
  const auto event = ours.next();
  if (!event) return base::fail(event.error());
  if (*event) return (*event)->raw == archived.raw;
  return base::fail(base::Kind::kCorrupt, "the log cannot be read at position " +
                                              std::to_string(archived.envelope.position.value()) +
                                              ", so its archive cannot be held against it");
}

// Of a position that was trimmed: the hash of its leaf (RFC 6962) is what the log kept.
base::Result<bool> is_leaf(const EventLog& log, const Event& archived, const std::string& secret) {
  const std::uint64_t index = archived.envelope.position.value() - 1;
  const auto leaves = log.trimmed_leaves(index / kTrimTile);
  if (!leaves) return base::fail(leaves.error());
  base::Sha256 hash;
  const auto leaf =
      hash.update(std::string_view("\0", 1)).update(leaf_bytes(archived.raw, secret)).finish();
  return std::string_view(*leaves).substr(index % kTrimTile * leaf.size(), leaf.size()) ==
         base::as_text(leaf);
}

}  // namespace

base::Result<Archive> Archive::open(const std::string& folder, const LogIdentity& log) {
  std::error_code code;
  fs::create_directories(folder, code);
  if (std::error_code ignored; !fs::is_directory(folder, ignored)) {
    errno = code ? code.value() : ENOTDIR;
    base::Error error = archive_file_error("cannot make the folder", folder).value();
    error.message += "; expected a folder that is there or can be made";
    return base::fail(std::move(error));
  }
  if (!fs::exists(folder + "/log", code)) {
    const std::string other = anything_in(folder);
    if (!other.empty())
      return no_archive(folder, "it has no file 'log', and there is " + other +
                                    "; name an empty folder, or one that is not there yet");
    KARST_TRY(write_archive_file(folder, "log", identity_text(log)));
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
  auto text = read_archive_file(folder + "/log", 4096);
  if (!text) return no_archive(folder, text.error());
  auto identity = parse_identity(folder, *text);
  if (!identity) return base::fail(identity.error());
  auto expired = read_expired(folder);
  if (!expired) return base::fail(expired.error());
  Archive archive;
  archive.folder_ = folder;
  archive.identity_ = std::move(*identity);
  archive.expired_ = std::move(*expired);
  auto segments = list(folder, archive.first());
  if (!segments) return base::fail(segments.error());
  archive.segments_ = std::move(*segments);
  if (archive.expired_ && archive.expired_->event >= archive.end())
    return base::fail(base::Kind::kCorrupt,
                      folder + ": it ends at position " +
                          std::to_string(archive.end().value() - 1) +
                          ", and the event that says what has expired is " +
                          std::to_string(archive.expired_->event.value()) +
                          ": the segments up to it are missing, take them from another copy");
  return archive;
}

model::Position Archive::first() const {
  return expired_ ? expired_->first() : model::Position(1);
}

model::Position Archive::end() const {
  return segments_.empty() ? first() : model::Position(segments_.back().last.value() + 1);
}

base::Status Archive::same_history(const EventLog& log) const {
  if (segments_.empty()) return {};
  const ArchivedSegment& place = segments_.back();
  if (end() > log.end()) return other_history(*this, folder_, log, "at its end");
  const auto segment = read(place);
  if (!segment) return base::fail(segment.error());
  // What is at hand from here on may only become less.
  const model::Position from = std::max(place.first, log.first());
  std::unique_ptr<Cursor> ours;
  if (from <= place.last) {
    auto cursor = log.read(from);
    if (!cursor) return base::fail(cursor.error());
    ours = std::move(*cursor);
  }
  const auto theirs = segment->read();
  for (auto event = theirs->next();; event = theirs->next()) {
    if (!event) return base::fail(event.error().with_context(folder_ + "/" + place.file));
    if (!*event) return {};
    const model::Position at = (*event)->envelope.position;
    if (at < from && at < place.last) continue;
    const auto same = ours ? is_next(*ours, **event) : is_leaf(log, **event, identity_.secret);
    if (!same) return base::fail(same.error());
    if (!*same)
      return other_history(*this, folder_, log, "at position " + std::to_string(at.value()));
  }
}

base::Status Archive::take_over_what_is_new() {
  auto now = open_existing(folder_);
  if (!now) return base::fail(now.error());
  if (now->identity_.id != identity_.id || now->end() < end())
    return base::fail(base::Kind::kInvalid,
                      folder_ + ": it is not the archive that was opened: of log " +
                          now->identity_.id.str() + " up to position " +
                          std::to_string(now->end().value() - 1) + ", expected " +
                          identity_.id.str() + " up to " + std::to_string(end().value() - 1) +
                          " at least; put back what was there");
  if (now->end() != end()) same_history_ = false;
  expired_ = std::move(now->expired_);
  segments_ = std::move(now->segments_);
  return {};
}

base::Result<std::optional<ArchivedSegment>> Archive::seal_next(const EventLog& log,
                                                                model::Position last) {
  const auto held = ArchiveLock::take(folder_);
  if (!held) return base::fail(held.error());
  KARST_TRY(take_over_what_is_new());
  if (!same_history_) KARST_TRY(same_history(log));
  same_history_ = true;
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
  segment.file = range_name(segment.first, segment.last, kSegmentSuffix);
  KARST_TRY(write_archive_file(folder_, segment.file, bytes));
  segments_.push_back(segment);
  return std::optional(segment);
}

base::Result<Segment> Archive::read(const ArchivedSegment& segment) const {
  const std::string path = folder_ + "/" + segment.file;
  auto bytes = read_archive_file(path, kSegmentFileMax);
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

base::Result<std::optional<Baseline>> Archive::baseline() const {
  if (!expired_) return std::optional<Baseline>();
  auto baseline = read_baseline_file(folder_, expired_->baseline);
  if (!baseline) return base::fail(baseline.error());
  return std::optional(std::move(*baseline));
}

base::Status Archive::each_expired_tile(
    const std::function<base::Status(std::uint64_t tile, std::string_view hashes)>& take) const {
  return expired_ ? each_leaves_tile(folder_, expired_->baseline.position, take) : base::Status();
}

base::Status Archive::settle() {
  const auto held = ArchiveLock::take(folder_);
  if (!held) return base::fail(held.error());
  return remove_what_expired(folder_, expired_, {});
}

base::Status Archive::keep_leaves(std::uint64_t tile, std::string_view hashes) {
  return write_leaves_file(folder_, tile, hashes);
}

base::Result<BaselineNote> Archive::keep_baseline(const Baseline& baseline) {
  return write_baseline_file(folder_, baseline);
}

base::Status Archive::expire(const TrimMark& mark, const std::function<void()>& marked,
                             const std::function<void()>& removed) {
  KARST_CHECK(mark.first() > first(), "an archive's beginning never steps back");
  if (mark.event >= end())
    return base::fail(base::Kind::kInvalid,
                      folder_ + ": nothing expires before the archive holds position " +
                          std::to_string(mark.event.value()) +
                          ", which says so; expected it to be sealed");
  // What will stand for them, as it can be read.
  if (auto kept = read_baseline_file(folder_, mark.baseline); !kept)
    return base::fail(kept.error());
  KARST_TRY(each_leaves_tile(folder_, mark.baseline.position,
                             [](std::uint64_t, std::string_view) { return base::Status(); }));
  const auto held = ArchiveLock::take(folder_);  // who looks finds the old beginning, or the new
  if (!held) return base::fail(held.error());
  KARST_TRY(write_expired(folder_, mark));
  expired_ = mark;
  std::erase_if(segments_, [&](const ArchivedSegment& s) { return s.last < mark.first(); });
  if (marked) marked();
  return remove_what_expired(folder_, expired_, removed);
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
      if ((*event)->envelope.position < archive.first()) continue;
      KARST_TRY(take(**event));
    }
  }
  return {};
}

}  // namespace karst::events
