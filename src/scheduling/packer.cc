#include "scheduling/packer.h"

#include <algorithm>

#include "base/check.h"

namespace karst::scheduling {

Packer::Packer(Prepared& prepared, Strategy strategy)
    : prepared_(prepared),
      strategy_(strategy),
      free_(prepared.nodes.room_in_order()),
      made_(strategy_.made),
      counts_(prepared.topology.start().size()),
      reservations_(prepared.pools.reservations()) {
  for (std::size_t i = 0; i < counts_.size(); ++i)
    if (prepared.topology.groups()[i].is_asked) counts_[i] = prepared.topology.start()[i];
  nothing_.assign(prepared.columns.size(), 0);
  note_most_free();
  for (const PoolTable& pool : prepared.pools.pools()) {
    limits_.push_back(pool.remaining);
    nodes_left_.push_back(pool.nodes_remaining);
  }
  for (const PodRow& row : prepared.rows)
    left_.push_back(row.unsupported.empty() ? std::max<std::int64_t>(row.source->count, 0) : 0);
  deferred_.assign(prepared.rows.size(), false);
  first_node_.assign(prepared.rows.size(), 0);
  in_domain_.resize(prepared.domains.keys.size());
  in_one_of_.resize(prepared.domains.keys.size());
  lows_.resize(counts_.size());
  note_wishes();
}

void Packer::run() {
  std::vector<std::size_t> order = order_of_rows();
  place_rounds(order);
  if (!strategy_.troubled.empty()) {
    for (std::vector<Wish>& wishes : wishes_) wishes.clear();
    for (std::vector<Balance>& balances : balances_) balances.clear();
    for (std::vector<std::size_t>& company : company_) company.clear();
    first_node_.assign(first_node_.size(), 0);
    place_rounds(order);
  }
  settle_hosts(std::move(order));
}

void Packer::place_the_rest() {
  std::vector<std::size_t> order = order_of_rows();
  place_rounds(order);
  settle_hosts(std::move(order));
}

void Packer::settle_hosts(std::vector<std::size_t> order) {
  // While nodes may come the fewest pods on a host are none; for those still left it is what the
  // hosts have. With Karpenter another node can always come.
  const auto waits_for_hosts = [&](std::size_t row) {
    return left_[row] > 0 && spreads_over_hosts(prepared_.rows[row]);
  };
  hosts_are_final_ = strategy_.plan.empty() &&
                     prepared_.problem.options.spread_domains == SpreadDomains::kReachable &&
                     std::any_of(order.begin(), order.end(), waits_for_hosts);
  std::erase_if(order, [&](std::size_t row) { return deferred_[row]; });
  if (hosts_are_final_) {
    queued_row_ = kNone;  // claims that were refused for good may take one now
    const std::vector<std::int64_t> before = left_;
    place_rounds(order);
    leans_on_hosts_ |= left_ != before;
  }
  finish();
}

void Packer::finish() {
  finish_order();
  for (std::size_t row = 0; row < left_.size(); ++row)
    if (!prepared_.rows[row].unsupported.empty()) left_[row] = prepared_.rows[row].source->count;
}

bool Packer::spreads_over_hosts(const PodRow& row) const {
  const auto& constraints = row.stages.back().constraints;
  return std::any_of(constraints.begin(), constraints.end(), [&](const Constraint& constraint) {
    return constraint.kind == ConstraintKind::kSpread &&
           prepared_.topology.groups()[constraint.group].key == kHostKey;
  });
}

std::vector<std::size_t> Packer::order_of_rows() const {
  std::vector<std::size_t> order = prepared_.by_size;
  if (strategy_.smallest_first) std::reverse(order.begin(), order.end());
  if (strategy_.troubled_first) {
    const std::vector<int> turns = turns_for_troubled();
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return turns[a] < turns[b]; });
  }
  if (strategy_.by_priority)
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return prepared_.rows[a].source->shape.priority > prepared_.rows[b].source->shape.priority;
    });
  return order;
}

void Packer::place_rounds(const std::vector<std::size_t>& order) {
  for (bool progress = true; progress;) {
    progress = false;
    for (const std::size_t row : order) {
      if (!(in_steps_[row] ? place_in_steps(row) : place_row(row))) continue;
      progress = true;
      // Before the next one is in their way.
      if (strategy_.troubled_first && !fixed_keys_[row].empty()) try_troubled(kNone);
    }
  }
}

