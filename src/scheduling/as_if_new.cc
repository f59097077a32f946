#include "scheduling/as_if_new.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "model/labels.h"
#include "scheduling/aftermath.h"

namespace karst::scheduling {
namespace {

// Whether pods of the row may be there at all, whoever else is.
bool may_hold(Prepared& prepared, std::size_t node, const PodRow& row) {
  const Stage& stage = row.stages.back();
  const auto meets = [&](RequirementId demand) { return prepared.nodes.meets(node, demand); };
  return std::any_of(stage.ways.begin(), stage.ways.end(),
                     [&](const Way& way) { return meets(way.strict); }) &&
         std::any_of(row.volume_ways.begin(), row.volume_ways.end(), meets) &&
         model::first_untolerated(prepared.problem.nodes[node].taints,
                                  row.source->shape.tolerations) == nullptr;
}

bool holds(Prepared& prepared, std::size_t node, const Claim& claim) {
  Row content(prepared.columns.size(), 0);
  for (const Share& share : claim.shares) {
    const PodRow& row = prepared.rows[share.group];
    if (!may_hold(prepared, node, row)) return false;
    add_times(content, row.request, share.count);
  }
  return fits(content, prepared.nodes.room()[node]);
}

// By claim the node that takes its place, of those taken for new; kNone: none does.
std::vector<std::size_t> nodes_for(Prepared& prepared, std::vector<bool> is_new,
                                   const std::vector<Claim>& claims) {
  std::vector<std::size_t> found(claims.size(), kNone);
  for (std::size_t claim = 0; claim < claims.size(); ++claim)
    for (std::size_t node = 0; node < is_new.size() && found[claim] == kNone; ++node)
      if (is_new[node] && holds(prepared, node, claims[claim])) {
        found[claim] = node;
        is_new[node] = false;
      }
  return found;
}

// What the pool knows of the node's type; nullptr: it is not the pool's, or the type is gone.
const InstanceType* type_of(const Pool& pool, const Node& node) {
  if (model::label_value(node.labels, model::kNodePoolLabel) != pool.pool.name.str())
    return nullptr;
  const std::string_view bought = model::label_value(node.labels, model::kInstanceTypeLabel);
  const auto type = std::find_if(pool.types.begin(), pool.types.end(),
                                 [&](const InstanceType& one) { return one.name == bought; });
  return type == pool.types.end() ? nullptr : &*type;
}

// By node whether it is taken for a new one.
std::vector<bool> taken_for_new(const Problem& problem, bool only_empty) {
  std::vector<bool> is_new;
  for (const Node& node : problem.nodes) {
    const auto is_empty = [&](const Pool& pool) {
      const InstanceType* type = type_of(pool, node);
      return type != nullptr &&
             model::fits(type->allocatable, node.available + node.daemon_running);
    };
    is_new.push_back(
        node.takes_pods &&
        (!only_empty || std::any_of(problem.pools.begin(), problem.pools.end(), is_empty)));
  }
  for (const BoundPods& pods : problem.bound)
    if (only_empty) is_new[pods.node] = false;
  return is_new;
}

}  // namespace

bool may_fill_as_if_new(const Prepared& prepared, bool all_placed) {
  const std::vector<Node>& nodes = prepared.problem.nodes;
  if (nodes.empty() || nodes.size() > kAsIfNewNodesMax) return false;
  Row room(prepared.columns.size(), 0);
  for (std::size_t node = 0; node < nodes.size(); ++node)
    if (nodes[node].takes_pods) add_times(room, prepared.nodes.room()[node], 1);
  std::int64_t pods = 0;
  Row wanted(prepared.columns.size(), 0);
  for (const PodRow& row : prepared.rows) {
    const std::int64_t count = std::max<std::int64_t>(row.source->count, 0);
    if (count > kAsIfNewPodsMax - pods) return false;
    pods += count;
    add_times(wanted, row.request, count);
  }
  return !all_placed || fits(wanted, room);
}

std::optional<Before> before_nodes(const Problem& problem, AsIfNew which) {
  const std::vector<bool> is_new = taken_for_new(problem, which.only_empty);
  if (std::find(is_new.begin(), is_new.end(), true) == is_new.end()) return std::nullopt;
  if (which.only_empty && is_new == taken_for_new(problem, false)) return std::nullopt;
  std::vector<bool> has_bound(problem.nodes.size(), false);
  for (const BoundPods& pods : problem.bound) has_bound[pods.node] = true;
  Before before{problem, {}};
  before.problem.nodes.clear();
  std::vector<std::size_t> place(problem.nodes.size(), kNone);
  for (std::size_t i = 0; i < problem.nodes.size(); ++i) {
    if (is_new[i] && !has_bound[i]) continue;
    place[i] = before.nodes.size();
    before.nodes.push_back(i);
    before.problem.nodes.push_back(problem.nodes[i]);
    Node& node = before.problem.nodes.back();
    node.stays = node.stays || is_new[i];
    node.takes_pods = node.takes_pods && !is_new[i];
  }
  for (BoundPods& pods : before.problem.bound) pods.node = place[pods.node];
  for (Pool& pool : before.problem.pools) {
    if (!which.with_limits) pool.pool.limits.clear();
    for (std::size_t i = 0; i < problem.nodes.size(); ++i)
      if (const InstanceType* type = is_new[i] ? type_of(pool, problem.nodes[i]) : nullptr)
        use_up(pool, type->capacity, -1);
  }
  return before;
}

std::unique_ptr<Packer> fill_as_if_new(Prepared& prepared, const Before& before,
                                       const Packer& as_new, const Strategy& strategy) {
  std::vector<bool> is_new;
  for (const Node& node : prepared.problem.nodes) is_new.push_back(node.takes_pods);
  for (std::size_t i = 0; i < before.nodes.size(); ++i)
    if (before.problem.nodes[i].takes_pods) is_new[before.nodes[i]] = false;
  const std::vector<std::size_t> nodes = nodes_for(prepared, std::move(is_new), as_new.claims());
  auto packer = std::make_unique<Packer>(prepared, strategy);
  for (const Turn& turn : as_new.order()) {
    const std::size_t node = turn.on_claim ? nodes[turn.target] : before.nodes[turn.target];
    for (std::int64_t i = 0; i < (node == kNone ? 0 : turn.count); ++i)
      packer->place_at(turn.group, {Packer::Target::Kind::kNode, node});
  }
  packer->place_the_rest();
  return packer;
}

}  // namespace karst::scheduling
