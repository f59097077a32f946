#include "sim/disk_log.h"

#include <cstring>
#include <utility>

#include "base/check.h"
#include "events/codec.h"

namespace karst::sim {

namespace {

class DiskCursor final : public events::Cursor {
 public:
  DiskCursor(const DiskLog& log, model::Position from)
      : log_(log), next_(from.value()), end_(log.end().value()) {}

  base::Result<std::optional<events::Event>> next() override {
    if (next_ >= end_) return std::optional<events::Event>();
    const model::Position position(next_);
    base::Result<events::Event> event = events::decode_event(position, log_.stored(position));
    if (!event) return base::fail(event.error());
    ++next_;
    return std::optional<events::Event>(*event);
  }

 private:
  const DiskLog& log_;
  std::uint64_t next_;
  std::uint64_t end_;
};

}  // namespace

DiskLog::DiskLog(model::LogId id, std::int64_t unix_millis) : id_(std::move(id)) {
  events::Record record = events::make_record(events::LogCreated{id_});
  record.log_time = base::LogTime(unix_millis);
  record.wall_time = base::WallTime(unix_millis);
  write({&record, 1}, events::Durability::kSynced);
}

void DiskLog::write(std::span<const events::Record> records, events::Durability durability) {
  for (const events::Record& record : records) {
    events::encode_event(end(), record, scratch_);
    Stored stored;
    stored.size = scratch_.size();
    stored.words = std::make_unique_for_overwrite<std::uint64_t[]>((stored.size + 7) / 8);
    std::memcpy(stored.words.get(), scratch_.data(), stored.size);
    values_.push_back(std::move(stored));
  }
  if (durability == events::Durability::kSynced) durable_end_ = end().value();
}

base::Result<model::Position> DiskLog::append(std::span<const events::Record> records,
                                              events::Durability durability) {
  if (crashed_) return base::fail(base::Kind::kCorrupt, "this process has crashed");
  if (records.empty()) return end();
  const model::Position first = end();
  switch (fate_ ? fate_(records) : Fate::kWritten) {
    case Fate::kWritten:
      write(records, durability);
      return first;
    case Fate::kFull:
      return base::fail(base::Kind::kFull, "no space left on the simulated disk");
    case Fate::kCrashBefore:
      break;
    case Fate::kCrashAfter:
      write(records, durability);
      break;
  }
  crashed_ = true;
  return base::fail(base::Kind::kCorrupt, "simulated crash");
}

void DiskLog::lose_power() {
  values_.resize(durable_end_ - 1);
}

base::Result<std::unique_ptr<events::Cursor>> DiskLog::read(model::Position from) const {
  KARST_CHECK(from.value() >= 1, "positions start at 1");
  return std::unique_ptr<events::Cursor>(std::make_unique<DiskCursor>(*this, from));
}

std::string_view DiskLog::stored(model::Position position) const {
  KARST_CHECK(position.value() >= 1 && position.value() <= values_.size(), "inside the log");
  const Stored& stored = values_[position.value() - 1];
  return {reinterpret_cast<const char*>(stored.words.get()), stored.size};
}

}  // namespace karst::sim
