#include "events/tail_check.h"

#include "events/aligned_copy.h"
#include "events/event.h"
#include "events/trim_store.h"

namespace karst::events {
namespace {

// More than two full write buffers and the write-ahead logs that RocksDB keeps (rocks_options.cc).
constexpr std::size_t kTailBytes = 32 << 20;

std::string number(model::Position position) {
  return std::to_string(position.value());
}
model::Position before(model::Position position) {
  return model::Position(position.value() - 1);
}
model::Position next_of(model::Position position) {
  return model::Position(position.value() + 1);
}

std::string range(model::Position from, model::Position to) {
  return from == to ? "position " + number(from) + " is"
                    : "positions " + number(from) + " to " + number(to) + " are";
}

class Walk {
 public:
  Walk(const RocksDb& db, const std::string& folder, const HighWaterMark& mark)
      : folder_(folder),
        mark_(mark),
        first_(first_position(db)),
        it_(db.iterate(Family::kEvents)) {}

  base::Result<TailCheck> run() {
    it_->seek_to_last();
    KARST_TRY(first_step());
    std::size_t bytes = 0;
    model::Position expected = check_.last;
    while (it_->valid() && (bytes < kTailBytes || expected >= mark_.position)) {
      const std::optional<model::Position> position = parse_position_key(it_->key());
      if (!position || *position > expected)
        return damaged(folder_, "a key near position " + number(expected) + " is no position");
      if (*position < expected)
        KARST_TRY(bad(next_of(*position), range(next_of(*position), expected) + " missing"));
      KARST_TRY(check_event(*position));
      bytes += it_->value().size();
      expected = before(*position);
      it_->prev();
    }
    if (it_->valid()) return check_;
    if (auto status = it_->status(); !status)
      return damaged(folder_,
                     "position " + number(expected) +
                         " or one shortly before it cannot be read: " + status.error().message);
    if (expected >= first_) return damaged(folder_, range(first_, expected) + " missing");
    return check_;
  }

 private:
  // Where the log ends, and whether it reaches the mark.
  base::Status first_step() {
    if (auto status = it_->status(); !status)
      return damaged(folder_,
                     "the end of the log cannot be read, the high-water mark is position " +
                         number(mark_.position) + ": " + status.error().message);
    if (it_->valid()) {
      const std::optional<model::Position> last = parse_position_key(it_->key());
      if (!last) return damaged(folder_, "the last key is no position");
      check_.last = *last;
    }
    if (check_.last < mark_.position)
      return damaged(folder_, range(next_of(check_.last), mark_.position) +
                                  " missing, but the high-water mark says that " +
                                  number(mark_.position) + " was on disk");
    return {};
  }

  // Damage from `position` on: fatal at or below the mark, a cut above it.
  base::Status bad(model::Position position, const std::string& what) {
    if (position <= mark_.position) return damaged(folder_, what);
    check_.cut = position;
    check_.reason = what;
    return {};
  }

  base::Status check_event(model::Position position) {
    const std::string_view value = copy_.of(it_->value());
    if (position == mark_.position && base::sha256(value) != mark_.root)
      return damaged(folder_, "the event at position " + number(position) +
                                  " is another one than the high-water mark saw");
    const base::Result<Event> event = decode_event(position, value);
    if (event) return {};
    if (event.error().kind == base::Kind::kNewer)
      return base::fail(event.error().with_context(folder_));
    return bad(position, event.error().message);
  }

  const std::string& folder_;
  HighWaterMark mark_;
  const model::Position first_;  // of the log: 1, or where it was trimmed
  std::unique_ptr<RocksIterator> it_;
  AlignedCopy copy_;
  TailCheck check_;
};

}  // namespace

base::Result<TailCheck> check_tail(const RocksDb& db, const std::string& folder,
                                   const HighWaterMark& mark) {
  return Walk(db, folder, mark).run();
}

tl::unexpected<base::Error> damaged(const std::string& folder, const std::string& what) {
  return base::fail(base::Kind::kCorrupt,
                    folder + ": " + what +
                        ". The log is damaged and karst does not write to it: keep this folder as "
                        "it is, and restore it from a copy or start with another one");
}

}  // namespace karst::events
