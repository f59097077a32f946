#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "scheduling/as_if_new.h"
#include "scheduling/claims.h"
#include "scheduling/few_pods.h"
#include "scheduling/improve.h"
#include "scheduling/packer.h"
#include "scheduling/prepared.h"
#include "scheduling/problem.h"
#include "scheduling/reasons.h"
#include "scheduling/relaxations.h"

namespace karst::scheduling {
namespace {

// Pods left over, or placed where they could not be bound, by priority, highest first, negated: the
// larger sequence is the better answer.
using Placed = std::vector<std::int64_t>;

Placed placed_by_priority(const Prepared& prepared, const Packer& packer) {
  std::map<std::int32_t, std::int64_t, std::greater<>> counts;
  for (std::size_t i = 0; i < prepared.rows.size(); ++i)
    counts[prepared.rows[i].source->shape.priority] -= packer.left()[i] + packer.held_up(i);
  Placed placed;
  std::int64_t sum = 0;  // of this priority and those above
  for (const auto& [priority, count] : counts) placed.push_back(sum += count);
  return placed;
}

// Every way to part so many pods is tried, where there are not more nodes to copy each time.
constexpr std::size_t kPlannedPodsMax = 7;
constexpr std::size_t kPlannedNodesMax = 100;

// With more pods the emptiest claim first is not tried beside the cheapest one.
constexpr std::int64_t kBothOrdersPodsMax = 50'000;

// How often those who are left over are thought of first.
constexpr int kRepairsMax = 4;

struct Attempt {
  Strategy strategy;
  std::unique_ptr<Packer> packer;
  Placed placed;
  std::int64_t price = 0;
};

enum class Goal { kCheapest, kFewest };

// More pods first, from the highest priority down; then the lower price, then fewer claims, or the
// other way round.
bool better(const Attempt& a, const Attempt& b, Goal goal) {
  if (a.placed != b.placed) return a.placed > b.placed;
  const std::size_t claims_a = a.packer->claims().size();
  const std::size_t claims_b = b.packer->claims().size();
  if (goal == Goal::kFewest && claims_a != claims_b) return claims_a < claims_b;
  return a.price != b.price ? a.price < b.price : claims_a < claims_b;
}

bool nobody_is_left(const Attempt& attempt) {
  return std::none_of(attempt.placed.begin(), attempt.placed.end(),
                      [](std::int64_t n) { return n < 0; });
}

// Where a pod may go is a matter of where others are.
bool goes_by_others(const Prepared& prepared, const PodRow& row) {
  const auto& groups = prepared.topology.groups();
  return row.unsupported.empty() &&
         (!row.stages.back().constraints.empty() ||
          std::any_of(row.matched.begin(), row.matched.end(),
                      [&](GroupId group) { return groups[group].repels; }));
}

class Search {
 public:
  Search(Prepared& prepared, Goal goal) : prepared_(prepared), goal_(goal) {
    has_choice_ = prepared.pools.pools().size() > 1;
    for (const PodRow& row : prepared.rows) pods_ += row.source->count;
    for (const PodRow& row : prepared.rows)
      for (const Stage& stage : row.stages)
        has_choice_ |= stage.ways.size() > 1 || row.volume_ways.size() > 1;
  }

  Packer& run() {
    place_most();
    try_every_plan();
    if (goal_ == Goal::kCheapest && may_gain_as_if_new()) try_as_if_new();
    return *best_.packer;
  }

 private:
  // As many pods as can be, whatever the price.
  void place_most() {
    try_all({});
    if (!nobody_is_left(best_) && prepared_.may_lower_min_values())
      try_all({.lowers_min_values = true});
    if (!nobody_is_left(best_) && has_limits()) try_smallest_first();
    if (!nobody_is_left(best_)) try_every_place();
  }

  void try_all(Strategy strategy) {
    for (const bool by_priority : {false, true})
      for (const bool fix_domains : {false, true}) {
        if (by_priority && best_.placed.size() < 2) break;
        strategy.by_priority = by_priority;
        strategy.fix_domains = fix_domains;
        try_strategies(strategy);
        if (!by_priority && nobody_is_left(best_)) return;
      }
    repair(strategy.lowers_min_values);
    Strategy last_resort = best_.strategy;
    last_resort.lowers_min_values = strategy.lowers_min_values;
    last_resort.first_anew = true;
    if (!nobody_is_left(best_)) try_one(last_resort);
  }

