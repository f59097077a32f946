#include "scheduling/without_nodes.h"

#include <algorithm>
#include <utility>

#include "scheduling/relaxations.h"

namespace karst::scheduling {

WithoutNodes::WithoutNodes(Problem problem)
    : problem_(std::move(problem)), is_gone_(problem_.bound.size(), false) {
  prepared_ = std::make_unique<Prepared>(problem_);
  rows_ = std::move(prepared_->rows);
  for (PodRow& row : rows_) matched_.push_back(std::move(row.matched));
  groups_ = std::move(problem_.pods);
  problem_.pods.clear();
  prepared_->rows.clear();
}

void WithoutNodes::count(const GonePods& pods, std::int64_t change) {
  const BoundPods& bound = problem_.bound[pods.bound];
  is_gone_[pods.bound] = change < 0;
  prepared_->topology.count(matched_[pods.group], rows_[pods.group].repels, bound.node,
                            change * bound.count, prepared_->nodes);
}

// Whether it took pods before. One that took none may be the last to hold a domain all the same,
// by the pods that are counted there.
bool WithoutNodes::leave(const GoneNode& gone) {
  Node& node = problem_.nodes[gone.node];
  const bool took_pods = node.takes_pods;
  prepared_->topology.hold(gone.node, took_pods && !node.stays ? -1 : 0, prepared_->nodes);
  if (gone.pool != SIZE_MAX) prepared_->pools.give_back(gone.pool, gone.capacity, 1);
  if (took_pods) prepared_->nodes.leave(gone.node);
  node.takes_pods = false;
  return took_pods;
}

void WithoutNodes::come_back(const GoneNode& gone, bool took_pods) {
  Node& node = problem_.nodes[gone.node];
  node.takes_pods = took_pods;
  if (took_pods) prepared_->nodes.come_back(gone.node);
  if (gone.pool != SIZE_MAX) prepared_->pools.give_back(gone.pool, gone.capacity, -1);
  prepared_->topology.hold(gone.node, took_pods && !node.stays ? 1 : 0, prepared_->nodes);
}

// Those asked for are the problem's pods, and their rows those that are prepared.
void WithoutNodes::select(const std::vector<AskedPods>& asked) {
  for (const AskedPods& one : asked) {
    PodGroup& group = problem_.pods.emplace_back(groups_[one.group]);
    group.count = one.count;
    group.creation_millis = one.creation_millis;
    group.voluntary = one.voluntary;
    prepared_->rows.push_back(rows_[one.group]);
  }
  Topology& topology = prepared_->topology;
  topology.ask_for(prepared_->rows, is_gone_);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    PodRow& row = prepared_->rows[i];
    row.group = i;
    row.source = &problem_.pods[i];
    for (const GroupId id : matched_[asked[i].group])
      if (topology.groups()[id].is_asked) row.matched.push_back(id);
    std::sort(row.matched.begin(), row.matched.end(), [&](GroupId a, GroupId b) {
      return topology.groups()[a].order < topology.groups()[b].order;
    });
  }
  prepared_->by_size = order_by_size(prepared_->rows);
  prepared_->reach.forget_rows();
}

Answer WithoutNodes::place(const WithoutNodesQuestion& question) {
  for (const GonePods& pods : question.gone) count(pods, -1);
  std::vector<bool> took_pods;
  for (const GoneNode& gone : question.nodes) took_pods.push_back(leave(gone));
  select(question.asked);
  Answer answer = place_once(*prepared_);
  problem_.pods.clear();
  prepared_->rows.clear();
  for (const GonePods& pods : question.gone) count(pods, 1);
  for (std::size_t i = question.nodes.size(); i-- > 0;) come_back(question.nodes[i], took_pods[i]);
  return answer;
}

}  // namespace karst::scheduling
