#include "reconcilers/problem_of.h"

#include <algorithm>
#include <set>

#include "reconcilers/buffers.h"
#include "reconcilers/interest.h"
#include "reconcilers/neighbours.h"
#include "reconcilers/offered.h"
#include "reconcilers/once_per_pod.h"
#include "reconcilers/pool_rules.h"
#include "reconcilers/storage_of.h"

namespace karst::reconcilers {
namespace {

using projections::PodRow;

bool comes_up(const ClusterState& state, const Context& context, const ClaimRow& row) {
  return row.initialized_at.value() != 0 || context.now < comes_up_until(state, row);
}

// Taints that count: while a node starts, its startup and ephemeral taints are going to leave.
std::vector<model::Taint> lasting_taints(const std::vector<model::Taint>& taints,
                                         const ClaimRow* row) {
  if (row == nullptr || row->initialized_at.value() != 0) return taints;
  std::vector<model::Taint> lasting;
  for (const model::Taint& taint : taints) {
    const bool startup = std::any_of(row->claim.startup_taints.begin(),
                                     row->claim.startup_taints.end(), [&](const model::Taint& one) {
                                       return one.key == taint.key && one.effect == taint.effect;
                                     });
    if (!startup && !model::is_known_ephemeral(taint)) lasting.push_back(taint);
  }
  return lasting;
}

std::vector<model::Taint> present_taints(const model::Node& node) {
  std::vector<model::Taint> taints = node.taints;
  if (node.cordoned) model::add_cordon(taints);
  return taints;
}

void add_node(const ClusterState& state, const Interest& interest, Supply& supply,
              const NodeRow& node, const ClaimRow* row) {
  const std::string& name = node.node.name.str();
  const projections::NodePods* pods = state.pods().on(name);
  scheduling::Node offer;
  offer.initialized = row == nullptr || row->initialized_at.value() != 0;
  // A starting node may not report everything it will have.
  offer.available = offer.initialized
                        ? node.node.allocatable
                        : model::max_of(node.node.allocatable, row->instance.allocatable);
  if (pods != nullptr) {
    offer.available -= pods->requests;
    offer.daemon_running = pods->daemon_requests;
  }
  bool is_counted = interest.in_pods(pods);
  const auto expect = [&](const std::vector<const PodRow*>& expected) {
    offer.available -= interest.expected_requests(expected, name);
    for (const PodRow* pod : expected)
      is_counted |= !interest.asks(pod) && projections::repels_beyond_its_node(*pod->shape);
  };
  expect(state.pods().expected_on_node(name));
  if (row != nullptr) expect(state.pods().expected_on_claim(row->claim.name.str()));
  if (!is_counted && !interest.in_room(offer.available)) return;
  offer.name = name;
  offer.labels = node.node.labels;
  offer.taints = lasting_taints(node.node.taints, row);
  if (node.node.cordoned) model::add_cordon(offer.taints);
  if (!offer.initialized) offer.present_taints = present_taints(node.node);
  if (row != nullptr && !offer.initialized)
    for (const auto& [key, value] : row->claim.labels) model::set_label(offer.labels, key, value);
  supply.nodes.push_back(
      {node.node.name, row == nullptr ? model::ClaimName() : row->claim.name, offer.initialized});
  supply.offers.push_back(std::move(offer));
}

void add_claim(const ClusterState& state, const Context& context, const Interest& interest,
               Supply& supply, const ClaimRow& row) {
  scheduling::Node offer;
  offer.name = row.claim.name.str();
  offer.labels = row.claim.labels;
  const auto label = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) model::set_label(offer.labels, key, value);
  };
  label(model::kInstanceTypeLabel, row.instance.offer.instance_type);
  label(model::kZoneLabel, row.instance.offer.zone);
  label(model::kCapacityTypeLabel, row.instance.offer.capacity_type);
  for (const model::InstanceType& type :
       context.class_types.of(state, context.provider, row.claim.node_class))
    if (type.name == row.instance.offer.instance_type)
      for (const model::RequirementSpec& spec : type.requirements)
        if (spec.op == model::Operator::kIn && spec.values.size() == 1)
          label(spec.key, spec.values.front());
  offer.taints = row.claim.taints;
  offer.initialized = false;
  offer.available = row.instance.allocatable;
  offer.available -=
      interest.expected_requests(state.pods().expected_on_claim(row.claim.name.str()), "");
  supply.nodes.push_back({{}, row.claim.name, false});
  supply.offers.push_back(std::move(offer));
}

