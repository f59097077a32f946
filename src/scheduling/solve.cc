#include <algorithm>
#include <map>
#include <memory>

#include "scheduling/claims.h"
#include "scheduling/packer.h"
#include "scheduling/prepared.h"
#include "scheduling/problem.h"
#include "scheduling/reasons.h"
#include "scheduling/relaxations.h"

namespace karst::scheduling {
namespace {

// Pods left over by priority, highest first, negated: the larger sequence is the better answer.
using Placed = std::vector<std::int64_t>;

Placed placed_by_priority(const Prepared& prepared, const Packer& packer) {
  std::map<std::int32_t, std::int64_t, std::greater<>> counts;
  for (std::size_t i = 0; i < prepared.rows.size(); ++i)
    counts[prepared.rows[i].source->shape.priority] -= packer.left()[i];
  Placed placed;
  std::int64_t sum = 0;  // of this priority and those above
  for (const auto& [priority, count] : counts) placed.push_back(sum += count);
  return placed;
}

struct Attempt {
  std::unique_ptr<Packer> packer;
  Placed placed;
  std::int64_t price = 0;
};

// More pods first, from the highest priority down; then the lower price; then fewer claims.
bool better(const Attempt& a, const Attempt& b) {
  if (a.placed != b.placed) return a.placed > b.placed;
  if (a.price != b.price) return a.price < b.price;
  return a.packer->claims().size() < b.packer->claims().size();
}

class Search {
 public:
  explicit Search(Prepared& prepared) : prepared_(prepared) {}

  Packer& run() {
    try_strategies({false, false, false, false});
    const bool left_over =
        std::any_of(best_.placed.begin(), best_.placed.end(), [](std::int64_t n) { return n < 0; });
    if (left_over) {
      try_strategies({false, false, false, true});
      if (best_.placed.size() > 1) {
        try_strategies({true, false, false, false});
        try_strategies({true, false, false, true});
      }
    }
    return *best_.packer;
  }

 private:
  void try_strategies(Strategy strategy) {
    for (const bool cheapest_claim : {false, true})
      for (const bool cheapest_pool : {false, true}) {
        strategy.cheapest_claim = cheapest_claim;
        strategy.cheapest_pool = cheapest_pool;
        Attempt attempt;
        attempt.packer = std::make_unique<Packer>(prepared_, strategy);
        attempt.packer->run();
        attempt.placed = placed_by_priority(prepared_, *attempt.packer);
        attempt.price = attempt.packer->price();
        if (best_.packer == nullptr || better(attempt, best_)) best_ = std::move(attempt);
        if (best_.packer->claims().empty()) return;
      }
  }

  Prepared& prepared_;
  Attempt best_;
};

std::vector<NodePlacement> placements_of(const std::vector<Turn>& order) {
  std::map<std::size_t, std::map<std::size_t, std::int64_t>> by_node;
  for (const Turn& turn : order)
    if (!turn.on_claim) by_node[turn.target][turn.group] += turn.count;
  std::vector<NodePlacement> placements;
  for (const auto& [node, pods] : by_node) {
    placements.push_back({node, {}});
    for (const auto& [group, count] : pods) placements.back().pods.push_back({group, count});
  }
  return placements;
}

// Neighbours that say the same are one turn.
std::vector<Turn> turns_of(const Prepared& prepared, const Packer& packer) {
  std::vector<Turn> turns;
  for (Turn turn : packer.order()) {
    turn.group = prepared.rows[turn.group].group;
    if (!turns.empty() && turns.back().group == turn.group &&
        turns.back().on_claim == turn.on_claim && turns.back().target == turn.target)
      turns.back().count += turn.count;
    else
      turns.push_back(turn);
  }
  return turns;
}

}  // namespace

// Greedy in Karpenter's order under a handful of strategies, and the best of the answers.
Answer solve_once(Prepared& prepared) {
  Search search(prepared);
  Packer& best = search.run();
  Answer answer;
  answer.order = turns_of(prepared, best);
  answer.placements = placements_of(answer.order);
  answer.claims = list_claims(prepared, best);
  answer.unplaced = explain(prepared, best);
  return answer;
}

Answer solve(const Problem& problem) {
  Prepared prepared(problem);
  Answer answer = solve_once(prepared);
  if (!answer.unplaced.empty()) add_relaxations(prepared, answer);
  return answer;
}

}  // namespace karst::scheduling
