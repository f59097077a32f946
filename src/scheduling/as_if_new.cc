#include "scheduling/as_if_new.h"

#include <algorithm>
#include <vector>

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

// By claim the node that takes its place; kNone: none does.
std::vector<std::size_t> nodes_for(Prepared& prepared, const std::vector<Claim>& claims) {
  std::vector<std::size_t> found(claims.size(), kNone);
  std::vector<bool> used(prepared.problem.nodes.size(), false);
  for (std::size_t claim = 0; claim < claims.size(); ++claim)
    for (std::size_t node = 0; node < used.size() && found[claim] == kNone; ++node)
      if (!used[node] && prepared.problem.nodes[node].takes_pods &&
          holds(prepared, node, claims[claim])) {
        found[claim] = node;
        used[node] = true;
      }
  return found;
}

}  // namespace

bool may_fill_as_if_new(const Prepared& prepared, const std::vector<std::int64_t>& left) {
  const std::vector<Node>& nodes = prepared.problem.nodes;
  if (nodes.empty() || nodes.size() > kAsIfNewNodesMax) return false;
  Row room(prepared.columns.size(), 0);
  for (std::size_t node = 0; node < nodes.size(); ++node)
    if (nodes[node].takes_pods) add_times(room, prepared.nodes.room()[node], 1);
  std::int64_t pods = 0;
  Row wanted(prepared.columns.size(), 0);
  for (std::size_t i = 0; i < prepared.rows.size(); ++i) {
    const PodRow& row = prepared.rows[i];
    const std::int64_t count = std::max<std::int64_t>(row.source->count, 0);
    if (count > kAsIfNewPodsMax - pods) return false;
    pods += count;
    if (row.unsupported.empty()) add_times(wanted, row.request, count - left[i]);
  }
  return fits(wanted, room);
}

Problem without_nodes(const Problem& problem, bool with_limits) {
  Problem bare = problem;
  for (Pool& pool : bare.pools) {
    if (!with_limits) pool.pool.limits.clear();
    pool.used.clear();
  }
  if (bare.bound.empty()) bare.nodes.clear();
  for (Node& node : bare.nodes) {
    node.stays = node.stays || node.takes_pods;
    node.takes_pods = false;
  }
  return bare;
}

std::unique_ptr<Packer> fill_as_if_new(Prepared& prepared, const Packer& as_new,
                                       const Strategy& strategy) {
  const std::vector<std::size_t> nodes = nodes_for(prepared, as_new.claims());
  auto packer = std::make_unique<Packer>(prepared, strategy);
  for (const Turn& turn : as_new.order()) {
    if (!turn.on_claim || nodes[turn.target] == kNone) continue;
    for (std::int64_t i = 0; i < turn.count; ++i)
      packer->place_at(turn.group, {Packer::Target::Kind::kNode, nodes[turn.target]});
  }
  packer->place_the_rest();
  return packer;
}

}  // namespace karst::scheduling
