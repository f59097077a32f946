#include "events/memory_log.h"

#include <cstring>

#include "base/check.h"
#include "events/codec.h"

namespace karst::events {
namespace {

class MemoryCursor final : public Cursor {
 public:
  MemoryCursor(const MemoryLog& log, model::Position from)
      : log_(log), next_(from.value()), end_(log.end().value()) {}

  base::Result<std::optional<Event>> next() override {
    if (next_ >= end_) return std::optional<Event>();
    const model::Position position(next_);
    base::Result<Event> event = decode_event(position, log_.stored(position));
    if (!event) return base::fail(event.error());
    ++next_;
    return std::optional<Event>(*event);
  }

 private:
  const MemoryLog& log_;
  std::uint64_t next_;
  std::uint64_t end_;
};

}  // namespace

MemoryLog::MemoryLog(model::LogId id, base::WallTime created) : id_(std::move(id)) {
  Record record = make_record(LogCreated{id_});
  record.log_time = base::LogTime(created.value());
  record.wall_time = created;
  KARST_CHECK(append({&record, 1}, Durability::kSynced).has_value(),
              "memory takes the first event");
}

base::Result<model::Position> MemoryLog::append(std::span<const Record> records, Durability) {
  const std::lock_guard lock(mutex_);
  const model::Position first(values_.size() + 1);
  for (const Record& record : records) {
    encode_event(model::Position(values_.size() + 1), record, scratch_);
    Stored stored;
    stored.size = scratch_.size();
    stored.words = std::make_unique_for_overwrite<std::uint64_t[]>((stored.size + 7) / 8);
    std::memcpy(stored.words.get(), scratch_.data(), stored.size);
    values_.push_back(std::move(stored));
  }
  return first;
}

base::Result<std::unique_ptr<Cursor>> MemoryLog::read(model::Position from) const {
  KARST_CHECK(from.value() >= 1, "positions start at 1");
  if (from < first())
    return base::fail(base::Kind::kInvalid, "position " + std::to_string(from.value()) +
                                                " cannot be read: positions 1 to " +
                                                std::to_string(first().value() - 1) +
                                                " were trimmed");
  return std::unique_ptr<Cursor>(std::make_unique<MemoryCursor>(*this, from));
}

model::Position MemoryLog::end() const {
  const std::lock_guard lock(mutex_);
  return model::Position(values_.size() + 1);
}

model::Position MemoryLog::first() const {
  const std::lock_guard lock(mutex_);
  return model::Position(baseline_ ? baseline_->position.value() + 1 : 1);
}

base::Result<std::optional<Baseline>> MemoryLog::baseline() const {
  const std::lock_guard lock(mutex_);
  return baseline_;
}

void MemoryLog::trim(Baseline baseline) {
  KARST_CHECK(baseline.position.value() % kTrimTile == 0 && baseline.position < end(),
              "a log is trimmed by whole tiles, and what is left has an end");
  const std::lock_guard lock(mutex_);
  baseline_ = std::move(baseline);
}

std::string_view MemoryLog::stored(model::Position position) const {
  const std::lock_guard lock(mutex_);
  KARST_CHECK(position.value() >= 1 && position.value() <= values_.size(), "inside the log");
  const Stored& stored = values_[position.value() - 1];
  return {reinterpret_cast<const char*>(stored.words.get()), stored.size};
}

}  // namespace karst::events
