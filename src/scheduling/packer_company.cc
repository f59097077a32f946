// The part of Packer that keeps room for company: rows in trouble that must be on the host of
// others follow these at once, and these go where they can.
#include <algorithm>
#include <optional>
#include <tuple>

#include "scheduling/packer.h"

namespace karst::scheduling {

// Who must be beside its like brings company itself.
void Packer::note_company(std::size_t troubled, GroupId group) {
  for (const PodRow& row : prepared_.rows) {
    std::vector<std::size_t>& company = company_[row.group];
    if (std::find(row.matched.begin(), row.matched.end(), group) != row.matched.end() &&
        std::find(company.begin(), company.end(), troubled) == company.end())
      company.push_back(troubled);
  }
}

// Whether somebody whom the row must be beside is on that host.
bool Packer::is_beside(std::size_t row, int host) const {
  const auto& constraints = prepared_.rows[row].stages.back().constraints;
  return std::any_of(constraints.begin(), constraints.end(), [&](const Constraint& constraint) {
    return constraint.kind == ConstraintKind::kAffinity &&
           prepared_.topology.groups()[constraint.group].key == kHostKey &&
           count_at(counts_[constraint.group].sure, host) > 0;
  });
}

// Those in trouble that follow who is there, as many as find room, and whoever follows them.
std::int64_t Packer::place_followers(const Target& target) {
  const int host = static_cast<int>(
      target.kind == Target::Kind::kNode ? target.index : node_count() + target.index);
  std::int64_t placed = 0;
  for (bool progress = true; progress;) {
    progress = false;
    for (const std::size_t row : strategy_.troubled)
      while (left_[row] > 0 && is_beside(row, host) && place_at(row, target)) {
        progress = true;
        ++placed;
      }
  }
  return placed;
}

// Asked before a place is tried on a copy.
bool Packer::would_place(std::size_t row, const Target& target, std::size_t nth) {
  Fit fit;
  const auto& stages = prepared_.rows[row].stages;
  skip_ = nth;
  const bool would = std::any_of(stages.begin(), stages.end(), [&](const Stage& stage) {
    return find_at(row, stage, target, fit);
  });
  skip_ = 0;
  return would;
}

// Where those are that come after a pod that is placed there.
Packer::Target Packer::beside(const Target& target) const {
  return target.kind == Target::Kind::kNewClaim ? Target{Target::Kind::kClaim, claims_.size()}
                                                : target;
}

// Where most of them can follow, at the lowest price; false: nowhere, or nobody is left to follow.
// The caller counts the pod.
bool Packer::place_with_company(std::size_t row) {
  const std::vector<std::size_t>& company = company_[row];
  if (std::none_of(company.begin(), company.end(), [&](std::size_t follower) {
        return left_[follower] > (follower == row ? 1 : 0);
      }))
    return false;
  // The best is the least: followers negated, weight lost by a new claim in a lighter pool, price.
  using Value = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
  struct Place {
    Target target;
    std::size_t nth = 0;
    Value value;
  };
  std::optional<Place> best;
  const auto& pools = prepared_.pools.pools();
  const auto try_place = [&](const Target& target, std::size_t nth) {
    ++company_work_;
    if (company_work_ > kCompanyWorkMax || !would_place(row, target, nth)) return false;
    company_work_ += node_count() + claims_.size();
    const Target there = beside(target);
    Packer next = *this;
    next.place_at(row, target, nth);
    const std::int64_t followers = next.place_followers(there);
    const std::int64_t lost = target.kind == Target::Kind::kNewClaim
                                  ? pools.front().spec().weight - pools[target.index].spec().weight
                                  : 0;
    const Value value{-followers, lost, next.price()};
    if (followers > 0 && (!best || value < best->value)) best = Place{target, nth, value};
    return true;
  };
  const auto try_choices = [&](Target::Kind kind, std::size_t count) {
    for (std::size_t at = 0; at < count; ++at)
      for (std::size_t nth = 0; try_place({kind, at}, nth); ++nth) {
      }
  };
  for (std::size_t node = 0; node < node_count(); ++node)
    if (prepared_.problem.nodes[node].takes_pods) try_place({Target::Kind::kNode, node}, 0);
  try_choices(Target::Kind::kClaim, claims_.size());
  if (!hosts_are_final_) try_choices(Target::Kind::kNewClaim, pools.size());
  if (!best) return false;
  const Target there = beside(best->target);
  place_at(row, best->target, best->nth);
  place_followers(there);
  ++left_[row];
  queued_row_ = kNone;  // claims that were refused for good may take one now
  return true;
}

}  // namespace karst::scheduling
