// Requirements of one problem, each distinct set once and named by a number, so that "what do these
// two make together" is worked out once per pair. Owned by one solve call; not thread-safe.
// The algebra itself, and its source: model/requirements.h.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/requirements.h"
#include "scheduling/problem.h"

namespace karst::scheduling {

using RequirementId = std::uint32_t;
inline constexpr RequirementId kImpossible = UINT32_MAX;

// What every node to come is called until it has a name: no pod can ask for it.
inline constexpr std::string_view kHostPlaceholder = "(new node)";

class RequirementTable {
 public:
  explicit RequirementTable(const Problem& problem);

  RequirementId intern(const model::Requirements& requirements);
  const model::Requirements& at(RequirementId id) const { return sets_[id]; }

  // `incoming` added to `base`; kImpossible when they exclude each other or `incoming` asks for a
  // key that nobody defines.
  RequirementId combine(RequirementId base, RequirementId incoming);
  // The same for a demand that needs no key to be defined: two demands of one pod.
  RequirementId both(RequirementId a, RequirementId b);
  // Why combine() would refuse, in Karpenter's grammar; empty when it would not.
  std::string conflict(RequirementId base, RequirementId incoming) const;
  // The label `key` is one of `values`.
  RequirementId one_of(const std::string& key, const std::vector<std::string>& values);

  // Adds one after the other, old label names as today's. False when two of them exclude each
  // other: then nothing can hold (an empty set alone would read as DoesNotExist, which many nodes
  // meet).
  bool add_all(model::Requirements& requirements,
               const std::vector<model::RequirementSpec>& specs) const;
  // nodeSelector and one term of the required node affinity at a time: any of these may hold. Terms
  // that match nothing (no expressions, matchFields, which are not supported, or a contradiction)
  // are left out, so the list may be empty.
  std::vector<RequirementId> alternatives_of(const model::PodShape& shape);

  const std::set<std::string, std::less<>>& may_be_undefined() const { return may_be_undefined_; }

 private:
  std::string_view today(std::string_view key) const;

  const Options& options_;
  std::set<std::string, std::less<>> may_be_undefined_;
  std::deque<model::Requirements> sets_;  // what at() gives stays where it is
  std::map<std::vector<model::RequirementSpec>, RequirementId> ids_;
  // order never shows: look-ups only
  boost::unordered_flat_map<std::uint64_t, RequirementId> combined_;
  // order never shows: look-ups only
  boost::unordered_flat_map<std::uint64_t, RequirementId> both_;
};

// "a In [x], b Exists": for messages, sorted by key, hostname left out.
std::string describe(const model::Requirements& requirements);

}  // namespace karst::scheduling
