// The faults that the world can play, how likely each is, and how often each was played. Chances
// are parts per 10,000 and count only while the storm is on; the runner plays the last group
// (crashes), the world the others.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/rng.h"

namespace karst::sim {

enum class Fault {
  // watches
  kDuplicateDelivery,  // an object event comes twice
  kLateDelivery,       // everything behind it waits too
  kWatchBreak,         // events are lost, a full list follows
  kStaleView,          // one kind lags by up to a minute for a while
  // Kubernetes writes and reads
  kWriteConflict,
  kServerError,
  kAnswerLostBeforeEffect,
  kAnswerLostAfterEffect,
  kEvictionBlocked,
  // cloud
  kNoCapacity,  // an offer runs dry for minutes
  kPartialFleet,
  kThrottled,
  kLaunchAnswerLost,  // the instances are there, the answer is not
  kLateSuccess,       // unclear now, the instances come up to two minutes later
  kListMissesInstance,
  kTerminateIgnored,  // answered with success, nothing happened
  kTerminateSlow,
  // machines
  kNeverRegisters,
  kNeverReady,
  kOutsideKill,
  // people
  kFinalizerStripped,
  kNodeDeleted,
  kClaimDeleted,
  // queue
  kMessageDuplicate,
  kMessageLate,
  kMessageForeign,
  kMessageMalformed,
  // clock
  kWallJump,
  // the process and its disk
  kCrashBeforeAppend,
  kCrashAfterAppend,
  kPowerLoss,  // a crash that also takes what was not synced
  kCrashInDispatch,
  kDiskFull,
};
inline constexpr std::size_t kFaults = static_cast<std::size_t>(Fault::kDiskFull) + 1;
std::string_view fault_name(Fault fault);

class Faults {
 public:
  explicit Faults(std::uint64_t seed) : rng_(seed, 7) {}

  void set(Fault fault, std::int64_t per_ten_thousand) {
    chances_[index(fault)] = per_ten_thousand;
  }
  std::int64_t chance_of(Fault fault) const { return chances_[index(fault)]; }
  void storm(bool on) { storm_ = on; }
  bool storming() const { return storm_; }

  // Whether it strikes now; counted when it does.
  bool strikes(Fault fault) {
    if (!storm_ || chances_[index(fault)] == 0 || !rng_.chance(chances_[index(fault)]))
      return false;
    ++hits_[index(fault)];
    return true;
  }
  void count(Fault fault) { ++hits_[index(fault)]; }
  std::uint64_t hits(Fault fault) const { return hits_[index(fault)]; }
  Rng& rng() { return rng_; }

 private:
  static std::size_t index(Fault fault) { return static_cast<std::size_t>(fault); }
  Rng rng_;
  bool storm_ = false;
  std::array<std::int64_t, kFaults> chances_{};
  std::array<std::uint64_t, kFaults> hits_{};
};

}  // namespace karst::sim
