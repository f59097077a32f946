#include "disruption/simulation.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "disruption/pods.h"

namespace karst::disruption {
namespace {

// Whose a pod to be placed is.
enum class Origin { kPending, kCandidate, kLeaving };

bool in_window(const World& world, const Node& node) {
  const Pool* pool = pool_of(world, node);
  if (pool == nullptr || !node.initialized) return false;
  const std::optional<std::int64_t> after = pool->pool.pool.consolidate_after_millis;
  if (!after || *after == 0) return false;
  const std::int64_t since = std::max(node.last_pod_event_millis, node.initialized_millis);
  return world.now.value() < since + *after;
}

class Builder {
 public:
  Builder(const World& world, const std::vector<Candidate>& candidates, Purpose purpose)
      : world_(world), away_(world.nodes.size(), false), is_candidate_(away_) {
    problem_ = world.base;
    for (const Candidate& candidate : candidates) is_candidate_[candidate.node] = true;
    for (std::size_t i = 0; i < world.nodes.size(); ++i) {
      away_[i] = is_candidate_[i] || world.nodes[i].leaving;
      if (away_[i]) problem_.nodes[i].takes_pods = false;
      problem_.nodes[i].in_consolidate_after =
          purpose == Purpose::kConsolidation && in_window(world, world.nodes[i]);
    }
    add_pools();
    for (std::size_t i = 0; i < world.pods.size(); ++i) add_pod(i);
  }

  bool has_pools() const { return !pools_.empty(); }

  Simulation solve() {
    const scheduling::Answer answer = scheduling::place(problem_);
    Simulation result;
    for (const scheduling::NewClaim& claim : answer.claims)
      result.claims.push_back({pools_[claim.pool], claim.requirements, claim.types.items()});
    note_unplaced(answer);
    note_uninitialized(answer);
    if (errors_.empty()) return result;
    std::string text = "Not all pods would schedule, ";
    for (std::size_t i = 0; i < std::min(errors_.size(), kErrorsToldMax); ++i)
      text += (i == 0 ? "" : " ") + errors_[i];
    if (errors_.size() > kErrorsToldMax)
      text += " and " + std::to_string(errors_.size() - kErrorsToldMax) + " other(s)";
    result.refusal = {"not_all_placed", std::move(text)};
    return result;
  }

 private:
  // Pools that can supply a machine, and what is used of their limits by what stays.
  void add_pools() {
    for (const Pool& pool : world_.pools) {
      const model::NodePool& spec = pool.pool.pool;
      if (!pool.ready || spec.replicas || spec.deletion_millis != 0) continue;
      scheduling::Pool supplier = pool.pool;
      supplier.used.clear();
      for (const auto& [name, limit] : spec.limits) {
        std::int64_t used = 0;
        for (std::size_t i = 0; i < world_.nodes.size(); ++i)
          if (!away_[i] && pool_of(world_, world_.nodes[i]) == &pool)
            used += name == "nodes" ? 1 : world_.nodes[i].capacity.amount(name);
        supplier.used.emplace_back(name, used);
      }
      problem_.pools.push_back(std::move(supplier));
      pools_.push_back(&pool);
    }
  }

  void add_pod(std::size_t at) {
    const Pod& pod = world_.pods[at];
    if (pod.node == kNowhere) {
      if (is_wanting(world_, pod)) place(at, Origin::kPending);
      return;
    }
    if (away_[pod.node] && is_reschedulable_now(world_, pod))
      return place(at, is_candidate_[pod.node] ? Origin::kCandidate : Origin::kLeaving);
    if (!is_active(pod)) return;
    scheduling::BoundPods bound;
    bound.node = pod.node;
    bound.namespace_name = pod.namespace_name;
    bound.labels = pod.labels;
    for (const model::PodAffinityTerm& term : world_.shape_of(pod).affinity)
      if (term.anti && term.preferred_weight == 0) bound.anti_affinity.push_back(term);
    problem_.bound.push_back(std::move(bound));
  }

  void place(std::size_t at, Origin origin) {
    const Pod& pod = world_.pods[at];
    const auto [known, is_new] = groups_.try_emplace(
        Key(pod.shape, pod.namespace_name, pod.labels, pod.volumes, pod.creation_millis, origin),
        problem_.pods.size());
    if (is_new) {
      scheduling::PodGroup group;
      group.shape = world_.shape_of(pod);
      group.shape.volume_claims.clear();
      group.namespace_name = pod.namespace_name;
      group.labels = pod.labels;
      group.count = 0;
      group.volumes = pod.volumes;
      group.creation_millis = pod.creation_millis;
      group.voluntary = origin == Origin::kCandidate;
      problem_.pods.push_back(std::move(group));
      origins_.push_back(origin);
      first_.push_back(at);
    }
    ++problem_.pods[known->second].count;
  }

  std::string name_of(std::size_t group) const { return full_name(world_.pods[first_[group]]); }

  // Of pods that were pending before nobody is to blame.
  void note_unplaced(const scheduling::Answer& answer) {
    for (const scheduling::Unplaced& unplaced : answer.unplaced)
      if (origins_[unplaced.group] != Origin::kPending)
        errors_.push_back(name_of(unplaced.group) + " => " + unplaced.message);
  }

  // Nothing may rest on a node that might never come up, except for what leaves anyway.
  void note_uninitialized(const scheduling::Answer& answer) {
    for (const scheduling::NodePlacement& placement : answer.placements) {
      const Node& node = world_.nodes[placement.node];
      if (!node.managed || node.initialized) continue;
      for (const scheduling::Share& share : placement.pods)
        if (origins_[share.group] == Origin::kCandidate)
          errors_.push_back(name_of(share.group) +
                            " => would schedule against uninitialized node/" + node.name);
    }
  }

  using Key = std::tuple<std::size_t, std::string, model::Labels, std::vector<scheduling::Volume>,
                         std::int64_t, Origin>;

  const World& world_;
  std::vector<bool> away_;
  std::vector<bool> is_candidate_;
  scheduling::Problem problem_;
  std::vector<const Pool*> pools_;  // by index into problem_.pools
  std::map<Key, std::size_t> groups_;
  std::vector<Origin> origins_;     // by group
  std::vector<std::size_t> first_;  // pod of the group
  std::vector<std::string> errors_;
};

}  // namespace

Simulation simulate(const World& world, const std::vector<Candidate>& candidates, Purpose purpose) {
  Builder builder(world, candidates, purpose);
  if (!builder.has_pools()) return {{"no_pools", "No NodePools found"}, {}};
  return builder.solve();
}

}  // namespace karst::disruption
