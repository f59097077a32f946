#include "daemon/log_lines.h"

#include <fmt/format.h>

#include <set>

#include "daemon/words.h"

namespace karst::daemon {
namespace {

LogSubject lifecycle_of(const Happening& h) {
  return {"nodeclaim.lifecycle", "karpenter.sh", "NodeClaim", h.claim};
}

LogSubject termination_of(const Happening& h) {
  return {"node.termination", "", "Node", h.node};
}

bool is_interruption(std::string_view reason) {
  for (int kind = 0; kind < model::kInterruptionKinds; ++kind)
    if (reason == model::interruption_kind_name(static_cast<model::InterruptionKind>(kind)))
      return true;
  return false;
}

}  // namespace

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
    case HappeningKind::kClaimRefused:
      return start(h, LogLevel::kError, "failed creating nodeclaim", {"provisioner", "", "", ""})
          .object("NodePool", h.pool)
          .text("error", h.text.empty() ? h.reason : h.reason + ": " + h.text)
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
  if (h.reason == "unhealthy") {
    return start(h, LogLevel::kInfo, "deleting unhealthy node", {"node.health", "", "Node", h.node})
        .object("NodeClaim", h.claim)
        .text("condition", h.args.empty() ? "" : h.args[0])
        .take();
  }
  const std::string_view voluntary = disruption_reason(h.reason);
  if (voluntary.empty() || h.node.empty()) {
    LogLine line = start(h, LogLevel::kInfo, "deleting nodeclaim", lifecycle_of(h));
    line.text("reason", h.reason);
    if (!h.node.empty()) line.object("Node", h.node);
    return line.take();
  }
  const std::string command =
      fmt::format("{}/{}-{}: delete: nodepools=[{}]: [{}] (savings: {})", voluntary, log_id_,
                  h.position.value(), h.pool, h.node, cents(h.offer.price_nanos_per_hour));
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
      .number("pod-count", h.count)
      .raw("disrupted-nodes", disrupted)
      .raw("replacement-nodes", "[]")
      .take();
}

std::string LogLines::line_of(const Happening& h) const {
  switch (h.kind) {
    case HappeningKind::kClaimCreated:
    case HappeningKind::kClaimRefused:
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
    case HappeningKind::kNotSent:
      return not_sent_line(h);
    case HappeningKind::kPodUnplaced:
      return start(h, LogLevel::kError, "could not schedule pod", {"provisioner", "", "", ""})
          .raw("Pod", fmt::format("{{\"name\":{},\"namespace\":{}}}", json_string(h.pod),
                                  json_string(h.namespace_name)))
          .text("error", fmt::format("{}", fmt::join(h.args, "; ")))
          .take();
    case HappeningKind::kDeadlineSet:
      return start(h, LogLevel::kInfo, "annotated nodeclaim", lifecycle_of(h))
          .text("provider-id", h.provider_id)
          .object("Node", h.node)
          .text("karpenter.sh/nodeclaim-termination-timestamp",
                base::format_rfc3339_seconds(h.millis))
          .take();
    case HappeningKind::kNoPools:
      return start(h, LogLevel::kInfo, "no dynamic nodepools found", {"provisioner", "", "", ""})
          .take();
    case HappeningKind::kConditionChanged:
      if (h.reason != "ConsistentStateFound" || h.args.at(1) != "False") return "";
      return start(h, LogLevel::kError, "failed consistency check",
                   {"nodeclaim.consistency", "karpenter.sh", "NodeClaim", h.claim})
          .text("error", h.args.at(3))
          .take();
    case HappeningKind::kVerdict:
      if (h.reason == "not_ready" && !h.pool.empty())
        return start(h, LogLevel::kError, "ignoring nodepool, not ready",
                     {"provisioner", "", "", ""})
            .object("NodePool", h.pool)
            .text("error", fmt::format("{}", fmt::join(h.args, ", ")))
            .take();
      if (h.reason == "budget_unreadable")
        return start(h, LogLevel::kError, "detected disruption budget errors",
                     {"disruption", "", "", ""})
            .text("error", fmt::format("invalid disruption.budgets in nodepool {}, {}", h.pool,
                                       fmt::join(h.args, ", ")))
            .take();
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
    case HappeningKind::kInputRefused:
      return refused_line(h);
    case HappeningKind::kTailCut:
      return start(h, LogLevel::kError, "cut the torn end of the log", {"karst", "", "", ""})
          .text("error", h.text)
          .take();
    case HappeningKind::kPodWaiting:
    case HappeningKind::kPodsExpected:
    case HappeningKind::kPodBound:
    case HappeningKind::kPodRuns:
    case HappeningKind::kCloudAnswered:
    case HappeningKind::kPodGone:
    case HappeningKind::kInterrupted:
    case HappeningKind::kEvicted:
    case HappeningKind::kTerminated:
    case HappeningKind::kPodHeldUntil:
    case HappeningKind::kPoolGone:
    case HappeningKind::kCalledOff:
    case HappeningKind::kInstanceGone:
    case HappeningKind::kTaintMissing:
    case HappeningKind::kEvictionHeld:
    case HappeningKind::kDrainWaits:
      return "";
  }
  return "";
}

std::string LogLines::refused_line(const Happening& h) const {
  return start(h, LogLevel::kError, "cannot read what a source brought", {"karst", "", "", ""})
      .text("what", h.text)
      .text("error", h.reason)
      .take();
}

std::string LogLines::not_sent_line(const Happening& h) const {
  const std::string& kind = h.args[0];
  const std::string& id = h.args[1];
  if (kind == "create-nodeclaim") {
    return start(h, LogLevel::kInfo, "would have created nodeclaim", {"provisioner", "", "", ""})
        .object("NodePool", h.pool)
        .object("NodeClaim", h.claim)
        .amounts("requests", h.resources)
        .text("instance-types", names_list(h.instance_types))
        .text("not-sent", id)
        .take();
  }
  const std::string_view message = kind == "taint-node"      ? "would have tainted node"
                                   : kind == "delete-object" ? "would have deleted nodeclaim"
                                                             : "would have sent command";
  const bool interrupted = is_interruption(h.reason);
  return start(h, LogLevel::kInfo, message,
               {interrupted ? "interruption" : "disruption", "", "", ""})
      .text("reason", h.reason)
      .object("NodeClaim", h.claim)
      .object("Node", h.node)
      .text("kind", kind)
      .text("not-sent", id)
      .take();
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
    const bool shadow = memo == watcher.claims().end() && h.node.empty();  // nobody made it
    if (shadow || (memo != watcher.claims().end() && !memo->second.created)) {
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

std::vector<Happening> Repeated::without(const std::vector<Happening>& happenings) {
  std::vector<Happening> news;
  news.reserve(happenings.size());
  for (const Happening& h : happenings) {
    if (h.kind == HappeningKind::kPodUnplaced) {
      if (told_.size() >= kRememberedMax) told_.clear();
      base::LogTime& told = told_[fmt::format("{} {}", h.pod_uid, fmt::join(h.args, ";"))];
      if (told.value() != 0 && h.time - told < kWindowMillis) continue;
      told = h.time;
    }
    news.push_back(h);
  }
  return news;
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
