// Log lines in Karpenter's words and key order, which parsers in the field rely on: level, time,
// logger, message, commit, controller, [controllerGroup, controllerKind, the object], namespace,
// name, reconcileID, then the message's own keys, error last. reconcileID is the position in the
// log that the line is about. Plain values, one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "daemon/happening.h"

namespace karst::daemon {

enum class LogLevel { kDebug, kInfo, kWarn, kError };

// Whose line it is. `kind` empty: a controller without an object.
struct LogSubject {
  std::string_view controller;
  std::string_view group;
  std::string_view kind;  // NodeClaim, Node
  std::string name;       // of the object
};

// One line, keys in the order they are added. No floating point, no exceptions; control characters
// are escaped.
class LogLine {
 public:
  LogLine(LogLevel level, std::int64_t unix_millis, std::string_view message,
          std::string_view commit, const LogSubject& subject, std::string_view reconcile_id);

  LogLine& text(std::string_view key, std::string_view value);
  LogLine& number(std::string_view key, std::int64_t value);
  LogLine& object(std::string_view key, std::string_view name);  // {"name":"…"}
  LogLine& amounts(std::string_view key, const model::Resources& resources);
  LogLine& raw(std::string_view key, std::string_view json);
  std::string take() { return std::move(line_) + "}"; }

 private:
  void key(std::string_view name);
  std::string line_;
};

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
  void provisioning_lines(const std::vector<Happening>& happenings, const Watcher& watcher,
                          std::int64_t round_millis, std::vector<std::string>& lines) const;

  std::string commit_;
  std::string log_id_;
  LogLevel least_;
};

}  // namespace karst::daemon
