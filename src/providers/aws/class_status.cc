#include "providers/aws/class_status.h"

#include <algorithm>

namespace karst::providers::aws {

using model::Condition;
using model::ConditionStatus;

void ClassStatus::add(const char* type, ConditionStatus status, std::string reason,
                      std::string message) {
  all_.push_back({type, status, std::move(reason), std::move(message), 0, generation_});
}

void ClassStatus::found(const char* type, bool some, const std::string& error, const char* reason,
                        const char* message) {
  if (!error.empty())
    add(type, ConditionStatus::kUnknown, "ResolutionFailed", error);
  else if (some)
    hold(type);
  else
    add(type, ConditionStatus::kFalse, reason, message);
}

ConditionStatus ClassStatus::worst(const std::set<std::string>& except) const {
  ConditionStatus status = ConditionStatus::kTrue;
  for (const Condition& one : all_) {
    if (except.contains(one.type)) continue;
    if (one.status == ConditionStatus::kFalse) return ConditionStatus::kFalse;
    if (one.status == ConditionStatus::kUnknown) status = ConditionStatus::kUnknown;
  }
  return status;
}

std::string ClassStatus::named(ConditionStatus status, const std::set<std::string>& except) const {
  std::string names;
  for (const Condition& one : all_)
    if (one.status == status && !except.contains(one.type))
      names += (names.empty() ? "" : ", ") + one.type;
  return names;
}

std::vector<Condition> ClassStatus::take() {
  std::sort(all_.begin(), all_.end(),
            [](const Condition& a, const Condition& b) { return a.type < b.type; });
  return std::move(all_);
}

std::vector<Condition> unusable(std::int64_t generation, const std::string& message) {
  ClassStatus status(generation);
  status.add("ValidationSucceeded", ConditionStatus::kFalse, "SpecInvalid", message);
  status.add("Ready", ConditionStatus::kFalse, "UnhealthyDependents",
             "waits for ValidationSucceeded");
  return status.take();
}

}  // namespace karst::providers::aws
