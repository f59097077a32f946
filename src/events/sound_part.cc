#include "events/sound_part.h"

#include "events/aligned_copy.h"
#include "events/event.h"
#include "events/tail_check.h"
#include "events/trim_store.h"

namespace karst::events {
namespace {

model::Position after(model::Position position) {
  return model::Position(position.value() + 1);
}

// What is wrong with the event under the iterator; empty: nothing.
std::string wrong(const RocksIterator& it, model::Position expected, const HighWaterMark& mark,
                  AlignedCopy& copy) {
  const std::optional<model::Position> position = parse_position_key(it.key());
  if (position != expected) return "it is missing";
  const std::string_view value = copy.of(it.value());
  if (expected == mark.position && base::sha256(value) != mark.root)
    return "it is another event than the high-water mark saw";
  const base::Result<Event> event = decode_event(expected, value);
  // Newer is not damaged.
  return event || event.error().kind == base::Kind::kNewer ? "" : event.error().message;
}

}  // namespace

SoundPart sound_part(const RocksDb& db, const HighWaterMark& mark) {
  const model::Position first = first_position(db);
  SoundPart sound{model::Position(first.value() - 1), {}};
  AlignedCopy copy;
  const std::unique_ptr<RocksIterator> it = db.iterate(Family::kEvents);
  for (it->seek(PositionKey(first).view()); it->valid(); it->next()) {
    sound.why = wrong(*it, after(sound.last), mark, copy);
    if (!sound.why.empty()) return sound;
    sound.last = after(sound.last);
  }
  if (auto status = it->status(); !status)
    sound.why = "it cannot be read: " + status.error().message;
  else if (sound.last < mark.position)
    sound.why = "it is missing, but the high-water mark says that position " +
                std::to_string(mark.position.value()) + " was on disk";
  return sound;
}

DamagedDb open_damaged(const std::string& folder) {
  for (const Recovery recovery : {Recovery::kUpToDamage, Recovery::kSalvage})
    if (auto db = RocksDb::open_read_only(folder, recovery))
      return {std::move(*db), recovery == Recovery::kUpToDamage};
  return {};
}

base::Error events_are_whole(const std::string& folder, const SoundPart& sound,
                             const std::string& what) {
  return damaged(folder,
                 "all " + std::to_string(sound.last.value()) + " events can be read, but " + what)
      .value();
}

base::Error first_damage(const std::string& folder, const SoundPart& sound) {
  return damaged(folder, "the first damaged position is " +
                             std::to_string(after(sound.last).value()) + ": " + sound.why)
      .value();
}

}  // namespace karst::events
