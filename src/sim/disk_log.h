// The log on a simulated disk: in memory, but a crash may strike at any append, before or after it
// took place, and a loss of power takes everything that was not synced. Keeps the contract of
// events/event_log.h. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "events/event_log.h"

namespace karst::sim {

class DiskLog final : public events::EventLog {
 public:
  enum class Fate { kWritten, kFull, kCrashBefore, kCrashAfter };

  // Holds LogCreated at position 1, synced.
  DiskLog(model::LogId id, std::int64_t unix_millis);

  // Decides over every append; everything is written while there is none.
  void on_append(std::function<Fate(std::span<const events::Record>)> fate) {
    fate_ = std::move(fate);
  }

  // After a crash the log refuses appends until the next process opens it.
  void reopen() { crashed_ = false; }
  bool crashed() const { return crashed_; }
  void lose_power();

  // First position that is not on stable storage.
  std::uint64_t durable_end() const { return durable_end_; }
  // Stored bytes of one event. REQUIRES: 1 <= position < end().
  std::string_view stored(model::Position position) const;

  const model::LogId& id() const override { return id_; }
  base::Result<model::Position> append(std::span<const events::Record> records,
                                       events::Durability durability) override;
  base::Result<std::unique_ptr<events::Cursor>> read(model::Position from) const override;
  model::Position end() const override { return model::Position(values_.size() + 1); }

 private:
  struct Stored {
    std::unique_ptr<std::uint64_t[]> words;  // 8-byte aligned
    std::size_t size = 0;
  };
  void write(std::span<const events::Record> records, events::Durability durability);

  model::LogId id_;
  std::vector<Stored> values_;
  std::uint64_t durable_end_ = 1;
  bool crashed_ = false;
  std::function<Fate(std::span<const events::Record>)> fate_;
  std::string scratch_;
};

}  // namespace karst::sim
