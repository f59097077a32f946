#include "disruption/decide.h"

#include "disruption/consolidation.h"
#include "disruption/drift.h"
#include "disruption/emptiness.h"

namespace karst::disruption {
namespace {

Outcome outcome_of(Simulator& simulator, Method method, const std::vector<Candidate>& candidates,
                   const Allowed& allowed) {
  switch (method) {
    case Method::kEmptiness:
      return remove_empty(candidates, allowed);
    case Method::kStaticDrift:
      return replace_drifted_static(simulator.world(), candidates, allowed);
    case Method::kDrift:
      return replace_drifted(simulator, candidates, allowed);
    case Method::kMultiNode:
      return consolidate_many(simulator, candidates, allowed);
    case Method::kSingleNode:
      return consolidate_one(simulator, candidates, allowed);
  }
  return {};
}

// Candidates of the method; the others with what stands in their way.
std::vector<Candidate> candidates_of(const World& world, Method method,
                                     std::vector<Refused>& refused) {
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < world.nodes.size(); ++i) {
    Refusal refusal = refusal_of(world, world.nodes[i], class_of(method));
    if (refusal.none()) {
      Candidate candidate = make_candidate(world, i);
      refusal = refusal_of(world, candidate, method);
      if (refusal.none()) candidates.push_back(std::move(candidate));
    }
    if (!refusal.none()) refused.push_back({i, std::move(refusal)});
  }
  return candidates;
}

Step step_of(Simulator& simulator, Method method, std::vector<Candidate> candidates,
             Allowed allowed) {
  Step step;
  step.method = method;
  step.outcome = outcome_of(simulator, method, candidates, allowed);
  step.candidates = std::move(candidates);
  step.allowed = std::move(allowed);
  return step;
}

}  // namespace

Step run_method(const World& world, Method method, std::vector<Candidate> candidates,
                Allowed allowed) {
  Simulator simulator(world);
  return step_of(simulator, method, std::move(candidates), std::move(allowed));
}

std::vector<Step> decide(const World& world, const std::vector<Method>& methods) {
  std::vector<Step> steps;
  Simulator simulator(world);  // of all methods
  for (const Method method : methods) {
    std::vector<Refused> refused;
    std::vector<Candidate> candidates = candidates_of(world, method, refused);
    if (candidates.empty()) {
      steps.push_back({method, {}, {}, {{}, std::move(refused)}});
      continue;
    }
    steps.push_back(step_of(simulator, method, std::move(candidates),
                            remaining_disruptions(world, reason_of(method))));
    Outcome& outcome = steps.back().outcome;
    outcome.refused.insert(outcome.refused.begin(), refused.begin(), refused.end());
    if (!outcome.commands.empty()) break;
  }
  return steps;
}

}  // namespace karst::disruption
