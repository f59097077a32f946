// The clock as an interface: the only way time enters. Pure folders never see it; the engine is
// handed a LogTime. Implemented by src/daemon (the machine's clocks) and src/sim (a virtual clock).
#pragma once

#include <cstdint>

#include "base/time.h"

namespace karst::base {

class Clock {
 public:
  virtual ~Clock() = default;
  // Milliseconds of a steady clock with an arbitrary start. Never steps back, keeps counting over
  // suspend if the system can.
  virtual std::int64_t monotonic_millis() const = 0;
  // What the machine believes the time is. May jump in either direction at any moment.
  virtual WallTime wall() const = 0;
};

}  // namespace karst::base