  // Whoever is left over because of others is thought of from the start, and whoever is left over
  // then as well.
  void repair(bool lowers_min_values) {
    std::vector<std::size_t> troubled;
    const auto note = [&](const std::vector<std::int64_t>& left) {
      const std::size_t before = troubled.size();
      for (std::size_t row = 0; row < prepared_.rows.size(); ++row)
        if (left[row] > 0 && goes_by_others(prepared_, prepared_.rows[row]) &&
            std::find(troubled.begin(), troubled.end(), row) == troubled.end())
          troubled.push_back(row);
      return troubled.size() > before;
    };
    Strategy strategy = best_.strategy;
    strategy.fix_domains = true;
    strategy.lowers_min_values = lowers_min_values;
    bool more = note(best_.packer->left());
    for (int i = 0; i < kRepairsMax && more; ++i) {
      strategy.troubled = troubled;
      more = false;
      for (const bool first : {false, true}) {
        strategy.troubled_first = first;
        more |= note(try_one(strategy));
        if (nobody_is_left(best_)) return;
      }
    }
  }

  bool has_limits() const {
    const auto& pools = prepared_.pools.pools();
    return std::any_of(pools.begin(), pools.end(),
                       [](const PoolTable& pool) { return pool.has_limits(); });
  }

  void try_smallest_first() {
    Strategy strategy = best_.strategy;
    strategy.smallest_first = true;
    strategy.by_priority = best_.placed.size() > 1;
    for (const bool cheapest_claim : {false, true}) {
      strategy.cheapest_claim = cheapest_claim;
      try_one(strategy);
      if (nobody_is_left(best_)) return;
    }
  }

  void try_every_place() {
    std::int64_t left = 0;
    for (const std::int64_t pods : best_.packer->left()) left += pods;
    Attempt attempt;
    attempt.strategy = best_.strategy;
    attempt.packer =
        place_few(prepared_, Strategy{.lowers_min_values = best_.strategy.lowers_min_values}, left);
    if (attempt.packer == nullptr) return;
    attempt.placed = placed_by_priority(prepared_, *attempt.packer);
    attempt.price = attempt.packer->price();
    best_ = std::move(attempt);
  }

  // Whether something is bought, or somebody left over, that the nodes there are may have room for.
  bool may_gain_as_if_new() const {
    const bool all_placed = nobody_is_left(best_);
    return (!all_placed || !best_.packer->claims().empty()) &&
           may_fill_as_if_new(prepared_, all_placed);
  }

  void try_as_if_new() {
    const std::vector<Pool>& pools = prepared_.problem.pools;
    const bool has_limits = std::any_of(pools.begin(), pools.end(),
                                        [](const Pool& pool) { return !pool.pool.limits.empty(); });
    for (const bool only_empty : {false, true})
      for (const bool with_limits : {false, true})
        if ((has_limits || !with_limits) && may_gain_as_if_new())
          try_as_if_new({only_empty, with_limits});
  }

  void try_as_if_new(AsIfNew which) {
    const std::optional<Before> before = before_nodes(prepared_.problem, which);
    if (!before) return;
    Prepared as_new(before->problem);
    Search search(as_new, goal_);
    search.run();
    improve(as_new, *search.best_.packer);
    Attempt attempt;
    attempt.strategy = best_.strategy;
    attempt.packer =
        fill_as_if_new(prepared_, *before, *search.best_.packer,
                       Strategy{.lowers_min_values = best_.strategy.lowers_min_values});
    attempt.placed = placed_by_priority(prepared_, *attempt.packer);
    attempt.price = attempt.packer->price();
    if (better(attempt, best_, goal_)) best_ = std::move(attempt);
  }

  // With few pods on new claims, every way to part them. Not where there are preferences: a plan
  // does not know what giving one up is worth.
  void try_every_plan() {
    if (goal_ == Goal::kFewest && best_.packer->claims().size() < 2) return;
    std::vector<std::size_t> pods;  // their rows, in the order of placing
    for (const std::size_t row : prepared_.by_size) {
      std::int64_t on_claims = 0;
      for (const Claim& claim : best_.packer->claims())
        for (const Share& share : claim.shares) on_claims += share.group == row ? share.count : 0;
      if (on_claims > static_cast<std::int64_t>(kPlannedPodsMax - pods.size())) return;
      if (on_claims > 0 && prepared_.rows[row].stages.size() > 1) return;
      pods.insert(pods.end(), static_cast<std::size_t>(on_claims), row);
    }
    if (pods.size() < 2 || prepared_.problem.nodes.size() > kPlannedNodesMax) return;
    std::vector<std::size_t> plan(pods.size(), 0);
    do {
      for (const bool cheapest_pool : {false, true}) {
        try_one({.cheapest_pool = cheapest_pool,
                 .lowers_min_values = best_.strategy.lowers_min_values,
                 .plan = plan});
        if (!has_choice_) break;
      }
    } while (next_plan(pods, plan));
  }

