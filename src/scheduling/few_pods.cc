#include "scheduling/few_pods.h"

#include <algorithm>
#include <tuple>
#include <vector>

namespace karst::scheduling {
namespace {

class Tree {
 public:
  Tree(Prepared& prepared, std::vector<std::size_t> pods, std::int64_t left)
      : prepared_(prepared), pods_(std::move(pods)), best_left_(left) {}

  // At each place in the best domains; where somebody is left over still, in every other one too.
  std::unique_ptr<Packer> search(const Strategy& strategy) {
    for (const bool every_domain : {false, true}) {
      if (best_left_ == 0) break;
      every_domain_ = every_domain;
      looks_ = 0;
      visit(Packer(prepared_, strategy), 0, 0, 0);
    }
    // Who found no place at its turn may find one beside those that came later.
    if (best_ != nullptr) best_->place_the_rest();
    return std::move(best_);
  }

 private:
  // `first`: equal pods go to places in their order, so that no choice is looked at twice.
  void visit(const Packer& state, std::size_t at, std::int64_t left, std::size_t first) {
    if (left > best_left_ || (left == best_left_ && best_ == nullptr)) return;
    if (at == pods_.size()) return keep(state, left);
    const bool again = at > 0 && pods_[at] == pods_[at - 1];
    const std::size_t from = again ? first : 0;
    const std::size_t nodes = prepared_.problem.nodes.size();
    const std::size_t claims = state.claims().size();
    for (std::size_t place = from; place < nodes + claims; ++place) {
      if (place < nodes && !prepared_.problem.nodes[place].takes_pods) continue;
      const auto kind = place < nodes ? Packer::Target::Kind::kNode : Packer::Target::Kind::kClaim;
      try_place(state, {kind, place < nodes ? place : place - nodes}, at, left, place);
    }
    if (from <= nodes + claims)
      for (std::size_t pool = 0; pool < prepared_.pools.pools().size(); ++pool)
        try_place(state, {Packer::Target::Kind::kNewClaim, pool}, at, left, nodes + claims);
    visit(state, at + 1, left + 1, SIZE_MAX);
  }

  void try_place(const Packer& state, const Packer::Target& target, std::size_t at,
                 std::int64_t left, std::size_t place) {
    for (std::size_t nth = 0; nth == 0 || every_domain_; ++nth) {
      if (looks_ == kFewPlacesMax) return;
      ++looks_;
      Packer next = state;
      if (!next.place_at(pods_[at], target, nth)) return;
      visit(next, at + 1, left, place);
    }
  }

  // How far below the heaviest pool its pods are: a pool that comes first is left only for more
  // pods.
  std::int64_t weight_lost(const Packer& packer) const {
    const std::vector<PoolTable>& pools = prepared_.pools.pools();
    std::int64_t lost = 0;
    for (const Claim& claim : packer.claims())
      lost += claim.pods * (pools.front().spec().weight - pools[claim.pool].spec().weight);
    return lost;
  }

  void keep(const Packer& state, std::int64_t left) {
    const auto value = [this](std::int64_t over, const Packer& packer) {
      return std::make_tuple(over, weight_lost(packer), packer.price(), packer.claims().size());
    };
    if (best_ != nullptr && value(best_left_, *best_) <= value(left, state)) return;
    best_ = std::make_unique<Packer>(state);
    best_left_ = left;
  }

  Prepared& prepared_;
  std::vector<std::size_t> pods_;  // their rows
  std::int64_t best_left_;
  std::unique_ptr<Packer> best_;
  std::size_t looks_ = 0;
  bool every_domain_ = false;
};

}  // namespace

std::unique_ptr<Packer> place_few(Prepared& prepared, const Strategy& strategy, std::int64_t left) {
  if (prepared.problem.nodes.size() > kFewNodesMax || !prepared.pools.reservations().empty())
    return nullptr;
  std::vector<std::size_t> pods;
  std::int64_t hopeless = 0;
  for (const std::size_t row : prepared.by_size) {
    const PodRow& own = prepared.rows[row];
    const std::int64_t count = std::max<std::int64_t>(own.source->count, 0);
    if (own.source->shape.priority != prepared.rows[0].source->shape.priority) return nullptr;
    if (count > kFewPodsMax - static_cast<std::int64_t>(pods.size())) return nullptr;
    if (own.unsupported.empty())
      pods.insert(pods.end(), static_cast<std::size_t>(count), row);
    else
      hopeless += count;
  }
  return Tree(prepared, std::move(pods), left - hopeless).search(strategy);
}

}  // namespace karst::scheduling
