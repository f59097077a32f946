#include "scheduling/aftermath.h"

#include <algorithm>

#include "model/labels.h"
#include "scheduling/claims.h"

namespace karst::scheduling {
namespace {

model::Resources requests_of(const Problem& problem, const std::vector<Share>& shares) {
  model::Resources sum;
  for (const Share& share : shares)
    for (std::int64_t i = 0; i < share.count; ++i) sum += problem.pods[share.group].shape.requests;
  return sum;
}

void bind(const Problem& problem, const std::vector<Share>& shares, std::size_t at,
          Problem& result) {
  Node& node = result.nodes[at];
  for (const Share& share : shares) {
    const PodGroup& pod = problem.pods[share.group];
    result.bound.push_back(bound_of(pod, at, share.count));
    node.host_ports.insert(node.host_ports.end(), pod.shape.host_ports.begin(),
                           pod.shape.host_ports.end());
    for (const Volume& volume : pod.volumes)
      for (std::int64_t i = 0; i < (volume.claim.empty() ? share.count : 1); ++i)
        node.volumes.emplace_back(volume.driver, volume.claim);
  }
}

const InstanceType& type_named(const Pool& pool, const std::string& name) {
  return *std::find_if(pool.types.begin(), pool.types.end(),
                       [&](const InstanceType& type) { return type.name == name; });
}

Node node_of(const Problem& problem, const NewClaim& claim, std::size_t number) {
  const Pool& pool = problem.pools[claim.pool];
  const InstanceType& type = type_named(pool, claim.offers.front().instance_type);
  Node node;
  node.name = "new " + std::to_string(number + 1) + " of " + pool.pool.name.str();
  node.labels = node_labels(pool, claim, claim.offers.front());
  node.taints = pool.pool.taints;
  node.available = type.allocatable - claim.requests;
  node.daemon_running = claim.requests - requests_of(problem, claim.pods);
  node.attach_limits = type.attach_limits;
  node.initialized = false;
  return node;
}

// Limits by the type that its node is of, as the next solve would count it.
void buy(const NewClaim& claim, const std::string& reservation_label, Pool& pool) {
  const InstanceType& bought = type_named(pool, claim.offers.front().instance_type);
  use_up(pool, bought.capacity, 1);
  if (claim.reservations.empty()) return;
  std::vector<InstanceType> types = pool.types.items();
  for (const std::string& id : claim.reservations)
    for (InstanceType& type : types)
      for (Offering& offering : type.offerings)
        if (offering.reservation_capacity > 0 && value_of(offering, reservation_label) == id)
          --offering.reservation_capacity;
  pool.types = std::move(types);
}

}  // namespace

BoundPods bound_of(const PodGroup& pods, std::size_t node, std::int64_t count) {
  BoundPods bound{node, pods.namespace_name, pods.labels, {}, count};
  for (const model::PodAffinityTerm& term : pods.shape.affinity)
    if (term.anti && term.preferred_weight == 0) bound.anti_affinity.push_back(term);
  return bound;
}

void use_up(Pool& pool, const model::Resources& capacity, std::int64_t nodes) {
  for (const auto& [name, limit] : pool.pool.limits)
    pool.used.emplace_back(name, nodes * (name == "nodes" ? 1 : capacity.amount(name)));
}

model::Labels node_labels(const Pool& pool, const NewClaim& claim, const model::Offer& offer) {
  model::Labels labels = claim_labels(pool, claim);
  for (const model::RequirementSpec& spec : type_named(pool, offer.instance_type).requirements)
    if (spec.op == model::Operator::kIn && spec.values.size() == 1)
      model::set_label(labels, spec.key, spec.values.front());
  for (const model::RequirementSpec& spec : claim.requirements)
    if (spec.op == model::Operator::kIn && spec.values.size() == 1)
      model::set_label(labels, spec.key, spec.values.front());
  if (!offer.zone.empty()) model::set_label(labels, model::kZoneLabel, offer.zone);
  if (!offer.capacity_type.empty())
    model::set_label(labels, model::kCapacityTypeLabel, offer.capacity_type);
  return labels;
}

Problem after(const Problem& problem, const Answer& answer) {
  Problem result = problem;
  result.pods.clear();
  for (const NodePlacement& placement : answer.placements) {
    result.nodes[placement.node].available -= requests_of(problem, placement.pods);
    bind(problem, placement.pods, placement.node, result);
  }
  for (std::size_t i = 0; i < answer.claims.size(); ++i) {
    const NewClaim& claim = answer.claims[i];
    result.nodes.push_back(node_of(problem, claim, i));
    bind(problem, claim.pods, result.nodes.size() - 1, result);
    buy(claim, problem.options.reservation_id_label, result.pools[claim.pool]);
  }
  return result;
}

}  // namespace karst::scheduling
