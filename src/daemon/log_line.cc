#include "daemon/log_line.h"

#include <fmt/format.h>

#include <set>

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

std::string json_string(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
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

// Of a finished line.
LogLevel level_of(std::string_view line) {
  for (const LogLevel level : {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarn})
    if (line.starts_with(fmt::format("{{\"level\":\"{}\"", level_name(level)))) return level;
  return LogLevel::kError;
}

LogSubject lifecycle_of(const Happening& h) {
  return {"nodeclaim.lifecycle", "karpenter.sh", "NodeClaim", h.claim};
}

LogSubject termination_of(const Happening& h) {
  return {"node.termination", "", "Node", h.node};
}

bool is_interruption(std::string_view reason) {
  for (int kind = 0; kind < static_cast<int>(model::InterruptionKind::kOther); ++kind)
    if (reason == model::interruption_kind_name(static_cast<model::InterruptionKind>(kind)))
      return true;
  return false;
}

}  // namespace

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

LogLine LogLines::start(const Happening& h, LogLevel level, std::string_view message,
                        const LogSubject& subject) const {
  return LogLine(level, h.time.value(), message, commit_, subject,
                 fmt::format("{}-{}", log_id_, h.position.value()));
}

std::string LogLines::remark(LogLevel level, base::WallTime time, std::string_view message) const {
  if (level < least_) return "";
  return LogLine(level, time.value(), message, commit_, {"karst", "", "", ""}, log_id_).take();
}

std::string LogLines::claim_line(const Happening& h) const {
  switch (h.kind) {
    case HappeningKind::kClaimCreated:
      return start(h, LogLevel::kInfo, "created nodeclaim", {"provisioner", "", "", ""})
          .object("NodePool", h.pool)
          .object("NodeClaim", h.claim)
          .amounts("requests", h.resources)
          .text("instance-types", names_list(h.instance_types))
          .take();
    case HappeningKind::kLaunched:
      return start(h, LogLevel::kInfo, "launched nodeclaim", lifecycle_of(h))
          .text("provider-id", h.provider_id)
          .text("instance-type", h.offer.instance_type)
          .text("zone", h.offer.zone)
          .text("capacity-type", h.offer.capacity_type)
          .amounts("allocatable", h.resources)
          .take();
    case HappeningKind::kLaunchRefused:
      return start(h, LogLevel::kError, "failed launching nodeclaim", lifecycle_of(h))
          .text("error", h.text.empty() ? h.reason : h.reason + ": " + h.text)
          .take();
    case HappeningKind::kRegistered:
      return start(h, LogLevel::kInfo, "registered nodeclaim", lifecycle_of(h))
          .text("provider-id", h.provider_id)
          .object("Node", h.node)
          .take();
    case HappeningKind::kInitialized:
      return start(h, LogLevel::kInfo, "initialized nodeclaim", lifecycle_of(h))
          .text("provider-id", h.provider_id)
          .object("Node", h.node)
          .amounts("allocatable", h.resources)
          .take();
    default:  // kClaimGone
      return start(h, LogLevel::kInfo, "deleted nodeclaim", lifecycle_of(h))
          .text("provider-id", h.provider_id)
          .object("Node", h.node)
          .take();
  }
}

std::string LogLines::leaving_line(const Happening& h) const {
  if (is_interruption(h.reason)) {
    return start(h, LogLevel::kInfo, "initiating delete from interruption message",
                 {"interruption", "", "", ""})
        .text("queue", "")
        .text("messageKind", h.reason)
        .object("NodeClaim", h.claim)
        .text("action", "CordonAndDrain")
        .object("Node", h.node)
        .take();
  }
  if (h.node.empty()) {
    return start(h, LogLevel::kInfo, "deleting nodeclaim", lifecycle_of(h))
        .text("reason", h.reason)
        .take();
  }
  const std::string command = fmt::format(
      "{}/{}-{}: delete: nodepools=[{}]: [{}] -> [0 replacements] (savings: {})", h.reason, log_id_,
      h.position.value(), h.pool, h.node, dollars(h.offer.price_nanos_per_hour));
  const std::string disrupted = fmt::format(
      "[{{\"Node\":{{\"name\":{}}},\"NodeClaim\":{{\"name\":{}}},\"capacity-type\":{},"
      "\"instance-type\":{}}}]",
      json_string(h.node), json_string(h.claim), json_string(h.offer.capacity_type),
      json_string(h.offer.instance_type));
  return start(h, LogLevel::kInfo, "disrupting node(s)", {"disruption", "", "", ""})
      .text("command", command)
      .text("decision", "delete")
      .number("disrupted-node-count", 1)
      .number("replacement-node-count", 0)
      .number("pod-count", 0)
      .raw("disrupted-nodes", disrupted)
      .raw("replacement-nodes", "[]")
      .take();
}

