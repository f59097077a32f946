#include "reconcilers/neighbours.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace karst::reconcilers {
namespace {

void note(const model::LabelSelector& selector, SelectedKeys& keys) {
  for (const model::RequirementSpec& spec : selector.expressions) keys.insert(spec.key);
}

std::vector<model::PodAffinityTerm> repelling_terms(const model::PodShape& shape) {
  std::vector<model::PodAffinityTerm> terms;
  for (const model::PodAffinityTerm& term : shape.affinity)
    if (term.anti && term.preferred_weight == 0) terms.push_back(term);
  return terms;
}

}  // namespace

SelectedKeys selected_keys(const ClusterState& state) {
  SelectedKeys keys;
  for (const auto& [hash, slot] : state.shapes().slots()) {
    for (const model::SpreadConstraint& spread : slot.row.shape.spread) {
      note(spread.selector, keys);
      keys.insert(spread.match_label_keys.begin(), spread.match_label_keys.end());
    }
    for (const model::PodAffinityTerm& term : slot.row.shape.affinity) {
      note(term.selector, keys);
      keys.insert(term.match_label_keys.begin(), term.match_label_keys.end());
      keys.insert(term.mismatch_label_keys.begin(), term.mismatch_label_keys.end());
    }
  }
  return keys;
}

model::Labels projected(const model::Labels& labels, const SelectedKeys& keys) {
  model::Labels kept;
  for (const auto& label : labels)
    if (keys.contains(label.first)) kept.push_back(label);
  return kept;
}

void add_neighbours(const Neighbours& what, const std::vector<const projections::PodRow*>& pods,
                    std::size_t index, scheduling::Problem& problem) {
  using Key = std::tuple<std::string, model::Labels, model::ShapeHash>;
  std::map<Key, std::size_t> rows;
  for (const projections::PodRow* pod : pods) {
    if (!pod->active() || what.moving.contains(pod->uid.str())) continue;
    const auto& ports = pod->shape->host_ports;
    std::vector<model::HostPort>& taken = problem.nodes[index].host_ports;
    taken.insert(taken.end(), ports.begin(), ports.end());
    const std::string space = pod->namespace_name == nullptr ? "" : *pod->namespace_name;
    if (what.storage != nullptr)
      for (auto& volume : scheduling::mounted(*what.storage, space, pod->shape->volume_claims))
        problem.nodes[index].volumes.push_back(std::move(volume));
    std::vector<model::PodAffinityTerm> repels = repelling_terms(*pod->shape);
    if (!what.count_all && repels.empty()) continue;
    Key key(space, projected(pod->labels(), what.keys),
            repels.empty() ? model::ShapeHash() : pod->shape_hash);
    const auto [at, is_new] = rows.try_emplace(key, problem.bound.size());
    if (is_new)
      problem.bound.push_back({index, std::get<0>(key), std::get<1>(key), std::move(repels), 1});
    else
      ++problem.bound[at->second].count;
  }
}

}  // namespace karst::reconcilers
