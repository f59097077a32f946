#include "events/trim_store.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/sha256.h"
#include "events/pieces.h"

namespace karst::events {
namespace {

constexpr std::string_view kMarkKey = "trimmed";
constexpr std::string_view kExpiredKey = "expired";
constexpr std::string_view kBaselinePrefix = "baseline";
constexpr std::string_view kLeavesPrefix = "leaves";

std::string baseline_key(model::Position position, std::uint32_t piece) {
  std::string key(kBaselinePrefix);
  key.append(PositionKey(position).view());
  for (int shift = 24; shift >= 0; shift -= 8) key.push_back(static_cast<char>(piece >> shift));
  return key;
}
std::string leaves_key(std::uint64_t tile) {
  return std::string(kLeavesPrefix).append(PositionKey(model::Position(tile)).view());
}
base::Status put_now(RocksDb& db, std::string key, std::string_view value) {
  const RocksChange change{RocksChange::Kind::kPut, Family::kMeta, std::move(key),
                           std::string(value)};
  return db.apply({&change, 1}, RocksDb::Sync::kUnlogged);
}

tl::unexpected<base::Error> not_what_was_kept(const BaselineNote& note, const std::string& what) {
  return base::fail(base::Kind::kCorrupt,
                    "the baseline of this trimmed log, the state at position " +
                        std::to_string(note.position.value()) + ", is damaged: " + what);
}

}  // namespace

template <class Archive>
void fields(Archive& a, BaselineNote& n) {
  a(n.position, n.projection, n.decision_version, n.size, n.digest);
}
template <class Archive>
void fields(Archive& a, TrimMark& m) {
  a(m.baseline, m.event, m.at, m.archive);
}

std::string where_trimmed(const TrimMark& mark) {
  const std::string last = std::to_string(mark.baseline.position.value());
  const std::string trimmed =
      "positions 1 to " + last + " were trimmed at " + base::format_rfc3339(mark.at.value());
  const std::string restore = "'karst log restore --archive " + mark.archive + " --data DIR'";
  if (mark.expired >= mark.first())
    return trimmed + ", and have expired in the archive " + mark.archive +
           ": their leaf hashes are kept, and what they folded to; they themselves are nowhere";
  if (mark.expired > model::Position(1))
    return trimmed + "; the archive " + mark.archive + " has those from " +
           std::to_string(mark.expired.value()) + " on: " + restore +
           " makes a log of it that begins there; what was before has expired";
  return trimmed + "; the archive " + mark.archive + " has them: " + restore +
         " makes the whole log of it";
}

base::Result<std::optional<TrimMark>> read_trim_mark(const RocksDb& db) {
  const auto value = db.get(Family::kMeta, kMarkKey);
  if (!value) return base::fail(value.error());
  if (!*value) return std::optional<TrimMark>();
  TrimMark mark;
  base::ByteReader reader(**value);
  reader(mark);
  const std::uint64_t last = mark.baseline.position.value();
  if (!reader.ok() || !reader.at_end() || last == 0 || last % kTrimTile != 0 ||
      mark.event <= mark.baseline.position)
    return base::fail(base::Kind::kCorrupt, "what the log says of its trimming cannot be read");
  const auto expired = db.get(Family::kMeta, kExpiredKey);
  if (!expired) return base::fail(expired.error());
  if (*expired) mark.expired = parse_position_key(**expired).value_or(model::Position());
  return std::optional(std::move(mark));
}

model::Position first_position(const RocksDb& db) {
  const auto mark = read_trim_mark(db);
  return mark && *mark ? (*mark)->first() : model::Position(1);
}

base::Result<BaselineNote> write_baseline(RocksDb& db, const Baseline& baseline) {
  const std::string_view bytes = baseline.bytes;
  const std::uint32_t pieces = pieces_of(bytes.size());
  if (pieces > kPiecesMax)
    return base::fail(base::Kind::kInvalid, "a baseline of " + std::to_string(bytes.size()) +
                                                " bytes is above the bound of 4 GiB");
  for (std::uint32_t piece = 0; piece < pieces; ++piece)
    KARST_TRY(put_now(db, baseline_key(baseline.position, piece),
                      bytes.substr(piece * kPieceBytes, kPieceBytes)));
  KARST_TRY(db.flush(Family::kMeta));
  return BaselineNote{baseline.position, baseline.projection, baseline.decision_version,
                      bytes.size(), base::hex_lower(base::sha256(bytes))};
}

base::Result<Baseline> read_baseline(const RocksDb& db, const BaselineNote& note) {
  if (note.size > kPieceBytes * kPiecesMax) return not_what_was_kept(note, "its size");
  Baseline baseline{note.position, note.projection, note.decision_version, {}};
  baseline.bytes.reserve(note.size);
  for (std::uint32_t piece = 0; piece < pieces_of(note.size); ++piece) {
    const auto value = db.get(Family::kMeta, baseline_key(note.position, piece));
    if (!value) return base::fail(value.error());
    if (!*value) return not_what_was_kept(note, "a piece of it is missing");
    baseline.bytes.append(**value);
  }
  if (base::hex_lower(base::sha256(baseline.bytes)) != note.digest)
    return not_what_was_kept(note, "its SHA-256 is not the one in the log");
  return baseline;
}

base::Status write_leaves(RocksDb& db, std::uint64_t tile, std::string_view hashes) {
  KARST_CHECK(hashes.size() == kTileBytes, "leaves are kept in whole tiles");
  return put_now(db, leaves_key(tile), hashes);
}

base::Result<std::string> read_leaves(const RocksDb& db, std::uint64_t tile) {
  auto value = db.get(Family::kMeta, leaves_key(tile));
  if (!value) return base::fail(value.error());
  if (!*value || (*value)->size() != kTileBytes)
    return base::fail(base::Kind::kCorrupt, "the leaf hashes of the trimmed positions from " +
                                                std::to_string(tile * kTrimTile + 1) +
                                                " on are missing from the log");
  return std::move(**value);
}

base::Status write_archive_begins(RocksDb& db, model::Position first) {
  const RocksChange change{RocksChange::Kind::kPut, Family::kMeta, std::string(kExpiredKey),
                           std::string(PositionKey(first).view())};
  return db.apply({&change, 1}, RocksDb::Sync::kYes);
}

std::vector<RocksChange> trim_changes(const RocksDb& db, const TrimMark& mark) {
  const model::Position base = mark.baseline.position;
  base::ByteWriter writer;
  writer(mark);
  using Kind = RocksChange::Kind;
  std::vector<RocksChange> changes = {
      {Kind::kPut, Family::kMeta, std::string(kMarkKey), writer.take()},
      {Kind::kRemoveRange, Family::kEvents, std::string(PositionKey(model::Position(0)).view()),
       std::string(PositionKey(mark.first()).view())},
      {Kind::kRemoveRange, Family::kSnapshots, std::string(PositionKey(model::Position(0)).view()),
       std::string(PositionKey(base).view())}};
  const std::unique_ptr<RocksIterator> it = db.iterate(Family::kMeta);
  const std::string kept = baseline_key(base, 0);
  for (it->seek(kBaselinePrefix); it->valid() && it->key().starts_with(kBaselinePrefix);
       it->next()) {
    const std::string_view of_baseline = it->key().substr(0, kept.size() - 4);
    if (of_baseline != std::string_view(kept).substr(0, kept.size() - 4))
      changes.push_back({Kind::kRemove, Family::kMeta, std::string(it->key()), {}});
  }
  return changes;
}

}  // namespace karst::events
