#include "daemon/trimmer.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/check.h"
#include "engine/replay.h"
#include "events/codec.h"
#include "proof/merkle.h"

namespace karst::daemon {
namespace {

using events::Event;

tl::unexpected<base::Error> no_trim(base::Kind kind, const std::string& why) {
  return base::fail(kind, "the log is not trimmed: " + why);
}

base::Result<base::LogTime> time_at(const events::EventLog& log, model::Position position) {
  auto cursor = log.read(position);
  if (!cursor) return base::fail(cursor.error());
  auto event = (*cursor)->next();
  if (!event) return base::fail(event.error());
  KARST_CHECK(event->has_value(), "the position is before the end");
  return (*event)->envelope.log_time;
}

}  // namespace

model::Position trim_place(model::Position wanted) {
  if (wanted.value() == 0) return model::Position(1);
  return model::Position((wanted.value() - 1) / events::kTrimTile * events::kTrimTile + 1);
}

base::Result<model::Position> first_since(const events::EventLog& log, base::LogTime time) {
  std::uint64_t low = log.first().value(), high = log.end().value();
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    const auto at = time_at(log, model::Position(middle));
    if (!at) return base::fail(at.error());
    if (*at < time)
      low = middle + 1;
    else
      high = middle;
  }
  return model::Position(low);
}

base::Result<std::optional<model::Position>> told_since(const events::RocksLog& log,
                                                        events::EventType type,
                                                        const events::BaselineNote& note,
                                                        model::Position from) {
  const model::Position synced = log.synced();
  if (from > synced) return std::optional<model::Position>();
  auto cursor = log.read(from);
  if (!cursor) return base::fail(cursor.error());
  for (;;) {
    auto event = (*cursor)->next();
    if (!event) return base::fail(event.error());
    if (!*event || (*event)->envelope.position > synced) return std::optional<model::Position>();
    if ((*event)->envelope.type != type) continue;
    const auto told = events::bound_by(events::decode_body(**event));
    if (told && told->baseline == note.position && told->digest == note.digest)
      return std::optional((*event)->envelope.position);
  }
}

Trimmer::Trimmer(events::RocksLog& log, const events::Archive& archive, const std::string& folder,
                 std::function<bool(model::Position)> go_on, KillPoints kill_points)
    : log_(log),
      archive_(archive),
      folder_(std::filesystem::absolute(folder).lexically_normal().string()),
      go_on_(std::move(go_on)),
      kill_points_(kill_points) {}

base::Status Trimmer::may_go(model::Position first) const {
  KARST_CHECK(first == trim_place(first), "a log begins with a tile");
  if (archive_.identity().id != log_.id())
    return no_trim(base::Kind::kInvalid,
                   fmt::format("{} is the archive of log {}, this is log {}", folder_,
                               archive_.identity().id.str(), log_.id().str()));
  if (first <= log_.first())
    return no_trim(base::Kind::kInvalid,
                   fmt::format("it begins at position {}, and nothing before {} is left to go",
                               log_.first().value(), first.value()));
  if (first >= log_.end())
    return no_trim(
        base::Kind::kInvalid,
        fmt::format("something must stay, and it ends at position {}", log_.end().value() - 1));
  if (archive_.first() > log_.first())
    return no_trim(base::Kind::kInvalid,
                   fmt::format("{} begins at position {}, what was before has expired there, and "
                               "the log begins at {}; expected an archive that has all that goes",
                               folder_, archive_.first().value(), log_.first().value()));
  if (first > archive_.end())
    return no_trim(base::Kind::kInvalid,
                   fmt::format("{} holds the positions 1 to {}, and 1 to {} would go; expected an "
                               "archive with all of them ('karst log archive')",
                               folder_, archive_.end().value() - 1, first.value() - 1));
  return {};
}

base::Result<TrimLook> Trimmer::check(model::Position first) {
  KARST_TRY(compare(first, /*keep=*/false));
  return look_;
}

