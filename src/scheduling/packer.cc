#include "scheduling/packer.h"

#include <algorithm>

#include "base/check.h"

namespace karst::scheduling {

Packer::Packer(Prepared& prepared, Strategy strategy)
    : prepared_(prepared),
      strategy_(strategy),
      counts_(prepared.topology.start()),
      reservations_(prepared.pools.reservations()) {
  for (std::size_t i = 0; i < prepared.problem.nodes.size(); ++i) {
    const Node& node = prepared.problem.nodes[i];
    NodeState state{prepared.nodes.room()[i], node.host_ports, {}};
    for (const auto& [driver, claim] : node.volumes) state.volumes.push_back(driver + " " + claim);
    nodes_.push_back(std::move(state));
  }
  for (const PoolTable& pool : prepared.pools.pools()) {
    limits_.push_back(pool.remaining);
    nodes_left_.push_back(pool.nodes_remaining);
  }
  for (const PodRow& row : prepared.rows)
    left_.push_back(row.unsupported.empty() ? std::max<std::int64_t>(row.source->count, 0) : 0);
  deferred_.assign(prepared.rows.size(), false);
  in_domain_.resize(prepared.domains.keys.size());
}

void Packer::run() {
  std::vector<std::size_t> order = order_by_size(prepared_.rows);
  if (strategy_.by_priority)
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return prepared_.rows[a].source->shape.priority > prepared_.rows[b].source->shape.priority;
    });
  for (bool progress = true; progress;) {
    progress = false;
    for (const std::size_t row : order)
      while (left_[row] > 0 && place_one(row)) {
        --left_[row];
        progress = true;
      }
  }
  finish_order();
  for (std::size_t row = 0; row < left_.size(); ++row)
    if (!prepared_.rows[row].unsupported.empty()) left_[row] = prepared_.rows[row].source->count;
}

// Claims that are still open at the end tell their turns last.
void Packer::finish_order() {
  for (Claim& claim : claims_) {
    order_.insert(order_.end(), claim.waiting.begin(), claim.waiting.end());
    claim.waiting.clear();
  }
}

bool Packer::place_one(std::size_t row) {
  deferred_[row] = false;
  for (const Stage& stage : prepared_.rows[row].stages) {
    if (place_on_node(row, stage)) return true;
    if (strategy_.plan.empty() ? place_on_claim(row, stage) : place_as_planned(row, stage))
      return true;
    if (deferred_[row]) return false;
  }
  return false;
}

bool Packer::tolerates(const PodRow& row, const Stage& stage,
                       const std::vector<model::Taint>& taints) const {
  for (const model::Taint& taint : taints) {
    if (taint.effect == model::TaintEffect::kPreferNoSchedule && stage.tolerates_preferred)
      continue;
    if (!model::tolerates(row.source->shape.tolerations, taint)) return false;
  }
  return true;
}

bool Packer::place_on_node(std::size_t row, const Stage& stage) {
  for (const std::size_t node : prepared_.nodes.order()) {
    if (!node_takes(row, stage, node)) continue;
    const PodRow& pod = prepared_.rows[row];
    NodeState& state = nodes_[node];
    add_times(state.room, pod.request, -1);
    for (const auto& [column, volume] : pod.shared_volumes) {
      if (std::find(state.volumes.begin(), state.volumes.end(), volume) != state.volumes.end())
        continue;
      state.volumes.push_back(volume);
      --state.room[column];
    }
    const auto& ports = pod.source->shape.host_ports;
    state.ports.insert(state.ports.end(), ports.begin(), ports.end());
    count_on_node(row, node);
    order_.push_back({row, false, node, 1});
    return true;
  }
  return false;
}

bool Packer::node_takes(std::size_t row, const Stage& stage, std::size_t at) {
  const PodRow& pod = prepared_.rows[row];
  const Node& node = prepared_.problem.nodes[at];
  const NodeState& state = nodes_[at];
  if (!fits(pod.request, state.room) || (node.in_consolidate_after && pod.source->voluntary) ||
      !tolerates(pod, stage, node.taints) ||
      ports_conflict(pod.source->shape.host_ports, state.ports))
    return false;
  Row more(pod.shared_volumes.empty() ? 0 : state.room.size(), 0);
  for (const auto& [column, volume] : pod.shared_volumes)
    if (std::find(state.volumes.begin(), state.volumes.end(), volume) == state.volumes.end() &&
        ++more[column] + pod.request[column] > state.room[column])
      return false;
  const auto meets = [&](RequirementId demand) { return prepared_.nodes.meets(at, demand); };
  if (std::none_of(pod.volume_ways.begin(), pod.volume_ways.end(), meets)) return false;
  return std::any_of(stage.ways.begin(), stage.ways.end(), [&](const Way& way) {
    return meets(way.wanted) && node_topology_allows(pod, stage, at, way.strict);
  });
}

bool Packer::place_on_claim(std::size_t row, const Stage& stage) {
  Fit best;
  std::size_t best_claim = kNone;
  std::int64_t best_cost = 0;
  for (const std::size_t at : by_pods_) {
    Fit fit;
    const Claim& claim = claims_[at];
    if (!fits_claim(claim, row, stage, fit)) continue;
    const std::int64_t cost = fit.price - claim.view->machines[claim.machine].price;
    if (best_claim != kNone && cost >= best_cost) continue;
    best = std::move(fit);
    best_claim = at;
    best_cost = cost;
    if (!strategy_.cheapest_claim || cost <= 0) break;
  }
  if (best_claim != kNone && (!strategy_.cheapest_claim || best_cost <= 0)) {
    join(best_claim, row, best);
    return true;
  }
  Fit fresh;
  const Found found = fits_new(row, stage, fresh);
  if (best_claim != kNone && (found != Found::kYes || best_cost <= fresh.price)) {
    join(best_claim, row, best);
    return true;
  }
  if (found == Found::kReservedOut) deferred_[row] = true;
  if (found != Found::kYes) return false;
  open(row, fresh);
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
