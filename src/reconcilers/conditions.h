// Status conditions as Karpenter's controllers keep them: a root that follows from its dependents,
// a transition time that changes only with the status, sorted by it with the root last. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/cluster.h"

namespace karst::reconcilers {

inline constexpr std::string_view kValidationSucceeded = "ValidationSucceeded";  // a condition type

class Conditions {
 public:
  // `observed`: as the API server has them. What is not set here is kept as it is.
  Conditions(const std::vector<model::Condition>& observed, std::int64_t generation)
      : all_(observed), observed_(observed), generation_(generation) {}

  // `since`: when it came to be so, for a status that is new. An empty reason is the type.
  void set(std::string_view type, model::ConditionStatus status, std::string reason,
           std::string message, base::LogTime since);
  void set_true(std::string_view type, base::LogTime since) {
    set(type, model::ConditionStatus::kTrue, {}, {}, since);
  }
  // Not looked at yet, since the object was made.
  void set_waiting(std::string_view type, base::LogTime created);
  void clear(std::string_view type);
  const model::Condition* find(std::string_view type) const;

  // Sets Ready from its dependents, which are all set: False as soon as one is.
  void set_root(const std::vector<std::string_view>& dependents, base::LogTime now);

  // What is observed differs in more than times.
  bool differ() const;
  // What is observed of each that was set here was said of this generation.
  bool same_generation() const;
  std::vector<model::Condition> sorted() const;

 private:
  std::vector<model::Condition> all_;
  std::vector<model::Condition> observed_;
  std::int64_t generation_;
};

}  // namespace karst::reconcilers
