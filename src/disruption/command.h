// What a method answers: commands, and for each node that stays the reason. Plain values.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "disruption/candidates.h"
#include "disruption/replacement.h"

namespace karst::disruption {

// The candidates go once the replacements are up; without any, at once.
struct Command {
  std::vector<Candidate> candidates;
  std::vector<Replacement> replacements;
};

struct Refused {
  std::size_t node = 0;  // index into World::nodes
  Refusal why;
};

struct Outcome {
  std::vector<Command> commands;
  std::vector<Refused> refused;
};

// How many of each pool may still go, by its name.
using Allowed = std::map<std::string, std::int64_t>;

inline bool may_go(const Allowed& allowed, const Candidate& candidate) {
  const auto at = allowed.find(candidate.pool->pool.pool.name.str());
  return at != allowed.end() && at->second > 0;
}
// Takes one of the pool's. False: there is none left.
inline bool take(Allowed& allowed, const Candidate& candidate) {
  if (!may_go(allowed, candidate)) return false;
  --allowed[candidate.pool->pool.pool.name.str()];
  return true;
}
inline Refusal no_budget(std::string_view reason) {
  return {"budget", "No allowed disruptions for disruption reason " + std::string(reason) +
                        " due to blocking budget"};
}

}  // namespace karst::disruption
