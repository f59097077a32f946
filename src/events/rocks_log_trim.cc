// Trimming a log on disk: what is kept, what is bound into the log, what goes.
#include "base/check.h"
#include "events/aligned_copy.h"
#include "events/codec.h"
#include "events/rocks_log.h"
#include "events/tail_check.h"

namespace karst::events {
namespace {

// Empty: the log holds, at the mark's place, the LogTrimmed that speaks of its baseline.
std::string not_bound(const RocksDb& db, const TrimMark& mark) {
  const auto value = db.get(Family::kEvents, PositionKey(mark.event).view());
  const std::string place = "position " + std::to_string(mark.event.value());
  if (!value) return place + " cannot be read: " + value.error().message;
  if (!*value) return place + ", where the log says that it was trimmed, is missing";
  AlignedCopy copy;
  const base::Result<Event> event = decode_event(mark.event, copy.of(**value));
  if (!event) return event.error().message;
  const std::optional<BoundBaseline> told = bound_by(decode_body(*event));
  const bool same = told && told->before == mark.first() &&
                    told->baseline == mark.baseline.position &&
                    told->digest == mark.baseline.digest;
  return same ? ""
              : place + " does not say that the log was trimmed before " +
                    std::to_string(mark.first().value()) + ", with this baseline";
}

}  // namespace

base::Status RocksLog::read_mark() {
  auto mark = read_trim_mark(*db());
  if (!mark) return damaged(path_, mark.error().message);
  if (*mark)
    if (const std::string why = not_bound(*db(), **mark); !why.empty()) return damaged(path_, why);
  adopt_mark(std::move(*mark));
  return {};
}

void RocksLog::adopt_mark(std::optional<TrimMark> mark) {
  const std::lock_guard lock(db_mutex_);
  first_.store(mark ? mark->first().value() : 1, std::memory_order_release);
  mark_ = std::move(mark);
}

std::optional<TrimMark> RocksLog::trimmed() const {
  const std::lock_guard lock(db_mutex_);
  return mark_;
}

base::Result<std::shared_ptr<RocksDb>> RocksLog::db_to_use() const {
  std::shared_ptr<RocksDb> open = db();
  if (!open)
    return base::fail(base::Kind::kFull, path_ + " cannot be read until its disk has some room");
  return open;
}

base::Result<std::optional<Baseline>> RocksLog::baseline() const {
  const std::optional<TrimMark> mark = trimmed();
  if (!mark) return std::optional<Baseline>();
  const auto open = db_to_use();
  if (!open) return base::fail(open.error());
  auto baseline = read_baseline(**open, mark->baseline);
  if (!baseline) return base::fail(baseline.error().with_context(path_));
  return std::optional(std::move(*baseline));
}

base::Result<std::string> RocksLog::trimmed_leaves(std::uint64_t tile) const {
  if ((tile + 1) * kTrimTile >= first().value()) return EventLog::trimmed_leaves(tile);
  const auto open = db_to_use();
  if (!open) return base::fail(open.error());
  auto leaves = read_leaves(**open, tile);
  if (!leaves) return base::fail(leaves.error().with_context(path_));
  return leaves;
}

base::Result<SnapshotStore> RocksLog::snapshots_to_read() const {
  auto open = db_to_use();
  if (!open) return base::fail(open.error());
  SnapshotStore store;
  store.use(std::move(*open));
  return store;
}

base::Status RocksLog::keep_leaves(std::uint64_t tile, std::string_view hashes) {
  const auto open = db_to_use();
  return open ? write_leaves(**open, tile, hashes) : base::fail(open.error());
}

base::Result<BaselineNote> RocksLog::keep_baseline(const Baseline& baseline) {
  const auto open = db_to_use();
  return open ? write_baseline(**open, baseline) : base::fail(open.error());
}

LogTrimmed told_of(const BaselineNote& note) {
  return {model::Position(note.position.value() + 1), 0, note.position, note.projection,
          note.digest};
}

ArchiveExpired expired_of(const BaselineNote& note, std::uint64_t segments) {
  return {model::Position(note.position.value() + 1), segments, note.position, note.projection,
          note.digest};
}

std::optional<BoundBaseline> bound_by(const Body& body) {
  if (const auto* trimmed = std::get_if<LogTrimmed>(&body))
    return BoundBaseline{trimmed->before, trimmed->baseline, trimmed->digest};
  if (const auto* expired = std::get_if<ArchiveExpired>(&body))
    return BoundBaseline{expired->before, expired->baseline, expired->digest};
  return std::nullopt;
}

base::Result<BaselineNote> RocksLog::begin_behind(const Baseline& baseline) {
  KARST_CHECK(partial_.has_value() && end() == model::Position(1), "an empty log begins anywhere");
  auto note = keep_baseline(baseline);
  if (note) end_.store(baseline.position.value() + 1, std::memory_order_release);
  return note;
}

base::Status RocksLog::archive_begins(model::Position first) {
  KARST_CHECK(!reader_, "only the writer notes it");
  const auto open = db_to_use();
  if (!open) return base::fail(open.error());
  KARST_TRY(write_archive_begins(**open, first));
  const std::lock_guard lock(db_mutex_);
  if (mark_) mark_->expired = first;
  return {};
}

base::Status RocksLog::trim(const TrimMark& mark) {
  KARST_CHECK(!reader_, "only the writer trims");
  KARST_CHECK(mark.first() > first() && mark.event <= synced(),
              "what the log was told of is on stable storage before anything goes");
  const auto open = db_to_use();
  if (!open) return base::fail(open.error());
  if (const std::string why = not_bound(**open, mark); !why.empty())
    return base::fail(base::Kind::kInvalid, path_ + " is not trimmed: " + why);
  auto kept = read_baseline(**open, mark.baseline);
  if (!kept) return base::fail(kept.error().with_context(path_));
  // First what readers go by, then what they read.
  const std::optional<TrimMark> before = trimmed();
  TrimMark after = mark;
  if (before) after.expired = before->expired;
  adopt_mark(std::move(after));
  const base::Status written = (*open)->apply(trim_changes(**open, mark), RocksDb::Sync::kYes);
  if (!written) adopt_mark(before);
  return written;
}

base::Status RocksLog::compact_trimmed() {
  const auto open = db_to_use();
  if (!open) return base::fail(open.error());
  // The mark must not be lost with the write-ahead log once what it speaks of is gone for good.
  for (const Family family : {Family::kMeta, Family::kSnapshots, Family::kEvents})
    KARST_TRY((*open)->flush(family));
  const PositionKey begin(model::Position(0)), end(first());
  return (*open)->compact(Family::kEvents, begin.view(), end.view());
}

}  // namespace karst::events
