// The conditions of one node class while they are found out, in Karpenter's words. Plain value.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "model/cluster.h"

namespace karst::providers::aws {

class ClassStatus {
 public:
  // `generation`: of the class, what every condition observed.
  explicit ClassStatus(std::int64_t generation) : generation_(generation) {}

  void add(const char* type, model::ConditionStatus status, std::string reason,
           std::string message);
  void hold(const char* type) { add(type, model::ConditionStatus::kTrue, type, ""); }
  // True when something was found; while an error stands in the way nobody knows.
  void found(const char* type, bool some, const std::string& error, const char* reason,
             const char* message);

  // False before Unknown before True; those in `except` do not count.
  model::ConditionStatus worst(const std::set<std::string>& except = {}) const;
  // The conditions of that status: "AMIsReady, SubnetsReady".
  std::string named(model::ConditionStatus status, const std::set<std::string>& except = {}) const;
  std::vector<model::Condition> take();  // sorted by type

 private:
  std::int64_t generation_;
  std::vector<model::Condition> all_;
};

// Of a class of which nothing can be asked, with what stands in the way.
std::vector<model::Condition> unusable(std::int64_t generation, const std::string& message);

}  // namespace karst::providers::aws
