// Log lines in Karpenter's words and key order, which parsers in the field rely on: level, time,
// logger, message, commit, controller, [controllerGroup, controllerKind, the object], namespace,
// name, reconcileID, then the message's own keys, error last. reconcileID is the position in the
// log that the line is about. Plain values, one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/time.h"
#include "model/resources.h"

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

// A text as JSON.
std::string json_string(std::string_view text);
// The level of a finished line.
LogLevel level_of(std::string_view line);

}  // namespace karst::daemon
