#include "daemon/counters.h"

#include <algorithm>

namespace karst::daemon {
namespace {

void add(std::map<std::string, Histogram>& by, const std::string& key,
         std::span<const std::int64_t> bounds, std::int64_t millis) {
  by.try_emplace(key, bounds).first->second.add(millis);
}

bool voluntary(const std::string& reason) {
  return reason == "empty" || reason == "underutilized" || reason == "drifted";
}

}  // namespace

void Counters::count(const Happening& h) {
  switch (h.kind) {
    case HappeningKind::kClaimCreated:
      ++claims_created[{h.reason, h.pool}];
      break;
    case HappeningKind::kRegistered:
      ++nodes_created[{h.pool, h.offer.zone}];
      break;
    case HappeningKind::kNodeGone:
      if (h.claim.empty()) break;
      ++nodes_terminated[{h.pool, h.offer.zone}];
      if (h.lifetime_millis > 0) add(node_lifetimes, h.pool, kLifetimeBounds, h.lifetime_millis);
      if (h.millis > 0) node_terminations[h.pool].add(h.millis);
      break;
    case HappeningKind::kLaunchRefused:
      ++launches_refused[{h.reason}];
      break;
    case HappeningKind::kInterrupted:
      ++interruptions[{h.reason}];
      break;
    case HappeningKind::kLeaving: {
      const LabelValues labels = {h.reason, h.pool, h.offer.capacity_type, h.policy, h.mode};
      ++claims_disrupted[labels];
      pods_disrupted[labels] += static_cast<std::uint64_t>(h.count);
      if (voluntary(h.reason)) ++voluntary_decisions[{"delete", h.reason}];
      break;
    }
    case HappeningKind::kClaimGone:
      ++claims_terminated[{h.pool, h.offer.capacity_type, h.offer.zone}];
      if (h.millis > 0) add(claim_terminations, h.pool, kTerminationBounds, h.millis);
      break;
    case HappeningKind::kEvicted:
      ++evictions[{h.reason}];
      ++eviction_requests[{"200"}];
      break;
    case HappeningKind::kEvictionHeld:
      ++eviction_requests[{h.reason == "blocked" ? "429" : "500"}];
      break;
    case HappeningKind::kConditionChanged:
      if (h.claim.empty()) break;
      ++claim_transitions[{h.reason, h.args[1], h.args[2]}];
      if (h.reason == "Drained" && h.args[1] == "True") ++nodes_drained[{h.pool}];
      break;
    case HappeningKind::kPodBound:
      if (h.millis > 0) pods_bound.add(h.millis);
      break;
    case HappeningKind::kPodRuns:
      pods_started.add(h.millis);
      break;
    case HappeningKind::kCloudAnswered:
      add(cloud_calls, h.reason, kCallBounds, h.millis);
      if (h.text != "done") ++cloud_errors[{h.reason, h.text}];
      break;
    case HappeningKind::kNotSent:
      ++not_sent[{h.args.empty() ? "" : h.args.front()}];
      break;
    default:
      break;
  }
}

void Counters::count_pass(const std::vector<Happening>& happenings, std::int64_t round_millis) {
  const bool passed = std::any_of(happenings.begin(), happenings.end(), [](const Happening& h) {
    return h.kind == HappeningKind::kPodsExpected || h.kind == HappeningKind::kPodUnplaced;
  });
  if (passed) scheduling.add(round_millis);
}

}  // namespace karst::daemon
