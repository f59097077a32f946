#include "disruption/consolidation.h"

#include <algorithm>
#include <map>

#include "disruption/balanced.h"

namespace karst::disruption {
namespace {

// What the move saves an hour, if the replacement comes up as the first of its types, at the least
// that this type is sold for at all: also where only spot is asked for and it has none (Karpenter
// 1.14, policy Balanced).
std::int64_t savings_of(const std::vector<Candidate>& candidates, const Move& move) {
  std::int64_t saved = 0;
  for (const Candidate& candidate : candidates) saved += candidate.price_nanos;
  for (const Replacement& replacement : move.replacements) {
    const std::int64_t price = best_price(*replacement.pool, replacement.types.front(), {});
    if (price != kNoPrice) saved -= price;
  }
  return saved;
}

Move consider_many(Simulator& simulator, const std::vector<Candidate>& candidates) {
  const World& world = simulator.world();
  Move move = consider(simulator, candidates);
  if (move.refusal.none() && !move.replacements.empty())
    move.refusal = drop_same_types(world, candidates, move.replacements.front());
  if (move.refusal.none()) move.refusal = approve(world, candidates, savings_of(candidates, move));
  return move;
}

// Those with a budget; the others are refused.
std::vector<Candidate> within_budgets(std::vector<Candidate> candidates, Allowed allowed,
                                      Outcome& outcome) {
  std::vector<Candidate> kept;
  for (Candidate& candidate : candidates) {
    if (take(allowed, candidate))
      kept.push_back(std::move(candidate));
    else
      outcome.refused.push_back({candidate.node, no_budget(reason_of(Method::kMultiNode))});
  }
  return kept;
}

// One of each pool in turn; pools in the order of their best.
std::vector<Candidate> in_turns(const std::vector<Candidate>& candidates) {
  std::vector<std::vector<Candidate>> by_pool;
  std::map<const Pool*, std::size_t> index;  // looked up only
  for (const Candidate& candidate : candidates) {
    const auto at = index.try_emplace(candidate.pool, by_pool.size()).first;
    if (at->second == by_pool.size()) by_pool.emplace_back();
    by_pool[at->second].push_back(candidate);
  }
  std::vector<Candidate> turns;
  for (std::size_t i = 0; turns.size() < candidates.size(); ++i)
    for (const std::vector<Candidate>& pool : by_pool)
      if (i < pool.size()) turns.push_back(pool[i]);
  return turns;
}

}  // namespace

Move consider(Simulator& simulator, const std::vector<Candidate>& candidates) {
  Simulation simulation = simulator.simulate(candidates, Purpose::kConsolidation);
  if (!simulation.refusal.none()) return {std::move(simulation.refusal), {}};
  if (simulation.claims.size() > 1)
    return {{"several_claims", "Can't remove without creating " +
                                   std::to_string(simulation.claims.size()) + " candidates"},
            {}};
  Move move;
  move.replacements = std::move(simulation.claims);
  if (!move.replacements.empty())
    move.refusal = make_cheaper(simulator.world(), candidates, move.replacements.front());
  return move;
}

Outcome consolidate_many(Simulator& simulator, std::vector<Candidate> candidates, Allowed allowed) {
  Outcome outcome;
  sort_by_ratio(candidates);
  candidates = within_budgets(std::move(candidates), std::move(allowed), outcome);
  Command best;
  Refusal why = {"alone", "Needs at least two candidates"};
  std::size_t least = 2;
  std::size_t most = std::min(candidates.size(), kMultiNodesMax);
  while (least <= most) {
    const std::size_t count = (least + most) / 2;
    std::vector<Candidate> tried(candidates.begin(),
                                 candidates.begin() + static_cast<std::ptrdiff_t>(count));
    Move move = consider_many(simulator, tried);
    if (move.refusal.none()) {
      best = {std::move(tried), std::move(move.replacements)};
      least = count + 1;
    } else {
      why = std::move(move.refusal);
      most = count - 1;
    }
  }
  for (std::size_t i = best.candidates.size(); i < candidates.size(); ++i)
    outcome.refused.push_back({candidates[i].node, why});
  if (!best.candidates.empty()) outcome.commands.push_back(std::move(best));
  return outcome;
}

Outcome consolidate_one(Simulator& simulator, std::vector<Candidate> candidates,
                        const Allowed& allowed) {
  const World& world = simulator.world();
  Outcome outcome;
  sort_by_ratio(candidates);
  std::size_t tries = 0;
  for (const Candidate& candidate : in_turns(candidates)) {
    if (!outcome.commands.empty()) {
      outcome.refused.push_back({candidate.node, {"one_at_a_time", "Another node goes first"}});
      continue;
    }
    if (!may_go(allowed, candidate)) {
      outcome.refused.push_back({candidate.node, no_budget(reason_of(Method::kSingleNode))});
      continue;
    }
    if (!could_be_approved(world, candidate)) {
      outcome.refused.push_back(
          {candidate.node,
           {"not_worth_it", "NodePool is Balanced: even to delete it saves too little"}});
      continue;
    }
    if (++tries > kSingleTriesMax) break;
    Move move = consider(simulator, {candidate});
    if (move.refusal.none())
      move.refusal = approve(world, {candidate}, savings_of({candidate}, move));
    if (move.refusal.none())
      outcome.commands.push_back({{candidate}, std::move(move.replacements)});
    else
      outcome.refused.push_back({candidate.node, std::move(move.refusal)});
  }
  return outcome;
}

}  // namespace karst::disruption
