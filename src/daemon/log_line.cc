#include "daemon/log_line.h"

#include <fmt/format.h>

#include "base/time.h"
#include "daemon/words.h"

namespace karst::daemon {
namespace {

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20)
          out += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
        else
          out += c;
    }
  }
  out += '"';
}

std::string_view level_name(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "DEBUG";
    case LogLevel::kInfo:
      return "INFO";
    case LogLevel::kWarn:
      return "WARN";
    case LogLevel::kError:
      return "ERROR";
  }
  return "";
}

}  // namespace

std::string json_string(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

LogLevel level_of(std::string_view line) {
  for (const LogLevel level : {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarn})
    if (line.starts_with(fmt::format("{{\"level\":\"{}\"", level_name(level)))) return level;
  return LogLevel::kError;
}

LogLine::LogLine(LogLevel level, std::int64_t unix_millis, std::string_view message,
                 std::string_view commit, const LogSubject& subject,
                 std::string_view reconcile_id) {
  line_ = "{\"level\":";
  append_json_string(line_, level_name(level));
  text("time", base::format_rfc3339(unix_millis));
  text("logger", "controller");
  text("message", message);
  text("commit", commit);
  text("controller", subject.controller);
  if (!subject.kind.empty()) {
    text("controllerGroup", subject.group);
    text("controllerKind", subject.kind);
    object(subject.kind, subject.name);
  }
  text("namespace", "");
  text("name", subject.name);
  text("reconcileID", reconcile_id);
}

void LogLine::key(std::string_view name) {
  line_ += ',';
  append_json_string(line_, name);
  line_ += ':';
}

LogLine& LogLine::text(std::string_view name, std::string_view value) {
  key(name);
  append_json_string(line_, value);
  return *this;
}

LogLine& LogLine::number(std::string_view name, std::int64_t value) {
  key(name);
  line_ += std::to_string(value);
  return *this;
}

LogLine& LogLine::object(std::string_view name, std::string_view value) {
  return raw(name, fmt::format("{{\"name\":{}}}", json_string(value)));
}

LogLine& LogLine::amounts(std::string_view name, const model::Resources& resources) {
  std::string json = "{";
  for (const auto& [resource, quantity] : quantities(resources)) {
    if (json.size() > 1) json += ',';
    append_json_string(json, resource);
    json += ':';
    append_json_string(json, quantity);
  }
  return raw(name, json + "}");
}

LogLine& LogLine::raw(std::string_view name, std::string_view json) {
  key(name);
  line_ += json;
  return *this;
}

}  // namespace karst::daemon
