#include "disruption/emptiness.h"

namespace karst::disruption {

Outcome remove_empty(std::vector<Candidate> candidates, Allowed allowed) {
  Outcome outcome;
  sort_by_ratio(candidates);
  Command command;
  for (Candidate& candidate : candidates) {
    if (!is_free(candidate.cost))
      outcome.refused.push_back({candidate.node, {"not_empty", "Node is not empty"}});
    else if (!take(allowed, candidate))
      outcome.refused.push_back({candidate.node, no_budget(reason_of(Method::kEmptiness))});
    else
      command.candidates.push_back(std::move(candidate));
  }
  if (!command.candidates.empty()) outcome.commands.push_back(std::move(command));
  return outcome;
}

}  // namespace karst::disruption
