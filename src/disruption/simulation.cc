#include "disruption/simulation.h"

#include <map>
#include <tuple>

#include "disruption/moving.h"

namespace karst::disruption {
namespace {

class Builder {
 public:
  Builder(const World& world, const std::vector<Candidate>& candidates, Purpose purpose)
      : world_(world),
        away_(world.nodes.size(), false),
        is_candidate_(away_),
        pools_(suppliers(world)) {
    problem_ = world.base;
    for (const Candidate& candidate : candidates) is_candidate_[candidate.node] = true;
    for (std::size_t i = 0; i < world.nodes.size(); ++i) {
      away_[i] = is_candidate_[i] || world.nodes[i].leaving;
      if (away_[i]) problem_.nodes[i].takes_pods = false;
      problem_.nodes[i].in_consolidate_after =
          purpose == Purpose::kConsolidation && in_window(world, world.nodes[i]);
    }
    for (const Pool* pool : pools_) problem_.pools.push_back(supplier(world, *pool, away_));
    for (std::size_t i = 0; i < world.pods.size(); ++i) add_pod(i);
  }

  bool has_pools() const { return !pools_.empty(); }

  Simulation solve() const {
    return simulation_of(world_, scheduling::place(problem_), moving_, pools_);
  }

 private:
  void add_pod(std::size_t at) {
    const Pod& pod = world_.pods[at];
    if (pod.node == kNowhere) {
      if (is_wanting(world_, pod)) place(at, Origin::kPending);
      return;
    }
    if (away_[pod.node] && is_reschedulable_now(world_, pod))
      return place(at, is_candidate_[pod.node] ? Origin::kCandidate : Origin::kLeaving);
    if (is_active(pod)) problem_.bound.push_back(bound_pod(world_, pod));
  }

  void place(std::size_t at, Origin origin) {
    const Pod& pod = world_.pods[at];
    const auto [known, is_new] = groups_.try_emplace(
        Key(pod.shape, pod.namespace_name, pod.labels, pod.volumes, pod.creation_millis, origin),
        problem_.pods.size());
    if (is_new) {
      scheduling::PodGroup group = group_of(world_, pod);
      group.count = 0;
      group.voluntary = origin == Origin::kCandidate;
      problem_.pods.push_back(std::move(group));
      moving_.push_back({origin, at});
    }
    ++problem_.pods[known->second].count;
  }

  using Key = std::tuple<std::size_t, std::string, model::Labels, std::vector<scheduling::Volume>,
                         std::int64_t, Origin>;

  const World& world_;
  std::vector<bool> away_;
  std::vector<bool> is_candidate_;
  scheduling::Problem problem_;
  std::vector<const Pool*> pools_;  // by index into problem_.pools
  std::map<Key, std::size_t> groups_;
  std::vector<Moving> moving_;  // by group
};

}  // namespace

Simulation simulate(const World& world, const std::vector<Candidate>& candidates, Purpose purpose) {
  Builder builder(world, candidates, purpose);
  if (!builder.has_pools()) return {no_pools(), {}};
  return builder.solve();
}

}  // namespace karst::disruption
