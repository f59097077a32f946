#include "events/rocks_log.h"

#include "base/check.h"
#include "base/sha256.h"
#include "events/aligned_copy.h"

namespace karst::events {
namespace {

class RocksCursor final : public Cursor {
 public:
  RocksCursor(std::shared_ptr<RocksDb> db, model::Position from, model::Position end,
              std::optional<base::Error> damage)
      : db_(std::move(db)),
        it_(db_->iterate(Family::kEvents)),
        from_(from),
        next_(from),
        end_(end),
        damage_(std::move(damage)) {
    it_->seek(PositionKey(from).view());
  }

  base::Result<std::optional<Event>> next() override {
    if (damage_ && next_ >= end_) return base::fail(*damage_);
    if (started_) it_->next();
    started_ = true;
    if (!it_->valid()) return at_end();
    const std::optional<model::Position> position = parse_position_key(it_->key());
    if (position != next_) {
      const std::string found = position ? "next is position " + std::to_string(position->value())
                                         : "next is no position";
      return missing(found);
    }
    const base::Result<Event> event = decode_event(next_, copy_.of(it_->value()));
    if (!event) return base::fail(event.error());
    next_ = model::Position(next_.value() + 1);
    return std::optional<Event>(*event);
  }

 private:
  tl::unexpected<base::Error> missing(const std::string& found) const {
    return base::fail(base::Kind::kCorrupt, "event at position " + std::to_string(next_.value()) +
                                                " is missing from the log: " + found);
  }
  base::Result<std::optional<Event>> at_end() {
    if (auto status = it_->status(); !status)
      return base::fail(base::Kind::kCorrupt, "event at position " +
                                                  std::to_string(first_unreadable().value()) +
                                                  " cannot be read: " + status.error().message);
    if (next_ < end_)
      return missing("the log should reach position " + std::to_string(end_.value() - 1));
    return std::optional<Event>();
  }

  // Blocks of many events are damaged as a whole: a cursor that begins inside one looks where the
  // damage begins.
  model::Position first_unreadable() const {
    if (next_ > from_) return next_;
    const std::unique_ptr<RocksIterator> it = db_->iterate(Family::kEvents);
    model::Position first = first_position(*db_);
    for (it->seek(PositionKey(first).view()); it->valid() && first < next_; it->next())
      first = model::Position(first.value() + 1);
    return first;
  }

  std::shared_ptr<RocksDb> db_;
  std::unique_ptr<RocksIterator> it_;
  model::Position from_;
  model::Position next_;
  model::Position end_;
  std::optional<base::Error> damage_;  // from end_ on
  bool started_ = false;
  AlignedCopy copy_;
};

}  // namespace

base::Result<std::unique_ptr<Cursor>> RocksLog::read(model::Position from) const {
  KARST_CHECK(from.value() >= 1, "positions start at 1");
  if (from < first())
    return base::fail(base::Kind::kInvalid, path_ + ": position " + std::to_string(from.value()) +
                                                " cannot be read: " + where_trimmed(*trimmed()));
  auto open = db_to_use();
  if (!open) return base::fail(open.error());
  return std::unique_ptr<Cursor>(
      std::make_unique<RocksCursor>(std::move(*open), from, end(), damage_));
}

base::Result<model::Position> RocksLog::append(std::span<const Record> records,
                                               Durability durability) {
  const model::Position first = end();
  if (records.empty()) return first;
  KARST_TRY(ready_to_write());
  model::Position next = first;
  for (const Record& record : records) {
    encode_front(next, record, front_);
    db_->put(Family::kEvents, PositionKey(next).view(), front_, record.payload);
    next = model::Position(next.value() + 1);
  }
  base::Sha256Digest last{};
  const bool synced = durability == Durability::kSynced;
  if (synced) {
    base::Sha256 hash;
    last = hash.update(front_).update(records.back().payload).finish();
  }
  KARST_TRY(written(synced ? RocksDb::Sync::kYes : RocksDb::Sync::kNo, next, last));
  return first;
}

base::Status RocksLog::append_stored(std::span<const std::string> values) {
  if (values.empty()) return {};
  KARST_TRY(ready_to_write());
  model::Position next = end();
  for (const std::string& value : values) {
    db_->put(Family::kEvents, PositionKey(next).view(), value, {});
    next = model::Position(next.value() + 1);
  }
  return written(RocksDb::Sync::kYes, next, base::sha256(values.back()));
}

base::Status RocksLog::sync() {
  const model::Position last(end().value() - 1);
  if (last.value() == 0 || synced() == last) return {};
  KARST_TRY(ready_to_write());
  const PositionKey key(last);
  const auto value = db_->get(Family::kEvents, key.view());
  if (!value) return base::fail(value.error());
  KARST_CHECK(value->has_value(), "the last event is there");
  db_->put(Family::kEvents, key.view(), **value, {});  // a write that can be synced
  return written(RocksDb::Sync::kYes, end(), base::sha256(**value));
}

// What was gathered becomes the log up to `next`; `last`: of the bytes before it, when synced.
base::Status RocksLog::written(RocksDb::Sync sync, model::Position next,
                               const base::Sha256Digest& last) {
  if (auto status = db_->write(sync); !status) return base::fail(write_failed(status.error()));
  if (sync == RocksDb::Sync::kYes) {
    // The events are on disk, the mark is not: nobody may act on them, and nothing may follow.
    if (auto status = high_water_.write({model::Position(next.value() - 1), last}); !status) {
      broken_ = base::Error{base::Kind::kCorrupt, status.error().message};
      return base::fail(*broken_);
    }
  }
  end_.store(next.value(), std::memory_order_release);
  if (sync == RocksDb::Sync::kYes) synced_.store(next.value() - 1, std::memory_order_release);
  return {};
}

base::Status RocksLog::ready_to_write() {
  if (reader_)
    return base::fail(base::Kind::kDenied,
                      path_ + " was opened for reading: only its writer appends");
  if (broken_) return base::fail(*broken_);
  if (!full_) return {};
  if (auto status = reopen(); !status) return base::fail(write_failed(status.error()));
  full_ = false;
  return {};
}

base::Error RocksLog::write_failed(const base::Error& error) {
  if (error.kind == base::Kind::kFull) {
    full_ = true;
    return base::Error{base::Kind::kFull,
                       "the disk of " + path_ +
                           " is full, nothing was appended. Free some space: " + error.message};
  }
  broken_ =
      base::Error{base::Kind::kCorrupt, "cannot append to " + path_ + " at position " +
                                            std::to_string(end_.load()) +
                                            ", and no further append is tried: " + error.message};
  return *broken_;
}

base::Status RocksLog::refresh() {
  KARST_CHECK(reader_, "the writer sees its own events");
  if (damage_) return base::fail(*damage_);
  KARST_TRY(db_->catch_up());
  KARST_TRY(read_mark());
  const std::unique_ptr<RocksIterator> it = db_->iterate(Family::kEvents);
  it->seek_to_last();
  KARST_TRY(it->status());
  if (it->valid())
    if (const auto last = parse_position_key(it->key()); last)
      end_.store(last->value() + 1, std::memory_order_release);
  return {};
}

}  // namespace karst::events
