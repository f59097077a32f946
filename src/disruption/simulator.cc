#include "disruption/simulator.h"

#include <algorithm>
#include <utility>

namespace karst::disruption {
namespace {

// The text about it lists places, and more of them where more was asked before.
bool lists_places(const scheduling::Unplaced& unplaced) {
  return std::any_of(
      unplaced.reasons.begin(), unplaced.reasons.end(),
      [](const scheduling::PoolReason& reason) { return reason.code == "topology"; });
}

bool tells_places(const scheduling::Answer& answer, const std::vector<Moving>& moving) {
  std::size_t texts = 0;
  for (const scheduling::Unplaced& unplaced : answer.unplaced) {
    if (moving[unplaced.group].origin == Origin::kPending) continue;
    if (texts++ == kErrorsToldMax) return false;
    if (lists_places(unplaced)) return true;
  }
  return false;
}

}  // namespace

void Simulator::prepare() {
  scheduling::Problem problem = world_.base;
  std::vector<bool> away(world_.nodes.size(), false);
  pools_ = suppliers(world_);
  for (std::size_t i = 0; i < world_.nodes.size(); ++i) {
    const Node& node = world_.nodes[i];
    away[i] = node.leaving;
    if (away[i]) problem.nodes[i].takes_pods = false;
    problem.nodes[i].in_consolidate_after = in_window(world_, node);
    const auto pool = std::find(pools_.begin(), pools_.end(), pool_of(world_, node));
    pool_of_.push_back(pool == pools_.end() ? kNowhere
                                            : static_cast<std::size_t>(pool - pools_.begin()));
  }
  for (const Pool* pool : pools_) problem.pools.push_back(supplier(world_, *pool, away));
  pods_on_.resize(world_.nodes.size());
  movers_.resize(world_.nodes.size());
  group_of_.assign(world_.pods.size(), kNowhere);
  bound_of_ = group_of_;
  std::map<Key, std::size_t> groups;
  for (std::size_t i = 0; i < world_.pods.size(); ++i) add_pod(i, problem, groups);
  asked_ = std::make_unique<scheduling::WithoutNodes>(std::move(problem));
}

void Simulator::add_pod(std::size_t at, scheduling::Problem& problem,
                        std::map<Key, std::size_t>& groups) {
  const Pod& pod = world_.pods[at];
  const bool is_bound = pod.node != kNowhere;
  const bool always = is_bound ? world_.nodes[pod.node].leaving && is_reschedulable_now(world_, pod)
                               : is_wanting(world_, pod);
  if (is_bound && !always && is_active(pod)) {
    bound_of_[at] = problem.bound.size();
    problem.bound.push_back(bound_pod(world_, pod));
  }
  const bool may_move =
      is_bound && !world_.nodes[pod.node].leaving && is_reschedulable(world_, pod);
  if (always) always_.push_back(at);
  if (may_move) pods_on_[pod.node].push_back(at);
  if (!always && !may_move) return;
  const auto [known, is_new] = groups.try_emplace(
      Key(pod.shape, pod.namespace_name, pod.labels, pod.volumes), problem.pods.size());
  if (is_new) {
    problem.pods.push_back(group_of(world_, pod));
    problem.pods.back().count = 0;
  }
  ++problem.pods[known->second].count;
  group_of_[at] = known->second;
}

const std::vector<std::size_t>& Simulator::movers(std::size_t node) {
  std::optional<std::vector<std::size_t>>& known = movers_[node];
  if (!known) {
    known.emplace();
    for (const std::size_t pod : pods_on_[node])
      if (is_reschedulable_now(world_, world_.pods[pod])) known->push_back(pod);
  }
  return *known;
}

// Pods in the world's order, as simulate() would come by them.
scheduling::WithoutNodesQuestion Simulator::question(const std::vector<Candidate>& candidates,
                                                     Purpose purpose, std::vector<Moving>& moving) {
  scheduling::WithoutNodesQuestion question;
  std::vector<std::size_t> pods = always_;
  for (const Candidate& candidate : candidates) {
    const std::size_t node = candidate.node;
    const std::size_t pool = pool_of_[node];
    question.nodes.push_back(
        {node, pool == kNowhere ? SIZE_MAX : pool, world_.nodes[node].capacity});
    for (const std::size_t pod : movers(node)) {
      pods.push_back(pod);
      if (bound_of_[pod] != kNowhere) question.gone.push_back({bound_of_[pod], group_of_[pod]});
    }
  }
  std::sort(pods.begin(), pods.end());
  std::map<std::tuple<std::size_t, std::int64_t, Origin>, std::size_t> rows;
  for (const std::size_t at : pods) {
    const Pod& pod = world_.pods[at];
    const Origin origin = pod.node == kNowhere             ? Origin::kPending
                          : world_.nodes[pod.node].leaving ? Origin::kLeaving
                                                           : Origin::kCandidate;
    const auto [known, is_new] =
        rows.try_emplace({group_of_[at], pod.creation_millis, origin}, question.asked.size());
    if (is_new) {
      // Only those for the sake of packing mind a node's window.
      const bool minds = origin == Origin::kCandidate && purpose == Purpose::kConsolidation;
      question.asked.push_back({group_of_[at], 0, pod.creation_millis, minds});
      moving.push_back({origin, at});
    }
    ++question.asked[known->second].count;
  }
  return question;
}

Simulation Simulator::make_anew(const std::vector<Candidate>& candidates, Purpose purpose) {
  ++made_anew_;
  return disruption::simulate(world_, candidates, purpose);
}

Simulation Simulator::simulate(const std::vector<Candidate>& candidates, Purpose purpose) {
  if (asked_ == nullptr) prepare();
  if (pools_.empty()) return {no_pools(), {}};
  if (std::any_of(candidates.begin(), candidates.end(),
                  [&](const Candidate& one) { return world_.nodes[one.node].leaving; }))
    return make_anew(candidates, purpose);
  std::vector<Moving> moving;
  const scheduling::Answer answer = asked_->place(question(candidates, purpose, moving));
  if (tells_places(answer, moving)) return make_anew(candidates, purpose);
  return simulation_of(world_, answer, moving, pools_);
}

}  // namespace karst::disruption
