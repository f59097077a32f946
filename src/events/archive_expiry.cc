#include "events/archive_expiry.h"

#include <unistd.h>

#include <charconv>
#include <filesystem>

#include "base/check.h"
#include "base/sha256.h"
#include "base/time.h"
#include "events/archive_files.h"

namespace karst::events {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kName = "expired";
constexpr std::string_view kMarkHead = "karst archive expired 1";
constexpr std::string_view kMarkHeadOfAny = "karst archive expired ";
constexpr std::size_t kMarkBytesMax = 64 << 10;
constexpr std::size_t kBaselineBytesMax = std::size_t{4} << 30;
constexpr std::size_t kDigestBytes = 32;

std::string mark_text(const TrimMark& mark) {
  const BaselineNote& note = mark.baseline;
  const std::string lines =
      std::string(kMarkHead) + "\nbaseline " + std::to_string(note.position.value()) + "\nsize " +
      std::to_string(note.size) + "\ndigest " + note.digest + "\nprojection " + note.projection +
      "\ndecisions " + note.decision_version + "\nevent " + std::to_string(mark.event.value()) +
      "\nat " + base::format_rfc3339(mark.at.value()) + "\n";
  return lines + "sha256 " + base::hex_lower(base::sha256(lines)) + "\n";
}

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty()
             ? std::optional(value)
             : std::nullopt;
}

std::optional<TrimMark> parse_mark(std::string_view text) {
  static constexpr std::string_view kWords[] = {"baseline ",  "size ",  "digest ", "projection ",
                                                "decisions ", "event ", "at "};
  const std::vector<std::string> lines = lines_of_text(text);
  if (lines.size() != std::size(kWords) + 2) return std::nullopt;
  std::string values[std::size(kWords)];
  for (std::size_t i = 0; i < std::size(kWords); ++i) {
    if (!lines[i + 1].starts_with(kWords[i])) return std::nullopt;
    values[i] = lines[i + 1].substr(kWords[i].size());
  }
  const auto position = number_in(values[0]), size = number_in(values[1]),
             event = number_in(values[5]);
  const auto at = base::parse_rfc3339(values[6]);
  if (!position || !size || !event || !at) return std::nullopt;
  TrimMark mark{{model::Position(*position), values[3], values[4], *size, values[2]},
                model::Position(*event),
                base::WallTime(*at),
                {},
                {}};
  const bool place = *position > 0 && *position % kTrimTile == 0 && *event > *position;
  return place && mark_text(mark) == text ? std::optional(std::move(mark)) : std::nullopt;
}

std::string baseline_name(model::Position position) {
  return position_digits(position) + std::string(kBaselineSuffix);
}

tl::unexpected<base::Error> damaged_file(const std::string& path, const std::string& what) {
  return base::fail(base::Kind::kCorrupt,
                    path + ": " + what + "; take the file from another copy of the archive");
}

std::string sum_of(const std::string& name, std::string_view hashes) {
  base::Sha256 hash;
  const base::Sha256Digest digest = hash.update(name).update(hashes).finish();
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

base::Result<std::string> read_leaves_file(const std::string& folder, const RangeFile& file) {
  const std::string path = folder + "/" + file.name;
  auto bytes = read_archive_file(path, kLeavesFileTilesMax * kTileBytes + kDigestBytes);
  if (!bytes) return bytes;
  const std::uint64_t count = file.last.value() - file.first.value() + 1;
  if (bytes->size() != count * kDigestBytes + kDigestBytes ||
      (file.first.value() - 1) % kTrimTile != 0 || count % kTrimTile != 0)
    return damaged_file(path, "it does not hold the leaf hashes of the positions of its name");
  const std::string sum = bytes->substr(bytes->size() - kDigestBytes);
  bytes->resize(bytes->size() - kDigestBytes);
  if (sum_of(file.name, *bytes) != sum)
    return damaged_file(path, "its leaf hashes are other ones than were written");
  return bytes;
}

base::Status remove_file(const std::string& path) {
  return ::unlink(path.c_str()) == 0 || errno == ENOENT ? base::Status()
                                                        : archive_file_error("cannot remove", path);
}

base::Status remove_baselines(const std::string& folder, const std::string& but) {
  std::vector<std::string> others;
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
    std::string name = it->path().filename().string();
    if (name.ends_with(kBaselineSuffix) && name != but) others.push_back(std::move(name));
  }
  for (const std::string& name : others) KARST_TRY(remove_file(folder + "/" + name));
  return {};
}

}  // namespace