base::Result<events::BaselineNote> Trimmer::prepare(model::Position first) {
  KARST_TRY(compare(first, /*keep=*/true));
  const model::Position last(first.value() - 1);
  auto snapshots = log_.snapshots_to_read();
  if (!snapshots) return base::fail(snapshots.error());
  projections::ClusterState state;
  if (auto folded = engine::rebuild(log_, &*snapshots, last, state); !folded)
    return base::fail(folded.error());
  events::Baseline baseline{last, std::string(projections::kProjectionVersion), decision_version_,
                            state.save()};
  projections::ClusterState again;
  KARST_TRY(again.load(baseline.bytes));
  KARST_CHECK(again.last_position() == last && again.digest() == state.digest(),
              "a state that was saved is the same when it is loaded");
  return log_.keep_baseline(baseline);
}

base::Status Trimmer::compare(model::Position first, bool keep) {
  KARST_TRY(may_go(first));
  look_ = {first, 0, 0};
  leaves_.clear();
  const auto mark = log_.trimmed();
  decision_version_ = mark ? mark->baseline.decision_version : "";
  auto ours = log_.read(log_.first());
  if (!ours) return base::fail(ours.error());
  for (const events::ArchivedSegment& place : archive_.segments())
    if (place.last >= log_.first() && place.first < first)
      KARST_TRY(compare_segment(place, **ours, first, keep));
  KARST_CHECK(look_.events == first.value() - log_.first().value(),
              "an archive has no gaps, so all of it was compared");
  // Nor does anything go behind an archive that goes on otherwise.
  if (const auto same = archive_.same_history(log_); !same)
    return no_trim(same.error().kind, same.error().message);
  return {};
}

base::Status Trimmer::compare_segment(const events::ArchivedSegment& place, events::Cursor& ours,
                                      model::Position first, bool keep) {
  auto segment = archive_.read(place);
  if (!segment) return base::fail(segment.error());
  const auto theirs = segment->read();
  for (;;) {
    auto archived = theirs->next();
    if (!archived) return base::fail(archived.error().with_context(place.file));
    if (!*archived) return {};
    const model::Position at = (*archived)->envelope.position;
    if (at < log_.first()) continue;
    if (at >= first) return {};
    auto stored = ours.next();
    if (!stored) return base::fail(stored.error());
    if (!*stored || (*stored)->raw != (*archived)->raw)
      return no_trim(base::Kind::kCorrupt,
                     fmt::format("{}/{} holds another event at position {} than the log", folder_,
                                 place.file, at.value()));
    KARST_TRY(take(**stored, keep));
  }
}

base::Status Trimmer::take(const Event& event, bool keep) {
  const std::uint64_t position = event.envelope.position.value();
  ++look_.events;
  look_.bytes += event.raw.size();
  if (event.envelope.type == events::EventType::kDaemonStarted) {
    const events::Body body = events::decode_body(event);
    decision_version_ = std::get<events::DaemonStarted>(body).decision_version;
  }
  if (keep) leaves_ += proof::as_text(proof::event_leaf_hash(event.raw, log_.secret()));
  if (position % events::kTrimTile != 0) return {};
  if (keep) KARST_TRY(log_.keep_leaves(position / events::kTrimTile - 1, leaves_));
  leaves_.clear();
  if (go_on_ && !go_on_(event.envelope.position))
    return no_trim(base::Kind::kRetry, "it was asked to stop");
  return {};
}

base::Result<std::optional<model::Position>> Trimmer::told(const events::BaselineNote& note,
                                                           model::Position from) const {
  return told_since(log_, events::EventType::kLogTrimmed, note, from);
}

base::Status Trimmer::finish(const events::BaselineNote& note, model::Position event,
                             base::WallTime now) {
  kill_points_.pass(KillPoint::kBeforeTrimMark);
  KARST_TRY(log_.trim({note, event, now, folder_}));
  kill_points_.pass(KillPoint::kAfterTrimMark);
  KARST_TRY(log_.compact_trimmed());
  kill_points_.pass(KillPoint::kAfterTrimCompaction);
  return {};
}

}  // namespace karst::daemon
