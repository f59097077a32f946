// What all parts of the world share: time, randomness, faults, the way facts leave, and the record
// of the truth. One thread. A fact leaves only while a process is connected; work planned for an
// earlier connection delivers nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "events/body.h"
#include "ports/fact.h"
#include "sim/event_queue.h"
#include "sim/faults.h"
#include "sim/history.h"
#include "sim/rng.h"

namespace karst::sim {

// The world's time: steady, plus a wall clock that faults may move.
class VirtualClock : public base::Clock {
 public:
  explicit VirtualClock(std::int64_t unix_millis) : now_(unix_millis) {}
  std::int64_t monotonic_millis() const override { return now_; }
  base::WallTime wall() const override { return base::WallTime(now_ + wall_offset_); }
  std::int64_t now() const { return now_; }
  void advance_to(std::int64_t unix_millis) {
    if (unix_millis > now_) now_ = unix_millis;
  }
  void set_wall_offset(std::int64_t millis) { wall_offset_ = millis; }
  std::int64_t wall_offset() const { return wall_offset_; }

 private:
  std::int64_t now_;
  std::int64_t wall_offset_ = 0;
};

struct Core {
  Core(std::uint64_t seed, std::int64_t start_millis, ports::FactSink& fact_sink)
      : clock(start_millis), rng(seed, 1), faults(seed), sink(fact_sink) {}

  EventQueue queue;
  VirtualClock clock;
  Rng rng;
  Faults faults;
  ports::FactSink& sink;
  History history;
  bool connected = false;
  std::uint64_t connection = 0;  // which process; answers to a dead one are lost
  std::uint64_t next_uid = 0;
  std::string run;  // part of every uid and message id
  // First position of the log that is not durable; asked when a command or an acknowledgement
  // arrives.
  std::function<std::uint64_t()> durable_end = [] { return std::uint64_t{0}; };
  std::function<void(const std::string&)> narrator;  // hears what happens; may be empty

  std::int64_t now() const { return clock.now(); }
  void after(std::int64_t millis, std::function<void()> work) {
    queue.at(now() + millis, std::move(work));
  }
  // Between the two, in steps of 50 ms so that rounds stay few.
  std::int64_t delay(std::int64_t low, std::int64_t high) {
    const std::int64_t millis = rng.between(low, high);
    return millis - millis % 50;
  }
  void emit(events::Body body, std::string receipt = {}) {
    if (connected) sink.offer(ports::Fact{std::move(body), clock.wall(), std::move(receipt)});
  }
  bool narrated() const { return static_cast<bool>(narrator); }
  void tell(const std::string& line) const {
    if (narrator) narrator(line);
  }
  std::string fresh_uid(const char* kind) {
    return std::string(kind) + "-" + run + std::to_string(++next_uid);
  }
};

}  // namespace karst::sim
