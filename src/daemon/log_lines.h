// What a cluster's log says of a round, in Karpenter's messages, controllers and keys. Plain
// values, one thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "daemon/happening.h"
#include "daemon/log_line.h"

namespace karst::daemon {

// What a cluster's log says of a round: lines of at least the level `least`.
class LogLines {
 public:
  LogLines(std::string commit, std::string log_id, LogLevel least = LogLevel::kInfo)
      : commit_(std::move(commit)), log_id_(std::move(log_id)), least_(least) {}

  std::vector<std::string> tell(const std::vector<Happening>& happenings, const Watcher& watcher,
                                std::int64_t round_millis) const;
  // A line about karst itself that no event stands behind; empty: below the level.
  std::string remark(LogLevel level, base::WallTime time, std::string_view message) const;

 private:
  LogLine start(const Happening& h, LogLevel level, std::string_view message,
                const LogSubject& subject) const;
  std::string line_of(const Happening& happening) const;  // empty: no line
  std::string claim_line(const Happening& happening) const;
  std::string leaving_line(const Happening& happening) const;
  std::string refused_line(const Happening& happening) const;
  std::string not_sent_line(const Happening& happening) const;
  void provisioning_lines(const std::vector<Happening>& happenings, const Watcher& watcher,
                          std::int64_t round_millis, std::vector<std::string>& lines) const;

  std::string commit_;
  std::string log_id_;
  LogLevel least_;
};

// Leaves out what was told not long ago: each pass over pods without a place says the same of them.
class Repeated {
 public:
  static constexpr std::int64_t kWindowMillis = 5 * base::kMillisPerMinute;
  static constexpr std::size_t kRememberedMax = 20'000;  // beyond, all of it is told once more

  std::vector<Happening> without(const std::vector<Happening>& happenings);

 private:
  std::map<std::string, base::LogTime> told_;  // pod and reasons
};

}  // namespace karst::daemon
