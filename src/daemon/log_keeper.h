// Looks after the log's folder on a thread of its own: tells sizes, says long before the disk is
// full (size_watch.h), and, where an archive was asked for, seals what is complete into it
// (events/archive.h), of which the log is told by LogArchived; and trims what is older than was
// asked for, once the archive has it (trimmer.h): looked for once an hour, at most
// kTrimEventsMax events in one go, and no round waits for it. What is too old for the archive goes
// from there, once it has gone from the log (expirer.h): looked for once a day. It reads the log as
// any other thread may; a failure stops nothing: it is an alarm, and tried again. start() once; the
// destructor ends the thread, after the segment that it is writing.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/clock.h"
#include "daemon/expirer.h"
#include "daemon/kill_points.h"
#include "daemon/notices.h"
#include "daemon/retention.h"
#include "daemon/size_watch.h"
#include "daemon/trimmer.h"
#include "daemon/view.h"
#include "events/archive.h"
#include "events/rocks_log.h"
#include "ports/fact.h"

namespace karst::daemon {

inline constexpr std::int64_t kKeepEveryMillis = 10'000;  // between two looks, in real time
// Between two, while the log is being told what is about to go.
inline constexpr std::int64_t kToldEveryMillis = 250;
inline constexpr std::int64_t kTrimEveryMillis = 3'600'000;  // between two tries to trim
// Between two tries to let segments expire: each that does reads all of the archive.
inline constexpr std::int64_t kExpireEveryMillis = 24 * 3'600'000;
// In one go; a baseline is written for each.
inline constexpr std::uint64_t kTrimEventsMin = events::kSegmentEventsMax;
inline constexpr std::uint64_t kTrimEventsMax = 64 * events::kSegmentEventsMax;

struct LogKeeperParts {
  events::RocksLog* log = nullptr;  // all of these outlive it
  std::string data;                 // its folder
  std::string archive;              // empty: none
  const base::Clock* clock = nullptr;
  ports::FactSink* sink = nullptr;
  ViewBoard* board = nullptr;
  Notices* notices = nullptr;
  std::optional<Retention> retain;  // none: nothing is trimmed; with an archive only
  std::int64_t keep_every_millis = kKeepEveryMillis;  // shorter for tests
  KillPoints kill_points{};                           // of trimming and expiry
  events::LogSizes (*sizes_of)(const std::string& folder) = events::sizes_of;  // made up for tests
};

class LogKeeper {
 public:
  explicit LogKeeper(LogKeeperParts parts) : parts_(std::move(parts)) {}
  ~LogKeeper();
  // Errors: those of the archive; nothing runs then.
  base::Status start();

 private:
  void run();
  void look();
  bool archive_fits();
  void seal();
  void trim();
  base::Status begin_trim();
  base::Status end_trim();
  void expire();
  base::Status begin_expiry();
  base::Status end_expiry();
  base::Status seal_next(model::Position last);
  base::Result<base::LogTime> last_time() const;
  void archived_again();
  void alarm_once(bool& failing, const std::string& what, const base::Error& error);
  bool stopped();

  LogKeeperParts parts_;
  std::optional<events::Archive> archive_;
  SizeWatch sizes_;
  bool failing_ = false;      // the archive, as was said
  std::optional<bool> fits_;  // the log; none: that is not known yet
  std::optional<Trimmer> trimmer_;
  std::optional<events::BaselineNote> kept_;  // the log is being told of it
  model::Position told_from_;                 // or later
  std::int64_t trim_due_millis_ = 0;          // monotonic
  bool trim_failing_ = false;                 // as was said
  std::optional<Expirer> expirer_;
  std::optional<events::BaselineNote> expiring_;  // the log is being told of it
  model::Position expiry_told_from_;              // or later
  std::int64_t expiry_due_millis_ = 0;            // monotonic
  bool expiry_failing_ = false;                   // as was said
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace karst::daemon
