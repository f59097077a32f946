#include "disruption/moving.h"

#include <algorithm>

namespace karst::disruption {
namespace {

// Why the pods of nodes that go have no place. Of pods that were pending before nobody is to blame.
std::vector<std::string> errors_in(const World& world, const scheduling::Answer& answer,
                                   const std::vector<Moving>& moving) {
  std::vector<std::string> errors;
  const auto name_of = [&](std::size_t group) {
    return full_name(world.pods[moving[group].first]);
  };
  for (const scheduling::Unplaced& unplaced : answer.unplaced)
    if (moving[unplaced.group].origin != Origin::kPending)
      errors.push_back(name_of(unplaced.group) + " => " + unplaced.message);
  // Nothing may rest on a node that might never come up, except for what leaves anyway.
  for (const scheduling::NodePlacement& placement : answer.placements) {
    const Node& node = world.nodes[placement.node];
    if (!node.managed || node.initialized) continue;
    for (const scheduling::Share& share : placement.pods)
      if (moving[share.group].origin == Origin::kCandidate)
        errors.push_back(name_of(share.group) + " => would schedule against uninitialized node/" +
                         node.name);
  }
  return errors;
}

}  // namespace

bool in_window(const World& world, const Node& node) {
  const Pool* pool = pool_of(world, node);
  if (pool == nullptr || !node.initialized) return false;
  const std::optional<std::int64_t> after = pool->pool.pool.consolidate_after_millis;
  if (!after || *after == 0) return false;
  const std::int64_t since = std::max(node.last_pod_event_millis, node.initialized_millis);
  return world.now.value() < since + *after;
}

std::vector<const Pool*> suppliers(const World& world) {
  std::vector<const Pool*> pools;
  for (const Pool& pool : world.pools) {
    const model::NodePool& spec = pool.pool.pool;
    if (pool.ready && !spec.replicas && spec.deletion_millis == 0) pools.push_back(&pool);
  }
  return pools;
}

scheduling::Pool supplier(const World& world, const Pool& pool, const std::vector<bool>& away) {
  scheduling::Pool supplier = pool.pool;
  supplier.used.clear();
  for (const auto& [name, limit] : pool.pool.pool.limits) {
    std::int64_t used = 0;
    for (std::size_t i = 0; i < world.nodes.size(); ++i)
      if (!away[i] && pool_of(world, world.nodes[i]) == &pool)
        used += name == "nodes" ? 1 : world.nodes[i].capacity.amount(name);
    supplier.used.emplace_back(name, used);
  }
  return supplier;
}

scheduling::PodGroup group_of(const World& world, const Pod& pod) {
  scheduling::PodGroup group;
  group.shape = world.shape_of(pod);
  group.shape.volume_claims.clear();
  group.namespace_name = pod.namespace_name;
  group.labels = pod.labels;
  group.volumes = pod.volumes;
  group.creation_millis = pod.creation_millis;
  return group;
}

scheduling::BoundPods bound_pod(const World& world, const Pod& pod) {
  scheduling::BoundPods bound{pod.node, pod.namespace_name, pod.labels, {}, 1};
  for (const model::PodAffinityTerm& term : world.shape_of(pod).affinity)
    if (term.anti && term.preferred_weight == 0) bound.anti_affinity.push_back(term);
  return bound;
}

Simulation simulation_of(const World& world, const scheduling::Answer& answer,
                         const std::vector<Moving>& moving, const std::vector<const Pool*>& pools) {
  Simulation result;
  for (const scheduling::NewClaim& claim : answer.claims)
    result.claims.push_back({pools[claim.pool], claim.requirements.items(), claim.types.items()});
  const std::vector<std::string> errors = errors_in(world, answer, moving);
  if (errors.empty()) return result;
  std::string text = "Not all pods would schedule, ";
  for (std::size_t i = 0; i < std::min(errors.size(), kErrorsToldMax); ++i)
    text += (i == 0 ? "" : " ") + errors[i];
  if (errors.size() > kErrorsToldMax)
    text += " and " + std::to_string(errors.size() - kErrorsToldMax) + " other(s)";
  result.refusal = {"not_all_placed", std::move(text)};
  return result;
}

}  // namespace karst::disruption
