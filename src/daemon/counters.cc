#include "daemon/counters.h"

#include <algorithm>
#include <set>

#include "daemon/words.h"

namespace karst::daemon {
namespace {

void add(std::map<std::string, Histogram>& by, const std::string& key,
         std::span<const std::int64_t> bounds, std::int64_t millis) {
  by.try_emplace(key, bounds).first->second.add(millis);
}

bool voluntary(const std::string& reason) {
  return !disruption_reason(reason).empty();
}

// The status with which the API server says so (kube/answer.h).
std::string http_status_of(const std::string& refusal) {
  constexpr std::pair<std::string_view, std::string_view> kStatuses[] = {
      {"blocked", "429"},  {"throttled", "429"}, {"gone", "404"},
      {"conflict", "409"}, {"denied", "403"},    {"invalid", "422"}};
  for (const auto& [code, status] : kStatuses)
    if (refusal == code) return std::string(status);
  return "500";
}

// Karpenter's name of the method that decided.
std::string consolidation_type(const std::string& reason) {
  return reason == "empty" ? "empty" : "";
}

}  // namespace

void Counters::count(const Happening& h) {
  switch (h.kind) {
    case HappeningKind::kClaimCreated:
      ++claims_created[{h.reason, h.pool, h.text == "true" ? "true" : "false"}];
      break;
    case HappeningKind::kRegistered:
      ++nodes_created[{h.pool, h.offer.zone}];
      break;
    case HappeningKind::kNodeGone:
      if (h.claim.empty()) break;
      ++nodes_terminated[{h.pool, h.offer.zone}];
      if (h.lifetime_millis > 0) add(node_lifetimes, h.pool, kLifetimeBounds, h.lifetime_millis);
      if (h.millis > 0) {
        node_terminations[h.pool].add(h.millis);
        nodes_terminated_times.add(h.millis);
      }
      break;
    case HappeningKind::kLaunchRefused:
      ++launches_refused[{h.reason}];
      break;
    case HappeningKind::kInterrupted:
      ++interruptions[{h.reason}];
      if (h.lifetime_millis > 0) message_ages.add(h.lifetime_millis);
      break;
    case HappeningKind::kLeaving: {
      if (h.reason == "overprovisioned") break;  // Karpenter counts what disrupts, not what shrinks
      const LabelValues labels = {h.reason, h.pool, h.offer.capacity_type, h.policy, h.mode};
      ++claims_disrupted[labels];
      pods_disrupted[labels] += static_cast<std::uint64_t>(h.count);
      if (h.reason == "unhealthy" && h.args.size() == 2)
        ++unhealthy[{h.args[0], h.pool, h.offer.capacity_type, h.args[1]}];
      if (!voluntary(h.reason)) break;
      ++voluntary_decisions[{"delete", h.reason, consolidation_type(h.reason)}];
      ++decisions_by_pool[{h.pool, "delete", h.reason, consolidation_type(h.reason)}];
      break;
    }
    case HappeningKind::kClaimGone:
      ++claims_terminated[{h.pool, h.offer.capacity_type, h.offer.zone}];
      if (h.millis > 0) {
        add(claim_terminations, h.pool, kTerminationBounds, h.millis);
        claims_terminated_times.add(h.millis);
      }
      break;
    case HappeningKind::kEvicted:
      ++evictions[{h.reason}];
      ++pods_drained[{std::string(eviction_reason(h.reason))}];
      ++eviction_requests[{"200"}];
      break;
    case HappeningKind::kEvictionHeld:
      ++eviction_requests[{http_status_of(h.reason)}];
      break;
    case HappeningKind::kConditionChanged:
      count_condition(h);
      if (h.reason == "Drained" && h.args[1] == "True") ++nodes_drained[{h.pool}];
      break;
    case HappeningKind::kPodBound:
      if (h.millis > 0) pods_bound.add(h.millis);
      if (h.placed_millis >= 0) pods_placed_bound.add(h.placed_millis);
      break;
    case HappeningKind::kPodRuns:
      pods_started.add(h.millis);
      if (h.placed_millis >= 0) pods_placed_started.add(h.placed_millis);
      break;
    case HappeningKind::kCloudAnswered:
      add(cloud_calls, h.reason, kCallBounds, h.millis);
      if (h.text != "done") ++cloud_errors[{h.reason, h.text}];
      break;
    case HappeningKind::kPodsExpected:
    case HappeningKind::kPodUnplaced:
      for (const std::int64_t millis : h.decided_millis) pods_decided.add(millis);
      break;
    case HappeningKind::kCalledOff:
      ++called_off[{consolidation_type("empty")}];
      break;
    case HappeningKind::kInstanceGone:
      add(instance_terminations, h.pool, kTerminationBounds, h.millis);
      break;
    case HappeningKind::kInputRefused:
      ++inputs_refused[{h.args.front()}];
      break;
    case HappeningKind::kNotSent:
      ++not_sent[{h.args.empty() ? "" : h.args.front()}];
      break;
    default:
      break;
  }
}

void Counters::count_condition(const Happening& h) {
  const bool of_pool = h.claim.empty();
  ++(of_pool ? pool_transitions : claim_transitions)[{h.reason, h.args[1], h.args[2]}];
  if (h.millis <= 0) return;
  auto& times = of_pool ? pool_condition_times : claim_condition_times;
  times.try_emplace({h.reason, h.args[0]}, kConditionBounds).first->second.add(h.millis);
}

void Counters::count_pass(const std::vector<Happening>& happenings, std::int64_t round_millis) {
  const bool passed = std::any_of(happenings.begin(), happenings.end(), [](const Happening& h) {
    return h.kind == HappeningKind::kPodsExpected || h.kind == HappeningKind::kPodUnplaced;
  });
  if (passed) scheduling.add(round_millis);
  std::set<std::string> reasons;
  for (const Happening& h : happenings)
    if (h.kind == HappeningKind::kLeaving && voluntary(h.reason)) reasons.insert(h.reason);
  for (const std::string& reason : reasons)
    evaluations[{reason, consolidation_type(reason)}].add(round_millis);
}

}  // namespace karst::daemon
