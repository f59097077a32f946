// What health and metrics may see of the engine: an immutable picture, published after each round.
// Made on the engine thread, read on any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "daemon/counters.h"
#include "daemon/gauges.h"
#include "daemon/indexer.h"
#include "events/log_folder.h"
#include "model/ids.h"

namespace karst::daemon {

struct View {
  bool recovered = false;
  bool disk_full = false;
  bool shadow = false;
  std::int64_t unsynced_millis = 0;  // since when it has not been ready
  bool leading = false;              // it decides; a standby only follows
  std::uint64_t epoch = 0;  // the one it leads in, or led in last; 0: never, or without a lease
  std::vector<std::pair<std::string, bool>> sources;  // kind, whether it was listed since the start
  std::vector<std::pair<std::string, base::LogTime>>
      heard;  // source, when it last said it is alive
  model::Position through;
  base::LogTime log_time;
  std::size_t pods = 0;
  std::size_t nodes = 0;
  std::size_t claims = 0;
  std::size_t instances = 0;
  std::size_t commands_open = 0;
  std::size_t inbox = 0;
  std::int64_t fleet_price_nanos_per_hour = 0;
  std::uint64_t notices_dropped = 0;
  std::int64_t round_millis = 0;  // how long the latest round took
  IndexLag index;
  Counters counters;
  std::shared_ptr<const Gauges> gauges;  // nullptr: none yet

  bool ready() const;
};

// How the log's folder stands, told by its keeper (log_keeper.h).
struct LogSizesView {
  events::LogSizes sizes;
  std::optional<std::int64_t> growth_bytes_per_day;
  std::uint64_t archived_from = 0;  // position: 1, or the first that has not expired; 0: no archive
  std::uint64_t archived_to = 0;    // position; 0: nothing, or no archive
  std::uint64_t first = 1;          // position at hand
};

// Where the latest view is kept. Any thread.
class ViewBoard {
 public:
  void publish_sizes(const LogSizesView& sizes) {
    std::lock_guard lock(mutex_);
    sizes_ = sizes;
  }
  std::optional<LogSizesView> sizes() const {
    std::lock_guard lock(mutex_);
    return sizes_;
  }
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
  std::optional<LogSizesView> sizes_;
  std::shared_ptr<const View> view_ = std::make_shared<const View>();
};

}  // namespace karst::daemon
