// Pods that stay where they are, as the solver counts them for spreads and affinities, and which of
// a pod's labels can matter to anybody. Internal to provisioning.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "reconcilers/queries.h"
#include "scheduling/problem.h"
#include "scheduling/storage.h"

namespace karst::reconcilers {

// Label keys that some selector of some pod asks for.
using SelectedKeys = std::set<std::string, std::less<>>;
SelectedKeys selected_keys(const ClusterState& state);
model::Labels projected(const model::Labels& labels, const SelectedKeys& keys);

// The pods of a node and those expected there, but not `moving` ones (by uid), as rows of
// problem.bound at `index`; their host ports and volumes are added to the node. Only what the
// demand can count is told: `count_all` when a pod to be placed has a spread or an affinity,
// otherwise only pods that repel others.
struct Neighbours {
  const SelectedKeys& keys;
  const std::set<std::string_view>& moving;
  bool count_all = false;
  const scheduling::Storage* storage = nullptr;  // nullptr: mounted volumes matter to nobody
};
void add_neighbours(const Neighbours& what, const std::vector<const projections::PodRow*>& pods,
                    std::size_t index, scheduling::Problem& problem);

}  // namespace karst::reconcilers
