// The engine's thread: takes facts from the inbox, runs rounds, then does what each round says:
// acknowledge, dispatch, publish. Facts outside the urgent lane cause at most kRoundsPerSecondMax
// rounds a second; urgent ones and due wake-ups never wait. run() is called on one thread, which
// becomes the owner of log and state; inbox(), stop() and view() are for any.
//
// A full disk ends nothing: the ballast is given up, the same round is tried again until it is
// durable, no new facts are taken meanwhile, and /readyz and an alarm say so. Any other error of
// the log ends run(); the state in memory is then worthless, and the process must end and recover.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "daemon/happening.h"
#include "daemon/inbox.h"
#include "daemon/indexer.h"
#include "daemon/kill_points.h"
#include "daemon/log_time.h"
#include "daemon/notices.h"
#include "daemon/standby.h"
#include "daemon/view.h"
#include "engine/engine.h"
#include "events/event_log.h"
#include "events/snapshots.h"
#include "ports/command_port.h"
#include "ports/lease_port.h"
#include "ports/queue_port.h"
#include "projections/cluster_state.h"
#include "providers/provider.h"

namespace karst::daemon {

inline constexpr std::int64_t kRoundsPerSecondMax = 20;
inline constexpr std::int64_t kIdleWaitMaxMillis = 1000;  // between two looks at clock and view
inline constexpr std::int64_t kFullRetryMillis = 1000;    // between two tries on a full disk
inline constexpr std::int64_t kSpaceLookMillis = 1000;    // between two looks for room for ballast

// What must have been listed before this is ready.
inline constexpr std::array<std::string_view, 12> kListedKinds = {
    "Pod",       "Node",     "NodeClaim",        "NodePool",     "NodeClass",
    "DaemonSet", "Instance", "PersistentVolume", "StorageClass", "PersistentVolumeClaim",
    "CSINode",   "Namespace"};

// Everything that the daemon works with. All of it outlives the daemon; `snapshots` and `queue` may
// be nullptr.
struct DaemonParts {
  events::EventLog* log = nullptr;
  events::Snapshots* snapshots = nullptr;
  const providers::Provider* provider = nullptr;
  const base::Clock* clock = nullptr;
  ports::CommandPort* objects = nullptr;    // the API server's hands
  ports::CommandPort* instances = nullptr;  // the cloud's hands
  ports::QueuePort* queue = nullptr;
  const ports::LeasePort* lease = nullptr;
  Notices* notices = nullptr;
  const LineWriter* lines = nullptr;  // for the count of dropped notices
  KillPoints* kill_points = nullptr;
  ViewBoard* board = nullptr;             // a view is published there after each round
  std::function<void()> release_ballast;  // called when the disk is full; may be empty
  std::function<bool()> restore_ballast;  // asked now and then after that; may be empty
  bool log_space_low = false;             // there is no ballast from the start
  std::optional<events::LogTailCut> cut;  // what opening the log cut off
  // Who read the trail while no daemon ran; the function is called once they are in the log. May be
  // empty.
  std::vector<events::AccessRecorded> accesses;
  std::function<void()> accesses_recorded;
  std::function<IndexLag()> index_lag;  // may be empty
  // The API server's clock minus this machine's wall clock, when it was last heard; may be empty.
  std::function<std::optional<std::int64_t>()> server_offset_millis;
  // Called once, when the log is read and before the first round. May be empty.
  std::function<void(const projections::ClusterState& state)> recovered;
  engine::EngineOptions engine;
  bool objects_in_metrics = true;  // also series per node, pool and condition
  std::int64_t speed = 1;          // milliseconds of `clock` in one real millisecond
};

// Leads always: one replica without a lease.
class AlwaysLeads final : public ports::LeasePort {
 public:
  bool contested() const override { return false; }
  std::int64_t send_deadline_monotonic_millis(std::uint64_t) const override { return INT64_MAX; }
};

class Daemon {
 public:
  explicit Daemon(DaemonParts parts);

  // Until stop(). Returns the error that ended it.
  base::Status run();
  void stop();  // not from a signal handler

  Inbox& inbox() { return inbox_; }

 private:
  base::Status recover();
  std::vector<ports::Fact> wait_for_facts();
  base::Status round(std::vector<ports::Fact> facts);
  base::Status wait_for_space(base::Error error);
  void carry_out(engine::Round& round);
  void acknowledge(const engine::Round& round);
  void dispatch(engine::Round& round);
  base::Status tell(model::Position through, std::int64_t round_millis);
  void publish();
  void refresh_gauges();
  base::LogTime log_now();
  bool wake_due();
  std::chrono::milliseconds real(std::int64_t clock_millis) const;
  void watch_wall_clock();
  void watch_space();

  DaemonParts parts_;
  KillPointLog log_;
  std::optional<KillPointSnapshots> snapshots_;
  engine::Engine engine_;
  Inbox inbox_;
  Watcher watcher_;
  Standing standing_;
  Counters counters_;
  std::shared_ptr<const Gauges> gauges_;
  std::int64_t gauges_due_millis_ = 0;  // monotonic
  std::int64_t synced_millis_ = 0;      // monotonic; when it was last ready
  std::optional<LogTimeline> timeline_;
  std::optional<base::LogTime> wake_at_;
  model::Position told_through_;
  std::int64_t last_round_monotonic_millis_ = 0;
  std::int64_t round_millis_ = 0;
  bool recovered_ = false;
  bool disk_full_ = false;
  bool ballast_released_ = false;
  std::int64_t look_for_space_millis_ = 0;  // monotonic
  int failures_in_a_row_ = 0;               // of appends
  std::atomic<bool> stopping_{false};
  std::optional<std::int64_t> server_offset_millis_;
};

// Log time of the last event; nothing for an empty log.
base::Result<std::optional<base::LogTime>> last_log_time(const events::EventLog& log);

}  // namespace karst::daemon