  // The next way to part the pods into claims numbered as they are opened. Equal pods are in the
  // order of their claims.
  static bool next_plan(const std::vector<std::size_t>& pods, std::vector<std::size_t>& plan) {
    for (std::size_t at = plan.size(); at-- > 1;) {
      const std::size_t opened =
          *std::max_element(plan.begin(), plan.begin() + static_cast<std::ptrdiff_t>(at)) + 1;
      if (plan[at] >= opened) continue;
      ++plan[at];
      for (std::size_t later = at + 1; later < plan.size(); ++later)
        plan[later] = pods[later] == pods[later - 1] ? plan[later - 1] : 0;
      return true;
    }
    return false;
  }

  void try_strategies(Strategy strategy) {
    for (const bool cheapest_claim : {false, true})
      for (const bool cheapest_pool : {false, true}) {
        if (!cheapest_claim && pods_ > kBothOrdersPodsMax) break;
        if (cheapest_pool && !has_choice_) break;
        strategy.cheapest_claim = cheapest_claim;
        strategy.cheapest_pool = cheapest_pool;
        try_one(strategy);
        if (best_.packer->claims().empty()) return;
      }
  }

  // Pods left over then, by row. Where claims come up in places that pods before them did not
  // count, once more with these known.
  std::vector<std::int64_t> try_one(const Strategy& strategy) {
    std::vector<Made> made;
    const std::vector<std::int64_t> left = try_once(strategy, made);
    if (made.empty()) return left;
    Strategy knowing = strategy;
    knowing.made = std::move(made);
    made.clear();
    try_once(knowing, made);
    return left;
  }

  // `made`: what was not counted, if that holds pods up.
  std::vector<std::int64_t> try_once(const Strategy& strategy, std::vector<Made>& made) {
    Attempt attempt;
    attempt.strategy = strategy;
    attempt.packer = std::make_unique<Packer>(prepared_, strategy);
    attempt.packer->run();
    attempt.placed = placed_by_priority(prepared_, *attempt.packer);
    attempt.price = attempt.packer->price();
    std::vector<std::int64_t> left = attempt.packer->left();
    for (std::size_t row = 0; row < left.size() && made.empty(); ++row)
      if (attempt.packer->held_up(row) > 0) made = attempt.packer->made();
    if (best_.packer == nullptr || better(attempt, best_, goal_)) best_ = std::move(attempt);
    return left;
  }

  Prepared& prepared_;
  Goal goal_;
  std::int64_t pods_ = 0;
  bool has_choice_ = false;  // of pools, alternatives or volumes' places: the cheapest may pay
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

// Greedy in Karpenter's order under a handful of strategies, and the best of the answers.
Answer search(Prepared& prepared, Goal goal) {
  Search attempts(prepared, goal);
  Packer& best = attempts.run();
  Answer answer;
  answer.unplaced = explain(prepared, best);
  if (goal == Goal::kCheapest) improve(prepared, best);
  answer.order = turns_of(prepared, best);
  answer.placements = placements_of(answer.order);
  answer.claims = list_claims(prepared, best);
  return answer;
}

// Whichever of its types each claim comes up as.
bool keeps_limits(const Problem& problem, const Answer& answer) {
  for (std::size_t pool = 0; pool < problem.pools.size(); ++pool)
    for (const auto& [name, limit] : problem.pools[pool].pool.limits) {
      if (name == "nodes") continue;  // counted all along
      Wide sum = 0;
      for (const auto& [used_name, amount] : problem.pools[pool].used)
        if (used_name == name) sum += amount;
      for (const NewClaim& claim : answer.claims)
        if (claim.pool == pool) sum += claim.max_capacity.amount(name);
      if (sum > limit) return false;
    }
  return true;
}

}  // namespace

Answer solve_once(Prepared& prepared) {
  return search(prepared, Goal::kCheapest);
}

Answer place_once(Prepared& prepared) {
  return search(prepared, Goal::kFewest);
}

Answer place(const Problem& problem) {
  Prepared prepared(problem);
  return place_once(prepared);
}

std::vector<std::int64_t> left_over(Prepared& prepared) {
  return Search(prepared, Goal::kCheapest).run().left();
}

Answer solve(const Problem& problem) {
  const auto with = [&](FarLimits far_limits) -> std::optional<Answer> {
    Prepared prepared(problem, far_limits);
    Answer answer = solve_once(prepared);
    if (prepared.pools.must_check_limits() && !keeps_limits(problem, answer)) return std::nullopt;
    if (!answer.unplaced.empty()) add_relaxations(prepared, answer);
    return answer;
  };
  if (std::optional<Answer> answer = with(FarLimits::kChecked)) return std::move(*answer);
  return *with(FarLimits::kLookedAt);
}

}  // namespace karst::scheduling
