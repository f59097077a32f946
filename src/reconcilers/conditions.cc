#include "reconcilers/conditions.h"

#include <algorithm>
#include <tuple>

namespace karst::reconcilers {
namespace {

constexpr std::string_view kRoot = "Ready";

using model::Condition;
using model::ConditionStatus;

const Condition* find_in(const std::vector<Condition>& conditions, std::string_view type) {
  const auto at = std::find_if(conditions.begin(), conditions.end(),
                               [&](const Condition& one) { return one.type == type; });
  return at == conditions.end() ? nullptr : &*at;
}

std::string_view status_name(ConditionStatus status) {
  if (status == ConditionStatus::kTrue) return "True";
  return status == ConditionStatus::kFalse ? "False" : "Unknown";
}

std::vector<Condition> by_time(std::vector<Condition> conditions) {
  std::stable_sort(conditions.begin(), conditions.end(), [](const auto& a, const auto& b) {
    const bool a_root = a.type == kRoot, b_root = b.type == kRoot;
    return std::tie(a_root, a.transition_millis) < std::tie(b_root, b.transition_millis);
  });
  return conditions;
}

}  // namespace

const Condition* Conditions::find(std::string_view type) const {
  return find_in(all_, type);
}

void Conditions::leave_out(std::string_view type) {
  std::erase_if(all_, [&](const Condition& one) { return one.type == type; });
  std::erase(said_, type);
  std::erase(cleared_, type);
}

void Conditions::clear(std::string_view type) {
  leave_out(type);
  cleared_.emplace_back(type);
}

void Conditions::set(std::string_view type, ConditionStatus status, std::string reason,
                     std::string message, base::LogTime since) {
  Condition wanted;
  wanted.type = std::string(type);
  wanted.status = status;
  wanted.reason = reason.empty() ? wanted.type : std::move(reason);
  wanted.message = std::move(message);
  // Kubernetes writes whole seconds.
  wanted.transition_millis = since.value() - since.value() % base::kMillisPerSecond;
  wanted.observed_generation = generation_;
  if (const Condition* known = find_in(observed_, type);
      known != nullptr && known->status == status)
    wanted.transition_millis = known->transition_millis;
  leave_out(type);
  said_.emplace_back(type);
  all_.push_back(std::move(wanted));
}

void Conditions::set_waiting(std::string_view type, base::LogTime created) {
  set(type, ConditionStatus::kUnknown, "AwaitingReconciliation",
      "object is awaiting reconciliation", created);
}

void Conditions::set_root(const std::vector<std::string_view>& dependents, base::LogTime now) {
  ConditionStatus status = ConditionStatus::kTrue;
  std::string message;
  base::LogTime since;
  for (const std::string_view type : dependents) {
    const Condition& one = *find(type);
    since = std::max(since, base::LogTime(one.transition_millis));
    if (one.status == ConditionStatus::kTrue) continue;
    if (status != ConditionStatus::kFalse) status = one.status;
    message +=
        (message.empty() ? "" : ", ") + one.type + "=" + std::string(status_name(one.status));
  }
  if (status == ConditionStatus::kTrue)
    set(kRoot, status, {}, {}, since);
  else
    set(kRoot, status,
        status == ConditionStatus::kFalse ? "UnhealthyDependents" : "ReconcilingDependents",
        std::move(message), now);
}

bool Conditions::differ() const {
  if (all_.size() != observed_.size()) return true;
  return std::any_of(all_.begin(), all_.end(), [&](const Condition& one) {
    const Condition* other = find_in(observed_, one.type);
    return other == nullptr || other->status != one.status || other->reason != one.reason ||
           other->message != one.message;
  });
}

bool Conditions::same_generation() const {
  return std::all_of(all_.begin(), all_.end(), [&](const Condition& one) {
    if (one.observed_generation != generation_) return true;  // not said here
    const Condition* other = find_in(observed_, one.type);
    return other != nullptr && other->observed_generation == generation_;
  });
}

std::vector<Condition> Conditions::said() const {
  std::vector<Condition> said;
  for (const Condition& one : all_)
    if (std::find(said_.begin(), said_.end(), one.type) != said_.end()) said.push_back(one);
  return by_time(std::move(said));
}

std::vector<Condition> Conditions::all() const {
  return by_time(all_);
}

}  // namespace karst::reconcilers
