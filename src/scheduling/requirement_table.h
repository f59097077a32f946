// Requirements of one problem, each distinct set once and named by a number, so that "what do these
// two make together" is worked out once per pair. Owned by one solve call; not thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/requirements.h"
#include "scheduling/problem.h"

namespace karst::scheduling {

using RequirementId = std::size_t;

class RequirementTable {
 public:
  // Label keys that may be undefined: Karpenter's well-known ones and whatever an instance type of
  // the problem defines.
  explicit RequirementTable(const Problem& problem);

  RequirementId intern(const model::Requirements& requirements);
  const model::Requirements& at(RequirementId id) const { return sets_[id]; }

  // `incoming` added to `base`; nullopt when they exclude each other or `incoming` asks for a key
  // that nobody defines.
  std::optional<RequirementId> combine(RequirementId base, RequirementId incoming);
  // Why combine() would refuse, in Karpenter's grammar; empty when it would not.
  std::string conflict(RequirementId base, RequirementId incoming) const;

  const std::set<std::string, std::less<>>& may_be_undefined() const { return may_be_undefined_; }

 private:
  std::set<std::string, std::less<>> may_be_undefined_;
  std::vector<model::Requirements> sets_;
  std::map<std::vector<model::RequirementSpec>, RequirementId> ids_;
  std::map<std::pair<RequirementId, RequirementId>, std::optional<RequirementId>> combined_;
};

// Adds one after the other. False when two of them exclude each other: then nothing can hold (an
// empty set alone would read as DoesNotExist, which many nodes meet).
bool add_all(model::Requirements& requirements, const std::vector<model::RequirementSpec>& specs);

// nodeSelector and one term of the required node affinity at a time: any of these may hold. Terms
// that match nothing (no expressions, matchFields, which are not supported, or a contradiction) are
// left out, so the list may be empty.
std::vector<model::Requirements> alternatives_of(const model::PodShape& shape);

// "a In [x], b Exists": for messages, sorted by key, hostname left out.
std::string describe(const model::Requirements& requirements);

}  // namespace karst::scheduling
