#include "daemon/expirer.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/check.h"
#include "daemon/trimmer.h"
#include "events/archive_expiry.h"
#include "events/codec.h"
#include "proof/merkle.h"

namespace karst::daemon {
namespace {

using events::Event;

tl::unexpected<base::Error> refused(base::Kind kind, const std::string& why) {
  return base::fail(kind, "nothing of the archive is deleted: " + why);
}
tl::unexpected<base::Error> refused(const base::Error& error) {
  return refused(error.kind, error.message);
}

// Each event of a segment, in order.
base::Status each_event(const events::Archive& archive, const events::ArchivedSegment& place,
                        const std::function<base::Status(const Event&)>& take) {
  auto segment = archive.read(place);
  if (!segment) return base::fail(segment.error());
  const auto cursor = segment->read();
  for (;;) {
    auto event = cursor->next();
    if (!event) return base::fail(event.error().with_context(place.file));
    if (!*event) return {};
    KARST_TRY(take(**event));
  }
}

}  // namespace

Expirer::Expirer(events::RocksLog& log, events::Archive& archive, const std::string& folder,
                 std::function<bool(model::Position)> go_on, KillPoints kill_points)
    : log_(log),
      archive_(archive),
      folder_(std::filesystem::absolute(folder).lexically_normal().string()),
      go_on_(std::move(go_on)),
      kill_points_(kill_points) {}

base::Status Expirer::may_go() const {
  if (archive_.identity().id != log_.id())
    return refused(base::Kind::kInvalid,
                   fmt::format("{} is the archive of log {}, this is log {}", folder_,
                               archive_.identity().id.str(), log_.id().str()));
  if (archive_.identity().secret != log_.secret())
    return refused(base::Kind::kCorrupt, folder_ + "/log holds another secret than the log");
  return {};
}

base::Result<ExpiryLook> Expirer::check(base::LogTime before) {
  KARST_TRY(may_go());
  const auto old = find_old(before);
  if (!old) return refused(old.error());
  if (!*old) {  // otherwise all of it is compared
    if (const auto same = archive_.same_history(log_); !same) return refused(same.error());
    return look_;
  }
  if (const auto can = can_fold(); !can) return refused(can.error());
  if (const auto sound = check_beginning(); !sound) return refused(sound.error());
  if (const auto same = compare(); !same) return refused(same.error());
  return look_;
}

base::Result<std::optional<events::BaselineNote>> Expirer::prepare(base::LogTime before) {
  auto look = check(before);
  if (!look) return base::fail(look.error());
  if (look->segments == 0)  // otherwise it was checked
    if (const auto sound = check_beginning(); !sound) return refused(sound.error());
  KARST_TRY(archive_.settle());
  if (archive_.expired()) KARST_TRY(log_.archive_begins(archive_.first()));
  if (look->segments == 0) return std::optional<events::BaselineNote>();
  const auto baseline = fold_and_keep();
  if (!baseline) return refused(baseline.error());
  auto note = archive_.keep_baseline(*baseline);
  if (!note) return refused(note.error());
  return std::optional(std::move(*note));
}

// True when segments go. Those that the log still has wait until it is trimmed: what is at hand can
// then always be compared with the archive, and the archive has all that the log has.
base::Result<bool> Expirer::find_old(base::LogTime before) {
  look_ = {archive_.first(), 0, 0, 0};
  model::Position cut = archive_.first();
  for (const events::ArchivedSegment& place : archive_.segments()) {
    if (place.last >= log_.first()) break;
    base::LogTime last;
    KARST_TRY(each_event(archive_, place, [&](const Event& event) {
      last = event.envelope.log_time;
      return base::Status();
    }));
    if (last >= before) break;
    cut = model::Position(place.last.value() + 1);
  }
  const model::Position first = std::max(trim_place(cut), archive_.first());
  for (const events::ArchivedSegment& place : archive_.segments()) {
    if (place.last >= first) break;
    ++look_.segments;
    look_.bytes += place.bytes;
  }
  if (look_.segments == 0) return false;
  look_.first = first;
  look_.events = first.value() - archive_.first().value();
  return true;
}

base::Status Expirer::can_fold() const {
  const auto& expired = archive_.expired();
  if (!expired || expired->baseline.projection == projections::kProjectionVersion) return {};
  return base::fail(
      base::Kind::kGone,
      fmt::format("{} begins with the state at position {} as projection version {} has it, and "
                  "this build, which has version {}, cannot fold on from there: run 'karst log "
                  "expire' of the build that wrote it, or keep what is there",
                  folder_, expired->baseline.position.value(), expired->baseline.projection,
                  projections::kProjectionVersion));
}

// What an earlier expiry kept can be read, and is what the log has of it.
base::Status Expirer::check_beginning() {
  if (!archive_.expired()) return {};
  if (auto baseline = archive_.baseline(); !baseline) return base::fail(baseline.error());
  return archive_.each_expired_tile([&](std::uint64_t tile, std::string_view hashes) {
    auto ours = log_.trimmed_leaves(tile);
    if (!ours) return base::Status(base::fail(ours.error()));
    if (*ours == hashes) return base::Status();
    return base::Status(
        base::fail(base::Kind::kCorrupt,
                   fmt::format("{} has other leaf hashes than the log of the positions from {} on",
                               folder_, tile * events::kTrimTile + 1)));
  });
}

base::Status Expirer::compare() {
  tile_.reset();
  auto ours = log_.read(log_.first());
  if (!ours) return base::fail(ours.error());
  for (const events::ArchivedSegment& place : archive_.segments()) {
    KARST_TRY(compare_segment(place, **ours));
    if (go_on_ && !go_on_(place.last))
      return base::fail(base::Kind::kRetry, "it was asked to stop");
  }
  return {};
}

base::Status Expirer::compare_segment(const events::ArchivedSegment& place, events::Cursor& ours) {
  return each_event(archive_, place, [&](const Event& event) -> base::Status {
    if (event.envelope.position < log_.first()) return compare_leaf(event, place.file);
    auto stored = ours.next();
    if (!stored) return base::fail(stored.error());
    if (*stored && (*stored)->raw == event.raw) return {};
    return base::fail(base::Kind::kCorrupt,
                      fmt::format("{}/{} holds another event at position {} than the log", folder_,
                                  place.file, event.envelope.position.value()));
  });
}

base::Status Expirer::compare_leaf(const Event& event, const std::string& file) {
  const std::uint64_t index = event.envelope.position.value() - 1;
  if (tile_ != index / events::kTrimTile) {
    auto leaves = log_.trimmed_leaves(index / events::kTrimTile);
    if (!leaves) return base::fail(leaves.error());
    tile_leaves_ = std::move(*leaves);
    tile_ = index / events::kTrimTile;
  }
  const std::string_view kept =
      std::string_view(tile_leaves_)
          .substr(index % events::kTrimTile * proof::kHashSize, proof::kHashSize);
  if (kept == proof::as_text(proof::event_leaf_hash(event.raw, log_.secret()))) return {};
  return base::fail(base::Kind::kCorrupt,
                    fmt::format("{}/{} holds another event at position {} than the log had",
                                folder_, file, event.envelope.position.value()));
}

// The state before the first event that stays; the leaf hashes of what goes are in the archive.
base::Result<events::Baseline> Expirer::fold_and_keep() {
  projections::ClusterState state;
  std::string decision_version;
  if (const auto& expired = archive_.expired()) {
    auto baseline = archive_.baseline();
    if (!baseline) return base::fail(baseline.error());
    KARST_TRY(state.load((*baseline)->bytes));
    if (state.last_position() != expired->baseline.position || state.log_id() != log_.id())
      return base::fail(base::Kind::kCorrupt,
                        folder_ + " begins with the state of another position or log");
    decision_version = expired->baseline.decision_version;
  }
  std::string leaves;
  std::uint64_t tile = (archive_.first().value() - 1) / events::kTrimTile;
  for (const events::ArchivedSegment& place : archive_.segments()) {
    if (place.first >= look_.first) break;
    KARST_TRY(each_event(archive_, place, [&](const Event& event) -> base::Status {
      const model::Position at = event.envelope.position;
      if (at < archive_.first() || at >= look_.first) return {};
      state.apply(event);
      if (event.envelope.type == events::EventType::kDaemonStarted) {
        const events::Body body = events::decode_body(event);
        decision_version = std::get<events::DaemonStarted>(body).decision_version;
      }
      return keep_leaf(event, leaves, tile);
    }));
  }
  if (!leaves.empty()) KARST_TRY(archive_.keep_leaves(tile, leaves));
  events::Baseline baseline{model::Position(look_.first.value() - 1),
                            std::string(projections::kProjectionVersion), decision_version,
                            state.save()};
  projections::ClusterState again;
  KARST_TRY(again.load(baseline.bytes));
  KARST_CHECK(again.last_position() == baseline.position && again.digest() == state.digest(),
              "a state that was saved is the same when it is loaded");
  return baseline;
}

base::Status Expirer::keep_leaf(const Event& event, std::string& leaves, std::uint64_t& tile) {
  leaves += proof::as_text(proof::event_leaf_hash(event.raw, log_.secret()));
  if (leaves.size() < events::kLeavesFileTilesMax * events::kTileBytes) return {};
  KARST_TRY(archive_.keep_leaves(tile, leaves));
  tile += events::kLeavesFileTilesMax;
  leaves.clear();
  return {};
}

base::Status Expirer::finish(const events::BaselineNote& note, model::Position event,
                             base::WallTime now) {
  kill_points_.pass(KillPoint::kBeforeExpiryMark);
  const base::Status gone = archive_.expire(
      {note, event, now, {}, {}}, [&] { kill_points_.pass(KillPoint::kAfterExpiryMark); },
      [&] { kill_points_.pass(KillPoint::kAfterExpiredSegment); });
  if (!gone) return refused(gone.error());
  return log_.archive_begins(archive_.first());
}

}  // namespace karst::daemon
