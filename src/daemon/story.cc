#include "daemon/story.h"

#include <fmt/format.h>

#include <utility>

#include "base/one_line.h"
#include "daemon/words.h"

namespace karst::daemon {

struct Story::Group {
  HappeningKind kind;
  std::string key;  // the owner, or the node
  base::LogTime time;
  std::vector<std::string> pods;
};

namespace {

constexpr std::size_t kStoryNamesMax = 3;

std::string story_node_of(const Happening& h) {
  return h.node.empty() ? (h.claim.empty() ? h.provider_id : h.claim) : h.node;
}

std::string offer_text(const model::Offer& offer) {
  if (offer.instance_type.empty()) return "";
  return fmt::format("{}, {} in {} at {}/h", offer.instance_type, offer.capacity_type, offer.zone,
                     dollars(offer.price_nanos_per_hour));
}

// The same code in plain words.
std::string_view reason_text(std::string_view reason) {
  if (reason == "spot_interrupted" || reason == "interrupted") return "its machine is taken away";
  if (reason == "empty") return "nothing runs on it";
  if (reason == "overprovisioned") return "its pool wants fewer";
  if (reason == "expired") return "it is too old";
  if (reason == "launch_timeout") return "no machine came in time";
  if (reason == "registration_timeout") return "its node never joined";
  return reason;
}

std::string_view color_of(HappeningKind kind) {
  switch (kind) {
    case HappeningKind::kInterrupted:
    case HappeningKind::kLaunchRefused:
    case HappeningKind::kInputRefused:
    case HappeningKind::kTailCut:
    case HappeningKind::kLogSpaceLow:
    case HappeningKind::kWallClockJumped:
      return "\x1b[31m";
    case HappeningKind::kLaunched:
    case HappeningKind::kInitialized:
    case HappeningKind::kLogSpaceBack:
    case HappeningKind::kPodBound:
      return "\x1b[32m";
    case HappeningKind::kLeaving:
    case HappeningKind::kTerminated:
    case HappeningKind::kClaimGone:
      return "\x1b[33m";
    default:
      return "";
  }
}

std::string interruption_line(const Happening& h) {
  const std::string when = h.millis > 0 ? " in " + duration_text(h.millis) : "";
  if (!h.text.empty()) return fmt::format("a message of the queue is nothing for us: {}", h.text);
  if (h.claim.empty())
    return fmt::format("! {}: {} goes{}, not ours", h.reason, h.provider_id, when);
  return fmt::format("! {}: the machine of {} goes{}", h.reason, story_node_of(h), when);
}

// Empty: not worth a line.
std::string verdict_line(const Happening& h) {
  if (h.reason == "placed") return "";  // the pods' own lines say it
  if (h.args.empty()) return fmt::format("? {}: {}", h.text, h.reason);
  return fmt::format("? {}: {} ({})", h.text, h.reason, fmt::join(h.args, ", "));
}

}  // namespace

std::optional<Story::Group> Story::group_of(const Happening& h) {
  switch (h.kind) {
    case HappeningKind::kPodWaiting:
      return Group{h.kind, h.owner, h.time, {h.pod}};
    case HappeningKind::kPodBound:
      return Group{h.kind, h.node, h.time, {h.pod}};
    case HappeningKind::kPodGone:
      return Group{h.kind, "", h.time, {h.pod}};
    case HappeningKind::kEvicted:
      return Group{h.kind, h.node, h.time, {h.pod}};
    default:
      return std::nullopt;
  }
}

std::string Story::line_of(const Group& group) const {
  const std::string pods = counted(group.pods.size(), "pod");
  const std::string names = names_list(group.pods, kStoryNamesMax);
  const bool one = group.pods.size() == 1;
  switch (group.kind) {
    case HappeningKind::kPodWaiting:
      return fmt::format("+ {}{} {} for a node ({})", pods,
                         group.key.empty() ? "" : " of " + group.key, one ? "waits" : "wait",
                         names);
    case HappeningKind::kPodBound:
      return fmt::format("{} {} a place on {} ({})", pods, one ? "has" : "have", group.key, names);
    case HappeningKind::kEvicted:
      return fmt::format("{} {} asked to leave {} ({})", pods, one ? "is" : "are", group.key,
                         names);
    default:
      return fmt::format("- {} {} gone ({})", pods, one ? "is" : "are", names);
  }
}

std::string Story::line_of(const Happening& h) const {
  switch (h.kind) {
    case HappeningKind::kStarted:
      return fmt::format("karst {} starts (log position {})", h.text, h.position.value());
    case HappeningKind::kPodsExpected:
      return fmt::format("{} will fit on {}", counted(h.args.size(), "pod"), story_node_of(h));
    case HappeningKind::kClaimCreated:
      return fmt::format("claim {} created: its pods need {}", h.claim, size_text(h.resources));
    case HappeningKind::kLaunched:
      return fmt::format("launched {}: {}", h.claim, offer_text(h.offer));
    case HappeningKind::kLaunchRefused:
      return fmt::format("! {} could not be launched: {}{}{}", h.claim, h.reason,
                         h.text.empty() ? "" : ": ", h.text);
    case HappeningKind::kRegistered:
      return fmt::format("node {} has joined", story_node_of(h));
    case HappeningKind::kInitialized:
      return fmt::format("node {} is ready for pods", story_node_of(h));
    case HappeningKind::kInterrupted:
      return interruption_line(h);
    case HappeningKind::kLeaving:
      return fmt::format("{} is to go: {}", story_node_of(h), reason_text(h.reason));
    case HappeningKind::kTainted:
      return fmt::format("{} takes no new pods", h.node);
    case HappeningKind::kTerminated:
      return fmt::format("the machine of {} is ended{}", story_node_of(h),
                         h.offer.instance_type.empty() ? "" : " (" + offer_text(h.offer) + ")");
    case HappeningKind::kClaimGone:
      return fmt::format("claim {} is gone", h.claim);
    case HappeningKind::kNotSent:
      return fmt::format("not sent: {} of {}: {}", h.args[0], story_node_of(h),
                         reason_text(h.reason));
    case HappeningKind::kVerdict:
      return verdict_line(h);
    case HappeningKind::kWallClockJumped:
      return fmt::format("! the machine's clock is off by {}", duration_text(h.millis));
    case HappeningKind::kLogSpaceLow:
      return "! the disk of the log is full: open work is finished, nothing new is started";
    case HappeningKind::kLogSpaceBack:
      return "the log has room again";
    case HappeningKind::kInputRefused:
      return fmt::format("! {} cannot be read: {}", h.text, h.reason);
    case HappeningKind::kTailCut:
      return fmt::format("! the torn end of the log was cut: {}", h.text);
    case HappeningKind::kPodWaiting:
    case HappeningKind::kPodBound:
    case HappeningKind::kPodRuns:
    case HappeningKind::kCloudAnswered:
    case HappeningKind::kPodGone:
    case HappeningKind::kEvicted:
    case HappeningKind::kNodeGone:
    case HappeningKind::kPodUnplaced:
    case HappeningKind::kConditionChanged:
    case HappeningKind::kDeadlineSet:
    case HappeningKind::kTaintMissing:
    case HappeningKind::kClaimRefused:
    case HappeningKind::kEvictionHeld:
    case HappeningKind::kDrainWaits:
    case HappeningKind::kPodHeldUntil:
    case HappeningKind::kPoolGone:
    case HappeningKind::kNoPools:
    case HappeningKind::kCalledOff:
    case HappeningKind::kInstanceGone:
      return "";
  }
  return "";
}

std::string Story::stamped(base::LogTime time, std::string_view text, HappeningKind kind) const {
  const std::int64_t millis = time - *start_;
  const std::string stamp = fmt::format("{:>4}.{}s", millis / 1000, millis % 1000 / 100);
  const std::string_view color = color_ ? color_of(kind) : "";
  return fmt::format("{}  {}{}{}", stamp, color, base::one_line(text),
                     color.empty() ? "" : "\x1b[0m");
}

std::vector<std::string> Story::tell(const std::vector<Happening>& happenings,
                                     const Watcher& watcher) {
  std::vector<Group> parts;               // in order of their first happening
  std::vector<const Happening*> singles;  // same length; nullptr for a group
  bool fleet_changed = false;
  for (const Happening& h : happenings) {
    if (!start_) start_ = h.time;
    fleet_changed |= h.kind == HappeningKind::kInitialized || h.kind == HappeningKind::kClaimGone;
    const std::optional<Group> group = group_of(h);
    if (!group) {
      parts.push_back({h.kind, "", h.time, {}});
      singles.push_back(&h);
      continue;
    }
    std::size_t at = 0;
    while (at < parts.size() &&
           (singles[at] != nullptr || parts[at].kind != group->kind || parts[at].key != group->key))
      ++at;
    if (at == parts.size()) {
      parts.push_back(*group);
      singles.push_back(nullptr);
    } else {
      parts[at].pods.push_back(h.pod);
    }
  }
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string text = singles[i] == nullptr ? line_of(parts[i]) : line_of(*singles[i]);
    if (!text.empty()) lines.push_back(stamped(parts[i].time, text, parts[i].kind));
  }
  if (fleet_changed) {
    std::size_t nodes = 0;
    for (const auto& [name, memo] : watcher.claims()) nodes += memo.initialized ? 1 : 0;
    lines.push_back(stamped(happenings.back().time,
                            fmt::format("  fleet: {} ready, {}/h", counted(nodes, "node"),
                                        dollars(watcher.fleet_price_nanos_per_hour())),
                            HappeningKind::kStarted));
  }
  return lines;
}

}  // namespace karst::daemon