base::Result<std::optional<TrimMark>> read_expired(const std::string& folder) {
  const std::string path = folder + "/" + std::string(kName);
  std::error_code code;
  if (!fs::exists(path, code) && !code) return std::optional<TrimMark>();
  const auto text = read_archive_file(path, kMarkBytesMax);
  if (!text) return base::fail(text.error());
  if (text->starts_with(kMarkHeadOfAny) && !text->starts_with(kMarkHead))
    return base::fail(base::Kind::kNewer,
                      path + ": is of a later karst: expected \"" + std::string(kMarkHead) + "\"");
  auto mark = parse_mark(*text);
  if (!mark) return damaged_file(path, "is damaged, its lines are not those of its sum");
  return mark;
}

base::Status write_expired(const std::string& folder, const TrimMark& mark) {
  const std::string text = mark_text(mark);
  KARST_CHECK(parse_mark(text).has_value(), "what is written can be read");
  return write_archive_file(folder, std::string(kName), text);
}

base::Result<BaselineNote> write_baseline_file(const std::string& folder,
                                               const Baseline& baseline) {
  if (baseline.bytes.size() > kBaselineBytesMax)
    return base::fail(base::Kind::kInvalid, "a baseline of " +
                                                std::to_string(baseline.bytes.size()) +
                                                " bytes is above the bound of 4 GiB");
  KARST_TRY(write_archive_file(folder, baseline_name(baseline.position), baseline.bytes));
  return BaselineNote{baseline.position, baseline.projection, baseline.decision_version,
                      baseline.bytes.size(), base::hex_lower(base::sha256(baseline.bytes))};
}

base::Result<Baseline> read_baseline_file(const std::string& folder, const BaselineNote& note) {
  const std::string path = folder + "/" + baseline_name(note.position);
  auto bytes = read_archive_file(path, kBaselineBytesMax);
  const bool is_unreadable = !bytes && bytes.error().kind != base::Kind::kInvalid &&
                             bytes.error().kind != base::Kind::kCorrupt;
  if (is_unreadable) return base::fail(bytes.error());
  if (!bytes) return damaged_file(path, bytes.error().message);
  if (bytes->size() != note.size || base::hex_lower(base::sha256(*bytes)) != note.digest)
    return damaged_file(path,
                        "the state that the archive begins with is damaged: its SHA-256 is "
                        "not the one in the file 'expired'");
  return Baseline{note.position, note.projection, note.decision_version, std::move(*bytes)};
}

base::Status write_leaves_file(const std::string& folder, std::uint64_t tile,
                               std::string_view hashes) {
  KARST_CHECK(!hashes.empty() && hashes.size() % kTileBytes == 0 &&
                  hashes.size() <= kLeavesFileTilesMax * kTileBytes,
              "leaves are kept in whole tiles");
  const model::Position first(tile * kTrimTile + 1);
  const std::string name = range_name(
      first, model::Position(first.value() + hashes.size() / kDigestBytes - 1), kLeavesSuffix);
  return write_archive_file(folder, name, std::string(hashes) + sum_of(name, hashes));
}

// Files may overlap in a copy that was brought up to date and never swept: a position has one leaf.
base::Status each_leaves_tile(
    const std::string& folder, model::Position last,
    const std::function<base::Status(std::uint64_t tile, std::string_view hashes)>& take) {
  const auto files = range_files(folder, kLeavesSuffix);
  if (!files) return base::fail(files.error());
  std::uint64_t next = 1;
  for (const RangeFile& file : *files) {
    if (next > last.value() || file.first.value() > next) break;
    if (file.last.value() < next) continue;
    const auto hashes = read_leaves_file(folder, file);
    if (!hashes) return base::fail(hashes.error());
    for (; next <= std::min(file.last, last).value(); next += kTrimTile)
      KARST_TRY(take((next - 1) / kTrimTile,
                     std::string_view(*hashes).substr((next - file.first.value()) * kDigestBytes,
                                                      kTileBytes)));
  }
  if (next > last.value()) return {};
  return base::fail(base::Kind::kCorrupt,
                    folder + ": the leaf hashes of the expired positions from " +
                        std::to_string(next) + " on are missing; expected a file " +
                        position_digits(model::Position(next)) +
                        "-….leaves: take it from "
                        "another copy of the archive");
}

base::Status remove_what_expired(const std::string& folder, const std::optional<TrimMark>& mark,
                                 const std::function<void()>& removed) {
  const model::Position first = mark ? mark->first() : model::Position(1);
  const auto segments = range_files(folder, kSegmentSuffix);
  if (!segments) return base::fail(segments.error());
  for (const RangeFile& segment : *segments) {
    if (segment.last >= first) continue;
    KARST_TRY(remove_file(folder + "/" + segment.name));
    if (removed) removed();
  }
  KARST_TRY(remove_baselines(folder, mark ? baseline_name(mark->baseline.position) : ""));
  const auto leaves = range_files(folder, kLeavesSuffix);
  if (!leaves) return base::fail(leaves.error());
  for (const RangeFile& file : *leaves)
    if (file.last >= first) KARST_TRY(remove_file(folder + "/" + file.name));
  return sync_archive_folder(folder);
}

}  // namespace karst::events
