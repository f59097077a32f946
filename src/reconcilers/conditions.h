// Status conditions as Karpenter's controllers keep them: a root that follows from its dependents,
// a transition time that changes only with the status. Mirrors of an object whose conditions others
// write, too, say what was set and cleared here: what is known of the rest may be old. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/cluster.h"

namespace karst::reconcilers {

// Condition types.
inline constexpr std::string_view kValidationSucceeded = "ValidationSucceeded";
inline constexpr std::string_view kDrifted = "Drifted";

class Conditions {
 public:
  // `observed`: as the API server has them, as far as that is known.
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
  // What was set here, or all; by transition time with the root last.
  std::vector<model::Condition> said() const;
  std::vector<model::Condition> all() const;
  // Types that were cleared here, in that order.
  const std::vector<std::string>& cleared() const { return cleared_; }

 private:
  void leave_out(std::string_view type);

  std::vector<model::Condition> all_;
  std::vector<model::Condition> observed_;
  std::vector<std::string> said_;
  std::vector<std::string> cleared_;
  std::int64_t generation_;
};

}  // namespace karst::reconcilers
