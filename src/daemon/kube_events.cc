#include "daemon/kube_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "daemon/words.h"
#include "reconcilers/queries.h"

namespace karst::daemon {
namespace {

constexpr std::int64_t kWindowMillis = 2 * base::kMillisPerMinute;
constexpr std::int64_t kPoolWindowMillis = base::kMillisPerMinute;
constexpr std::int64_t kRepairWindowMillis = 15 * base::kMillisPerMinute;
constexpr std::int64_t kUnplacedWindowMillis = 5 * base::kMillisPerMinute;
constexpr std::size_t kLaunchErrorMax = 300;

kube::InvolvedObject pod_of(std::string namespace_name, std::string name, std::string uid) {
  return {"v1", "Pod", std::move(namespace_name), std::move(name), std::move(uid)};
}
kube::InvolvedObject pod_of(const Happening& h) {
  return pod_of(h.namespace_name, h.pod, h.pod_uid);
}
kube::InvolvedObject node_of(const Happening& h) {
  return {"v1", "Node", "", h.node, h.node_uid};
}
kube::InvolvedObject claim_of(const Happening& h) {
  return {"karpenter.sh/v1", "NodeClaim", "", h.claim, h.claim_uid};
}
kube::InvolvedObject pool_of(const Happening& h) {
  return {"karpenter.sh/v1", "NodePool", "", h.pool, h.pool_uid};
}

// Of a verdict about one.
kube::InvolvedObject class_of(const Happening& h) {
  const std::string name = h.text.substr(std::string_view("nodeclass/").size());
  return {"karpenter.k8s.aws/v1", "EC2NodeClass", "", name, h.uids.empty() ? "" : h.uids.front()};
}

// A verdict's arguments are "pool: code: text", with "*" for what no pool is to blame for, and
// "would do: change" for the pod's way out.
std::string why_unplaced(const std::vector<std::string>& args) {
  std::string why, would_do;
  for (const std::string& arg : args) {
    const std::size_t pool = arg.find(": ");
    if (pool == arg.npos) continue;
    if (arg.starts_with("would do: ")) {
      would_do += (would_do.empty() ? "" : "; or ") + arg.substr(pool + 2);
      continue;
    }
    const std::size_t code = arg.find(": ", pool + 2);
    if (code == arg.npos) continue;
    const std::string name = "(NodePool=" + arg.substr(0, pool) + ")";
    std::string text = arg.substr(code + 2);
    if (arg.substr(0, pool) != reconcilers::kEveryPool && text.find(name) == text.npos)
      text += " " + name;
    why += (why.empty() ? "" : "; ") + text;
  }
  if (why.empty()) why = "no node pool takes it";
  return would_do.empty() ? why : why + "; it would be placed with: " + would_do;
}

std::string why_held(const Happening& h) {
  const std::string pod = fmt::format("(Pod={}/{})", h.namespace_name, h.pod);
  if (h.text.find("more than one PodDisruptionBudget") != h.text.npos)
    return "eviction does not support multiple PDBs " + pod;
  if (h.reason == model::refusal_code_name(model::RefusalCode::kBlocked))
    return "evicting pod violates a PDB " + pod;
  return fmt::format("evicting pod, {} {}", h.text, pod);
}

std::string why_deleted(const Happening& h) {
  // A pod that was gone when the answer came no longer tells what it had.
  const std::string of = h.args.empty() ? "" : " of its " + h.args[0];
  return fmt::format(
      "Deleting the pod for the terminationTime {} of its node. It is given {}{} seconds of grace; "
      "its PDB and its do-not-disrupt annotation are bypassed",
      h.millis == 0 ? "?" : base::format_rfc3339_seconds(h.millis), h.count, of);
}

}  // namespace

bool TokenBucket::take(base::LogTime now) {
  if (now > last_) {
    const std::int64_t elapsed =
        std::min(now - last_, burst_ / std::max<std::int64_t>(1, per_second_));
    millitokens_ = std::min(burst_, millitokens_ + elapsed * per_second_);
    last_ = now;
  }
  if (millitokens_ < 1000) return false;
  millitokens_ -= 1000;
  return true;
}

struct KubeEvents::Draft {
  kube::InvolvedObject object;
  std::string_view reason;
  bool warning = false;
  std::string message;
  std::int64_t window_millis = kWindowMillis;  // 0: told each time
  std::string key;  // with reason and object: what a repetition has in common
};

void KubeEvents::add_of_pods(const Happening& h, std::vector<Draft>& drafts) const {
  switch (h.kind) {
    case HappeningKind::kPodHeldUntil:
      drafts.push_back({pod_of(h), "DoNotDisruptUntil", false,
                        "Pod is not disrupted until its karpenter.sh/do-not-disrupt grace period "
                        "elapses at " +
                            base::format_rfc3339_seconds(h.millis),
                        kWindowMillis, std::to_string(h.millis)});
      return;
    case HappeningKind::kPodsExpected: {
      std::string where = h.claim.empty() ? "" : "nodeclaim/" + h.claim;
      if (!h.node.empty()) where += (where.empty() ? "node/" : ", node/") + h.node;
      for (std::size_t i = 0; i < h.args.size() && i < h.uids.size(); ++i) {
        const std::size_t slash = h.args[i].find('/');
        if (slash == h.args[i].npos) continue;  // it has gone meanwhile
        drafts.push_back(
            {pod_of(h.args[i].substr(0, slash), h.args[i].substr(slash + 1), h.uids[i]),
             "Nominated", false, "Pod should schedule on: " + where, kWindowMillis, ""});
      }
      return;
    }
    case HappeningKind::kPodUnplaced:
      drafts.push_back({pod_of(h), "FailedScheduling", true,
                        "Failed to schedule pod, " + why_unplaced(h.args), kUnplacedWindowMillis,
                        ""});
      return;
    case HappeningKind::kEvicted:
      if (h.count > 0) {
        drafts.push_back({pod_of(h), "Disrupted", false, why_deleted(h), kWindowMillis, ""});
      } else {
        drafts.push_back({pod_of(h), "Evicted", false,
                          fmt::format("Evicted pod: {}", eviction_reason(h.reason)), kWindowMillis,
                          ""});
      }
      return;
    default:
      return;
  }
}

// The words of Karpenter's AWS provider.
struct InterruptionWords {
  model::InterruptionKind kind;
  bool warning;
  std::string_view reason;
  std::string_view message;
};
constexpr InterruptionWords kInterruptions[] = {
    {model::InterruptionKind::kSpotInterruption, true, "SpotInterrupted",
     "Spot interruption warning was triggered"},
    {model::InterruptionKind::kRebalanceRecommendation, false, "SpotRebalanceRecommendation",
     "Spot rebalance recommendation was triggered"},
    {model::InterruptionKind::kScheduledChange, true, "InstanceUnhealthy",
     "An unhealthy warning was triggered for the instance"},
    {model::InterruptionKind::kReservationInterruption, true,
     "CapacityReservationInstanceInterrupted",
     "Capacity reservation instance interruption warning was triggered"},
    {model::InterruptionKind::kInstanceStopping, true, "InstanceStopping", "Instance is stopping"},
    {model::InterruptionKind::kInstanceTerminated, true, "InstanceTerminating",
     "Instance is terminating"},
};

void KubeEvents::add_of_interruption(const Happening& h, std::vector<Draft>& drafts) const {
  for (const InterruptionWords& words : kInterruptions) {
    if (h.reason != model::interruption_kind_name(words.kind) || h.claim.empty()) continue;
    if (h.kind == HappeningKind::kInterrupted) {
      for (const auto& object : {claim_of(h), node_of(h)})
        drafts.push_back(
            {object, words.reason, words.warning, std::string(words.message), kWindowMillis, ""});
      return;
    }
    drafts.push_back({claim_of(h), "TerminatingOnInterruption", true,
                      "Interruption triggered termination for the NodeClaim", kWindowMillis, ""});
    drafts.push_back({node_of(h), "TerminatingOnInterruption", true,
                      "Interruption triggered termination for the Node", kWindowMillis, ""});
    return;
  }
}

// What keeps a node from being chosen for removal; empty: the verdict is about something else.
static std::string held_text(const Happening& h) {
  if (h.reason == "held_by_annotation")
    return "Disruption is blocked through the \"karpenter.sh/do-not-disrupt\" annotation";
  if (h.args.empty()) return "";
  if (h.reason == "held_by_pod")
    return "Pod has \"karpenter.sh/do-not-disrupt\" annotation (Pod=" + h.args[0] + ")";
  if (h.reason == "held_by_budget")
    return "Pdb prevents pod evictions (PodDisruptionBudget=[" + h.args[0] + "])";
  if (h.reason == "held_by_budgets")
    return "Eviction does not support multiple PDBs (PodDisruptionBudget(s)=" + h.args[0] + ")";
  return "";
}

void KubeEvents::add_of_verdict(const Happening& h, std::vector<Draft>& drafts) const {
  if (h.reason == "no_instance_types")
    drafts.push_back({pool_of(h), "NoCompatibleInstanceTypes", true,
                      "NodePool requirements filtered out all compatible available instance types",
                      kPoolWindowMillis, ""});
  if (h.reason == "zonal_shift_active" || h.reason == "zonal_shift_cleared") {
    const bool active = h.reason == "zonal_shift_active";
    const std::string zones = fmt::format("{}", fmt::join(h.args, ", "));
    drafts.push_back({pool_of(h), active ? "ZonalShiftActive" : "ZonalShiftCleared", false,
                      active ? "Zonal shift is active, no capacity is launched in " + zones
                             : "Zonal shift is over, capacity is launched in " + zones + " again",
                      kPoolWindowMillis, zones});
  }
  if (h.reason == "waiting_on_claims")
    drafts.push_back(
        {class_of(h), "WaitingOnNodeClaimTermination", false,
         fmt::format("Waiting on NodeClaim termination for {}", fmt::join(h.args, ", ")),
         kWindowMillis, ""});
  if (h.reason == "volumes_attached")
    drafts.push_back(
        {node_of(h), "AwaitingVolumeDetachment", false,
         fmt::format("Awaiting deletion of bound volumeattachments ({})", fmt::join(h.args, ", ")),
         kWindowMillis, ""});
  if (h.reason == "blocked_by_budget" && h.args.size() > 2 && h.args[2] == "0")
    drafts.push_back({pool_of(h), "DisruptionBlocked", false,
                      fmt::format("No allowed disruptions for disruption reason {} due to "
                                  "blocking budget",
                                  h.args[1]),
                      kPoolWindowMillis, h.args[1]});
  if (h.reason == "repair_blocked" && !h.args.empty()) {
    const std::string_view text = h.args[0] == "cluster"
                                      ? "more then 20% nodes are unhealthy in the cluster"
                                      : "more than 20% nodes are unhealthy in the nodepool";
    for (const auto& object : {node_of(h), claim_of(h), pool_of(h)})
      drafts.push_back(
          {object, "NodeRepairBlocked", true, std::string(text), kRepairWindowMillis, ""});
  }
  if (const std::string held = held_text(h); !held.empty())
    for (const auto& object : {node_of(h), claim_of(h)})
      drafts.push_back({object, "DisruptionBlocked", false, held, kWindowMillis, ""});
}

void KubeEvents::add(const Happening& h, std::vector<Draft>& drafts) const {
  const auto about = [&](kube::InvolvedObject object, std::string_view reason, bool warning,
                         std::string message, std::int64_t window = kWindowMillis,
                         std::string key = {}) {
    drafts.push_back(
        {std::move(object), reason, warning, std::move(message), window, std::move(key)});
  };
  switch (h.kind) {
    case HappeningKind::kConditionChanged: {
      const bool of_pool = h.claim.empty();
      std::string text =
          fmt::format("Status condition transitioned, Type: {}, Status: {} -> {}, Reason: {}",
                      h.reason, h.args.at(0), h.args.at(1), h.args.at(2));
      if (!h.args.at(3).empty()) text += ", Message: " + h.args[3];
      about(of_pool ? pool_of(h) : claim_of(h), h.reason, false, std::move(text), 0);
      if (h.reason == "ConsistentStateFound" && h.args[1] == "False")
        about(claim_of(h), "FailedConsistencyCheck", true, h.args[3]);
      return;
    }
    case HappeningKind::kLaunchRefused:
      if (h.reason == model::refusal_code_name(model::RefusalCode::kCapacity))
        about(claim_of(h), "InsufficientCapacityError", true,
              fmt::format("NodeClaim {} event: {}", h.claim, h.text.substr(0, kLaunchErrorMax)));
      return;
    case HappeningKind::kTaintMissing:
      about(claim_of(h), "UnregisteredTaintMissing", true,
            "Node " + h.node +
                " joined without the taint karpenter.sh/unregistered:NoExecute, "
                "which keeps pods away until it is registered");
      return;
    case HappeningKind::kInterrupted:
      return add_of_interruption(h, drafts);
    case HappeningKind::kLeaving:
      add_of_interruption(h, drafts);
      if (h.reason == "insufficient_capacity")
        about(claim_of(h), "InsufficientCapacityError", true,
              fmt::format("NodeClaim {} event: {}", h.claim,
                          h.text.empty()
                              ? "no instance type that it allows has capacity"
                              : "resolving node class, there is no " + h.text +
                                    ": create it, or name another one in spec.nodeClassRef"));
      if (const auto reason = disruption_reason(h.reason); !reason.empty()) {
        if (!h.node.empty())
          about(node_of(h), "DisruptionTerminating", false,
                fmt::format("Disrupting Node: {}", reason));
        about(claim_of(h), "DisruptionTerminating", false,
              fmt::format("Disrupting NodeClaim: {}", reason));
      }
      return;
    case HappeningKind::kDeadlineSet: {
      const std::string text =
          "All pods will be deleted by " + base::format_rfc3339_seconds(h.millis);
      if (!h.node.empty()) about(node_of(h), "TerminationGracePeriodExpiring", true, text);
      about(claim_of(h), "TerminationGracePeriodExpiring", true, text);
      return;
    }
    case HappeningKind::kEvictionHeld:
      // Beside "pods are waiting", which comes first and says less.
      about(node_of(h), "FailedDraining", true, "Failed to drain node, " + why_held(h),
            kWindowMillis, "held");
      return;
    case HappeningKind::kDrainWaits:
      about(node_of(h), "FailedDraining", true,
            fmt::format("Failed to drain node, {} pods are waiting to be evicted", h.count));
      return;
    case HappeningKind::kVerdict:
      return add_of_verdict(h, drafts);
    case HappeningKind::kClaimGone:
      return about(claim_of(h), "Finalized", false, "Finalized NodeClaim");
    case HappeningKind::kNodeGone:
      if (!h.claim.empty()) about(node_of(h), "Finalized", false, "Finalized Node");
      return;
    case HappeningKind::kPoolGone:
      return about(pool_of(h), "Finalized", false, "Finalized NodePool");
    default:
      add_of_pods(h, drafts);
  }
}

bool KubeEvents::is_news(const Draft& draft, base::LogTime now) {
  if (draft.window_millis != 0) {
    const std::string key =
        fmt::format("{}/{}/{}/{}", draft.reason, draft.object.kind,
                    draft.object.uid.empty() ? draft.object.name : draft.object.uid, draft.key);
    const auto known = told_until_.find(key);
    if (known != told_until_.end() && known->second > now) return false;
    if (told_until_.size() >= kEventsRemembered)
      std::erase_if(told_until_, [&](const auto& entry) { return entry.second <= now; });
    if (told_until_.size() >= kEventsRemembered) return false;
    // A bucket that is empty does not make it old news.
    if (draft.reason == "Nominated" && !nominated_.take(now)) return false;
    if (!all_.take(now)) return false;
    told_until_[key] = now + draft.window_millis;
    return true;
  }
  return all_.take(now);
}

std::vector<kube::ObjectEvent> KubeEvents::of(const std::vector<Happening>& happenings) {
  std::vector<kube::ObjectEvent> events;
  model::Position position;
  int ordinal = 0;  // of the events of one position
  for (const Happening& happening : happenings) {
    if (std::exchange(position, happening.position) != happening.position) ordinal = 0;
    std::vector<Draft> drafts;
    add(happening, drafts);
    for (Draft& draft : drafts) {
      if (draft.object.name.empty() || !is_news(draft, happening.time)) continue;
      events.push_back({std::move(draft.object), std::string(draft.reason), draft.warning,
                        std::move(draft.message),
                        fmt::format("{:x}.{}", happening.position.value(), ordinal++),
                        happening.time.value()});
    }
  }
  return events;
}

}  // namespace karst::daemon
