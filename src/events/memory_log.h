// The log in memory: for tests and simulations. Holds encoded events, so that what is read back
// went through the same bytes as on disk. Same contract as RocksLog (event_log.h), LogCreated at
// position 1 included; Durability means nothing here. Events stay where they are until the log
// dies, so views from its cursors stay valid as long as the log does.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "events/event_log.h"

namespace karst::events {

class MemoryLog final : public EventLog {
 public:
  // The id is given, not drawn, so that a simulation is the same every time.
  explicit MemoryLog(model::LogId id, base::WallTime created = base::WallTime(0));

  const model::LogId& id() const override { return id_; }
  base::Result<model::Position> append(std::span<const Record> records,
                                       Durability durability) override;
  base::Result<std::unique_ptr<Cursor>> read(model::Position from) const override;
  model::Position end() const override;
  model::Position first() const override;
  base::Result<std::optional<Baseline>> baseline() const override;

  // What is up to the baseline is out of reach from now on. REQUIRES: its position is a multiple of
  // kTrimTile, and before end().
  void trim(Baseline baseline);

  // The stored bytes of an event, 8-byte aligned. REQUIRES: 1 <= position < end().
  std::string_view stored(model::Position position) const;

 private:
  struct Stored {
    std::unique_ptr<std::uint64_t[]> words;
    std::size_t size = 0;
  };
  model::LogId id_;
  mutable std::mutex mutex_;
  std::deque<Stored> values_;
  std::optional<Baseline> baseline_;
  std::string scratch_;
};

}  // namespace karst::events