// As many of its pods as can be; false: none.
bool Packer::place_row(std::size_t row) {
  const std::int64_t before = left_[row];
  while (left_[row] > 0 && place_one(row)) --left_[row];
  return left_[row] < before;
}

// Those in trouble, but for this row, while there is work left for it: where nobody can help them
// (the pool's limit is reached) each try looks at all there is.
void Packer::try_troubled(std::size_t but_for) {
  for (const std::size_t troubled : strategy_.troubled) {
    if (troubled == but_for || left_[troubled] == 0) continue;
    if (troubled_work_ >= kTroubledWorkMax) return;
    troubled_work_ += 1 + node_count() + claims_.size();
    place_row(troubled);
  }
}

bool Packer::place_in_steps(std::size_t row) {
  const std::int64_t before = left_[row];
  for (; steps_ < kStepsMax && left_[row] > 0 && place_one(row); ++steps_) {
    --left_[row];
    try_troubled(row);
  }
  const bool placed = left_[row] < before;
  return (steps_ == kStepsMax && place_row(row)) || placed;
}

// Claims that are still open at the end tell their turns last.
void Packer::finish_order() {
  for (std::size_t at = 0; at < claims_.size(); ++at) tell_waiting(at);
}

// A node with room is taken whatever the pod prefers: the kube-scheduler would bind it there at
// once, and a node bought for the preference would stand empty.
bool Packer::place_one(std::size_t row) {
  deferred_[row] = false;
  if (!company_[row].empty() && place_with_company(row)) return true;
  for (const Stage& stage : prepared_.rows[row].stages)
    if (place_on_node(row, stage)) return true;
  for (const Stage& stage : prepared_.rows[row].stages) {
    if (strategy_.plan.empty() ? place_on_claim(row, stage) : place_as_planned(row, stage))
      return true;
    if (deferred_[row]) return false;
  }
  return false;
}

bool Packer::find_at(std::size_t row, const Stage& stage, const Target& target, Fit& fit) {
  switch (target.kind) {
    case Target::Kind::kNode:
      return skip_ == 0 && node_takes(row, stage, target.index);
    case Target::Kind::kClaim:
      return fits_claim(claims_[target.index], row, stage, fit);
    case Target::Kind::kNewClaim:
      return fits_pool(target.index, row, stage, fit) == Found::kYes;
  }
  return false;
}

bool Packer::place_at(std::size_t row, const Target& target, std::size_t nth) {
  Fit fit;
  const auto& stages = prepared_.rows[row].stages;
  skip_ = nth;
  const bool found =
      left_[row] > 0 && std::any_of(stages.begin(), stages.end(), [&](const auto& stage) {
        return find_at(row, stage, target, fit);
      });
  skip_ = 0;
  if (!found) return false;
  switch (target.kind) {
    case Target::Kind::kNode:
      put_on_node(row, target.index);
      break;
    case Target::Kind::kClaim:
      join(target.index, row, fit);
      break;
    case Target::Kind::kNewClaim:
      open(row, fit);
      break;
  }
  --left_[row];
  return true;
}

bool Packer::has_no_ties(const PodRow& row) const {
  return row.stages.size() == 1 && row.stages[0].constraints.empty() &&
         wishes_[row.group].empty() && balances_[row.group].empty() &&
         std::none_of(row.matched.begin(), row.matched.end(),
                      [&](GroupId group) { return prepared_.topology.groups()[group].repels; });
}

bool Packer::place_on_claim(std::size_t row, const Stage& stage) {
  queue_claims(row, stage);
  return strategy_.cheapest_claim ? place_cheapest(row, stage) : place_emptiest(row, stage);
}

bool Packer::place_on_new(std::size_t row, Found found, const Fit& fit) {
  if (found == Found::kReservedOut) deferred_[row] = true;
  if (found != Found::kYes) return false;
  open(row, fit);
  return true;
}

bool Packer::place_as_planned(std::size_t row, const Stage& stage) {
  if (planned_ >= strategy_.plan.size()) return false;
  const std::size_t target = strategy_.plan[planned_++];
  Fit fit;
  if (target < claims_.size()) {
    if (!fits_claim(claims_[target], row, stage, fit)) return false;
    join(target, row, fit);
    return true;
  }
  if (fits_new(row, stage, fit) != Found::kYes) return false;
  open(row, fit);
  return true;
}

std::int64_t Packer::price() const {
  std::int64_t sum = 0;
  for (const Claim& claim : claims_) sum += claim.view->machines[claim.machine].price;
  return sum;
}

}  // namespace karst::scheduling
