// What health and metrics may see of the engine: an immutable picture, published after each round.
// Made on the engine thread, read on any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "daemon/happening.h"
#include "model/ids.h"

namespace karst::daemon {

// Counted since this process started.
struct Counters {
  std::uint64_t facts = 0;
  std::uint64_t decisions = 0;
  std::uint64_t rounds = 0;
  std::uint64_t failed_appends = 0;
  std::map<std::string, std::uint64_t> claims_created;                  // by pool
  std::map<std::string, std::uint64_t> nodes_created;                   // by pool
  std::map<std::string, std::uint64_t> nodes_terminated;                // by pool
  std::map<std::string, std::uint64_t> launches_refused;                // by reason
  std::map<std::string, std::uint64_t> interruptions;                   // by kind
  std::map<std::vector<std::string>, std::uint64_t> claims_terminated;  // pool, capacity type, zone

  void count(const Happening& happening);
};

struct View {
  bool recovered = false;
  bool disk_full = false;
  std::vector<std::pair<std::string, bool>> sources;  // kind, whether it was listed since the start
  model::Position through;
  base::LogTime log_time;
  std::size_t pods = 0;
  std::size_t pods_pending = 0;
  std::size_t nodes = 0;
  std::size_t claims = 0;
  std::size_t instances = 0;
  std::size_t commands_open = 0;
  std::size_t inbox = 0;
  std::int64_t fleet_price_nanos_per_hour = 0;
  std::uint64_t notices_dropped = 0;
  std::int64_t round_millis = 0;  // how long the latest round took
  Counters counters;

  bool ready() const;
};

// Where the latest view is kept. Any thread.
class ViewBoard {
 public:
  void publish(std::shared_ptr<const View> view) {
    std::lock_guard lock(mutex_);
    view_ = std::move(view);
  }
  std::shared_ptr<const View> read() const {
    std::lock_guard lock(mutex_);
    return view_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const View> view_ = std::make_shared<const View>();
};

}  // namespace karst::daemon