// It is not on its way out by itself; its claim may be.
bool stays(const NodeRow& node) {
  return node.node.deletion_millis == 0 && node.tainted_at == Position();
}

// What the pool's claims have taken of its limits. The totals have every launched claim that stays;
// all others, and those whose machine is gone, are restless.
void add_limits(const ClusterState& state, const model::NodePool& pool, scheduling::Pool& out) {
  if (pool.limits.empty()) return;
  const projections::PoolTotals* totals = state.totals_of(pool.name);
  projections::PoolTotals used = totals == nullptr ? projections::PoolTotals() : *totals;
  for (const model::ClaimName& name : state.restless()) {
    const ClaimRow& row = *state.claims().find(name);
    if (row.claim.pool != pool.name) continue;
    const bool counted = row.launched() && !row.leaving();
    const bool gone = row.gone_at.value() != 0;
    if (counted && gone) {
      --used.nodes;
      used.capacity -= row.instance.capacity;
    } else if (!counted && !gone) {
      ++used.nodes;
      used.capacity += reserved_capacity(state, row);
    }
  }
  for (const auto& [resource, limit] : pool.limits)
    out.used.push_back(
        {resource, resource == "nodes" ? used.nodes : used.capacity.amount(resource)});
}

}  // namespace

Supply supply_of(const ClusterState& state, const Context& context, const Demand& demand,
                 bool all) {
  const Interest interest(demand, all);
  Supply supply;
  for (const auto& [name, slot] : state.nodes().slots()) {
    const NodeRow& node = slot.row;
    const ClaimRow* row = state.claim_by_provider_id(node.node.provider_id);
    const bool foreign = row == nullptr;
    if (!stays(node) ||
        (foreign &&
         (!node.node.ready || model::has_label(node.node.labels, model::kNodePoolLabel))) ||
        (!foreign && (leaves(*row) || !ours(*row, context) || !comes_up(state, context, *row)))) {
      if (interest.in_pods(state.pods().on(name.str()))) supply.taking_none.push_back(&node);
    } else {
      add_node(state, interest, supply, node, row);
    }
  }
  for (const model::ClaimName& name : state.restless()) {  // one without its node always is
    const ClaimRow& row = *state.claims().find(name);
    if (row.launched() && row.registered_at.value() == 0 && !leaves(row) &&
        state.node_of(row) == nullptr && ours(row, context) && comes_up(state, context, row))
      add_claim(state, context, interest, supply, row);
  }
  return supply;
}