std::string LogLines::line_of(const Happening& h) const {
  switch (h.kind) {
    case HappeningKind::kClaimCreated:
    case HappeningKind::kLaunched:
    case HappeningKind::kLaunchRefused:
    case HappeningKind::kRegistered:
    case HappeningKind::kInitialized:
    case HappeningKind::kClaimGone:
      return claim_line(h);
    case HappeningKind::kLeaving:
      return leaving_line(h);
    case HappeningKind::kTainted:
      return start(h, LogLevel::kInfo, "tainted node", termination_of(h))
          .object("NodeClaim", h.claim)
          .text("taint.Key", h.args.empty() ? "" : h.args[0])
          .text("taint.Value", h.args.size() < 2 ? "" : h.args[1])
          .text("taint.Effect", h.args.size() < 3 ? "" : h.args[2])
          .take();
    case HappeningKind::kNodeGone:
      if (h.claim.empty()) return "";
      return start(h, LogLevel::kInfo, "deleted node", termination_of(h))
          .object("NodeClaim", h.claim)
          .take();
    case HappeningKind::kVerdict:
      return start(h, LogLevel::kInfo, "reached verdict", {"karst", "", "", ""})
          .text("subject", h.text)
          .text("code", h.reason)
          .text("arguments", fmt::format("{}", fmt::join(h.args, ", ")))
          .take();
    case HappeningKind::kStarted:
      return start(h, LogLevel::kInfo, "starting karst", {"karst", "", "", ""})
          .text("version", h.text)
          .text("decision-version", h.reason)
          .take();
    case HappeningKind::kWallClockJumped:
      return start(h, LogLevel::kError, "wall clock differs from log time", {"karst", "", "", ""})
          .text("difference", duration_text(h.millis))
          .take();
    case HappeningKind::kLogSpaceLow:
      return start(h, LogLevel::kError, "the disk of the log is full, nothing new is started",
                   {"karst", "", "", ""})
          .take();
    case HappeningKind::kLogSpaceBack:
      return start(h, LogLevel::kInfo, "the log has room again", {"karst", "", "", ""}).take();
    case HappeningKind::kTailCut:
      return start(h, LogLevel::kError, "cut the torn end of the log", {"karst", "", "", ""})
          .text("error", h.text)
          .take();
    case HappeningKind::kPodWaiting:
    case HappeningKind::kPodsExpected:
    case HappeningKind::kPodBound:
    case HappeningKind::kPodGone:
    case HappeningKind::kInterrupted:
    case HappeningKind::kEvicted:
    case HappeningKind::kTerminated:
    case HappeningKind::kPodUnplaced:
    case HappeningKind::kConditionChanged:
    case HappeningKind::kDeadlineSet:
    case HappeningKind::kTaintMissing:
    case HappeningKind::kEvictionHeld:
    case HappeningKind::kDrainWaits:
      return "";
  }
  return "";
}

void LogLines::provisioning_lines(const std::vector<Happening>& happenings, const Watcher& watcher,
                                  std::int64_t round_millis,
                                  std::vector<std::string>& lines) const {
  const Happening* first = nullptr;
  std::vector<std::string> pods;
  std::size_t new_claims = 0, pods_on_new = 0, pods_on_others = 0;
  std::set<std::string> others;
  for (const Happening& h : happenings) {
    if (h.kind != HappeningKind::kPodsExpected) continue;
    if (first == nullptr) first = &h;
    pods.insert(pods.end(), h.args.begin(), h.args.end());
    const auto memo = watcher.claims().find(h.claim);
    if (memo != watcher.claims().end() && !memo->second.created) {
      ++new_claims;
      pods_on_new += h.args.size();
    } else {
      others.insert(h.node.empty() ? h.claim : h.node);
      pods_on_others += h.args.size();
    }
  }
  if (first == nullptr) return;
  const LogSubject provisioner{"provisioner", "", "", ""};
  lines.push_back(start(*first, LogLevel::kInfo, "found provisionable pod(s)", provisioner)
                      .text("Pods", names_list(pods))
                      .text("duration", duration_text(round_millis))
                      .take());
  if (new_claims > 0)
    lines.push_back(
        start(*first, LogLevel::kInfo, "computed new nodeclaim(s) to fit pod(s)", provisioner)
            .number("nodeclaims", static_cast<std::int64_t>(new_claims))
            .number("pods", static_cast<std::int64_t>(pods_on_new))
            .take());
  if (!others.empty())
    lines.push_back(
        start(*first, LogLevel::kInfo, "computed unready node(s) will fit pod(s)", provisioner)
            .number("nodes", static_cast<std::int64_t>(others.size()))
            .number("pods", static_cast<std::int64_t>(pods_on_others))
            .take());
}

std::vector<std::string> LogLines::tell(const std::vector<Happening>& happenings,
                                        const Watcher& watcher, std::int64_t round_millis) const {
  std::vector<std::string> lines;
  provisioning_lines(happenings, watcher, round_millis, lines);
  for (const Happening& h : happenings) {
    std::string line = line_of(h);
    if (!line.empty()) lines.push_back(std::move(line));
  }
  std::erase_if(lines, [this](const std::string& line) { return level_of(line) < least_; });
  return lines;
}

}  // namespace karst::daemon
