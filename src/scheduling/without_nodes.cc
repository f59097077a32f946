#include "scheduling/without_nodes.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "scheduling/aftermath.h"
#include "scheduling/relaxations.h"

namespace karst::scheduling {
namespace {

void rename(std::vector<Share>& shares, const std::vector<std::size_t>& groups) {
  for (Share& share : shares) share.group = groups[share.group];
}

}  // namespace

WithoutNodes::WithoutNodes(Problem problem, const std::vector<Resident>& residents)
    : problem_(std::move(problem)), stays_(problem_.nodes.size()) {
  for (const Resident& resident : residents) {
    stays_[resident.node].push_back({resident.group, resident.count});
    problem_.bound.push_back(
        bound_of(problem_.pods[resident.group], resident.node, resident.count));
  }
  for (std::size_t group = 0; group < problem_.pods.size(); ++group) {
    pending_.push_back(problem_.pods[group].count);
    if (pending_.back() > 0) always_.push_back(group);
  }
  // How far off a limit is depends on how many pods there may be.
  for (const Resident& resident : residents) problem_.pods[resident.group].count += resident.count;
  prepared_ = std::make_unique<Prepared>(problem_);
  rows_ = std::move(prepared_->rows);
  for (PodRow& row : rows_) matched_.push_back(std::move(row.matched));
  groups_ = std::move(problem_.pods);
}

void WithoutNodes::count(const Share& stay, std::size_t node, std::int64_t pods) {
  prepared_->topology.count(matched_[stay.group], rows_[stay.group].repels, node, pods,
                            prepared_->nodes);
}

void WithoutNodes::leave(const GoneNode& gone, std::vector<std::int64_t>& counts) {
  Node& node = problem_.nodes[gone.node];
  KARST_CHECK(node.takes_pods, "a node that is taken away is there, and once");
  for (const Share& stay : stays_[gone.node]) {
    count(stay, gone.node, -stay.count);
    counts[stay.group] += stay.count;
  }
  if (!node.stays) prepared_->topology.hold(gone.node, -1, prepared_->nodes);
  if (gone.pool != SIZE_MAX) prepared_->pools.give_back(gone.pool, gone.capacity, 1);
  prepared_->nodes.leave(gone.node);
  node.takes_pods = false;
}

void WithoutNodes::come_back(const GoneNode& gone) {
  Node& node = problem_.nodes[gone.node];
  node.takes_pods = true;
  prepared_->nodes.come_back(gone.node);
  if (gone.pool != SIZE_MAX) prepared_->pools.give_back(gone.pool, gone.capacity, -1);
  for (const Share& stay : stays_[gone.node]) count(stay, gone.node, stay.count);
  if (!node.stays) prepared_->topology.hold(gone.node, 1, prepared_->nodes);
}

// The groups are the problem's pods, and their rows those that are prepared.
void WithoutNodes::select(const std::vector<std::size_t>& groups,
                          const std::vector<std::int64_t>& counts) {
  for (const std::size_t group : groups) {
    problem_.pods.push_back(std::move(groups_[group]));
    problem_.pods.back().count = counts[group];
    prepared_->rows.push_back(std::move(rows_[group]));
  }
  Topology& topology = prepared_->topology;
  topology.ask_for(prepared_->rows);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    PodRow& row = prepared_->rows[i];
    row.group = i;
    row.source = &problem_.pods[i];
    row.matched.clear();
    for (const GroupId id : matched_[groups[i]])
      if (topology.groups()[id].is_asked) row.matched.push_back(id);
  }
  prepared_->by_size = order_by_size(prepared_->rows);
  prepared_->reach.forget_rows();
}

void WithoutNodes::put_back(const std::vector<std::size_t>& groups) {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    groups_[groups[i]] = std::move(problem_.pods[i]);
    rows_[groups[i]] = std::move(prepared_->rows[i]);
  }
  problem_.pods.clear();
  prepared_->rows.clear();
}

Answer WithoutNodes::place(const std::vector<GoneNode>& gone) {
  std::vector<std::int64_t> counts = pending_;
  std::vector<std::size_t> groups = always_;
  for (const GoneNode& one : gone) {
    leave(one, counts);
    for (const Share& stay : stays_[one.node]) groups.push_back(stay.group);
  }
  std::sort(groups.begin(), groups.end());
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  select(groups, counts);
  Answer answer = place_once(*prepared_);
  put_back(groups);
  for (auto one = gone.rbegin(); one != gone.rend(); ++one) come_back(*one);
  for (NodePlacement& placement : answer.placements) rename(placement.pods, groups);
  for (NewClaim& claim : answer.claims) rename(claim.pods, groups);
  for (Turn& turn : answer.order) turn.group = groups[turn.group];
  for (Unplaced& unplaced : answer.unplaced) unplaced.group = groups[unplaced.group];
  return answer;
}

}  // namespace karst::scheduling