namespace {

void add_demand(const ClusterState& state, const Demand& demand, scheduling::Problem& problem) {
  const StateStorage storage(state);
  OncePerPod once(state);
  for (std::size_t group = 0; group < demand.pods.size(); ++group) {
    const PodRow& first = *demand.pods[group].front();
    scheduling::PodGroup pods;
    pods.shape = *first.shape;
    pods.namespace_name = first.namespace_name == nullptr ? "" : *first.namespace_name;
    pods.labels = demand.labels[group];
    pods.count = static_cast<std::int64_t>(demand.pods[group].size());
    pods.creation_millis = first.creation_millis;
    for (const PodRow* pod : demand.pods[group])
      pods.creation_millis = std::min(pods.creation_millis, pod->creation_millis);
    resolve_volumes(storage, pods);
    if (const std::string claim = once.taken(pods.namespace_name, first); !claim.empty())
      pods.volume_error =
          "persistentvolumeclaim \"" + claim + "\" is ReadWriteOncePod, and another pod uses it";
    problem.pods.push_back(std::move(pods));
  }
}

// Pods that stay. Those expected on a node that is up are counted there; those expected on a claim,
// on the claim's node.
void add_bound(const ClusterState& state, const Demand& demand, const Supply& supply,
               scheduling::Problem& problem) {
  const SelectedKeys keys = selected_keys(state);
  std::set<std::string_view> moving;
  for (const auto& group : demand.pods)
    for (const PodRow* pod : group) moving.insert(pod->uid.str());
  const bool count_all =
      std::any_of(problem.pods.begin(), problem.pods.end(), [](const scheduling::PodGroup& pods) {
        return !pods.shape.spread.empty() || !pods.shape.affinity.empty();
      });
  const bool any_volumes =
      std::any_of(problem.pods.begin(), problem.pods.end(),
                  [](const scheduling::PodGroup& pods) { return !pods.volumes.empty(); });
  const StateStorage storage(state);
  const Neighbours what{keys, moving, count_all, any_volumes ? &storage : nullptr};
  for (std::size_t i = 0; i < supply.nodes.size(); ++i) {
    const SupplyNode& node = supply.nodes[i];
    std::set<const PodRow*> seen;
    const auto add = [&](const std::vector<const PodRow*>& pods) {
      std::vector<const PodRow*> fresh;
      for (const PodRow* pod : pods)
        if (seen.insert(pod).second) fresh.push_back(pod);
      add_neighbours(what, fresh, i, problem);
    };
    if (!node.node.empty()) {
      const auto* pods = state.pods().on(node.node.str());
      if (count_all || any_volumes || (pods != nullptr && pods->particular > 0))
        add(state.pods().on_node(node.node.str()));
      add(state.pods().expected_on_node(node.node.str()));
    }
    if (!node.claim.empty()) add(state.pods().expected_on_claim(node.claim.str()));
  }
  for (const NodeRow* node : supply.taking_none) {
    scheduling::Node leaving;
    leaving.name = node->node.name.str();
    leaving.labels = node->node.labels;
    leaving.taints = present_taints(node->node);
    leaving.takes_pods = false;
    const ClaimRow* row = state.claim_by_provider_id(node->node.provider_id);
    leaving.stays = stays(*node) && (row == nullptr || !leaves(*row));
    problem.nodes.push_back(std::move(leaving));
    add_neighbours(what, state.pods().on_node(node->node.name.str()), problem.nodes.size() - 1,
                   problem);
  }
}

// Every namespace that has pods in the problem, with its labels.
void add_namespaces(const ClusterState& state, scheduling::Problem& problem) {
  const auto add = [&](const std::string& name) {
    const auto [at, fresh] = problem.namespaces.try_emplace(name);
    if (!fresh) return;
    if (const auto* known = state.object<model::Namespace>("", name)) at->second = known->labels;
    model::set_label(at->second, "kubernetes.io/metadata.name", name);
  };
  for (const scheduling::PodGroup& pods : problem.pods) add(pods.namespace_name);
  for (const scheduling::BoundPods& bound : problem.bound) add(bound.namespace_name);
}

scheduling::Options options_of(const events::Config& config, const providers::Provider& provider) {
  using namespace scheduling;
  Options options;
  if (config.preference_policy_ignore) options.preferences = PreferencePolicy::kIgnore;
  if (config.min_values_best_effort) options.min_values = MinValuesPolicy::kBestEffort;
  if (!config.reserved_capacity) options.reserved = ReservedMode::kOff;
  options.label_aliases = known_label_aliases();
  options.reservation_id_label = provider.reservation_label();
  options.label_domain = provider.label_domain();
  return options;
}

// Pools that may get new nodes, with what each can buy now.
void add_pools(const ClusterState& state, const Context& context, scheduling::Problem& problem) {
  const Offered offered(state, context);
  for (const auto& [name, slot] : state.pools().slots()) {
    const model::NodePool& pool = slot.row.pool;
    if (pool.deletion_millis != 0 || pool.replicas ||
        !context.provider.understands(pool.node_class))
      continue;
    if (!pool_fault(state, pool).empty()) continue;
    scheduling::Pool out;
    out.pool = pool;
    out.types = offered.on_sale(pool);
    add_limits(state, pool, out);
    problem.pools.push_back(std::move(out));
  }
}

}  // namespace

scheduling::Problem problem_of(const ClusterState& state, const Context& context,
                               const Demand& demand, Supply& supply, bool with_buffers) {
  scheduling::Problem problem;
  problem.options = options_of(state.config(), context.provider);
  add_pools(state, context, problem);
  problem.nodes = std::move(supply.offers);
  add_demand(state, demand, problem);
  if (with_buffers) add_buffers(state, problem);
  add_bound(state, demand, supply, problem);
  add_attach_limits(state, problem);
  add_namespaces(state, problem);
  for (const auto& [uid, slot] : state.daemon_sets().slots())
    if (const auto* shape = state.shapes().find(slot.row.daemon_set.shape);
        shape != nullptr && slot.row.daemon_set.deletion_millis == 0)
      problem.daemons.push_back({shape->shape});
  return problem;
}

}  // namespace karst::reconcilers
