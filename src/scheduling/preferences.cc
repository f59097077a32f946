#include "scheduling/preferences.h"

#include <algorithm>

namespace karst::scheduling {
namespace {

// What is still preferred.
struct Left {
  std::vector<const model::PodAffinityTerm*> affinity;  // heaviest first
  std::vector<const model::PodAffinityTerm*> anti_affinity;
  std::vector<const model::PreferredTerm*> terms;
  std::vector<const model::SpreadConstraint*> spreads;
};

Left all_preferences(const model::PodShape& shape) {
  Left left;
  for (const model::PodAffinityTerm& term : shape.affinity)
    if (term.preferred_weight > 0)
      (term.anti ? left.anti_affinity : left.affinity).push_back(&term);
  for (const model::PreferredTerm& term : shape.preferred_terms) left.terms.push_back(&term);
  for (const model::SpreadConstraint& spread : shape.spread)
    if (spread.schedule_anyway) left.spreads.push_back(&spread);
  const auto heavier = [](const model::PodAffinityTerm* a, const model::PodAffinityTerm* b) {
    return a->preferred_weight > b->preferred_weight;
  };
  std::stable_sort(left.affinity.begin(), left.affinity.end(), heavier);
  std::stable_sort(left.anti_affinity.begin(), left.anti_affinity.end(), heavier);
  std::stable_sort(left.terms.begin(), left.terms.end(),
                   [](const model::PreferredTerm* a, const model::PreferredTerm* b) {
                     return a->weight > b->weight;
                   });
  return left;
}

// Gives up one; false when there is none.
bool give_up_one(Left& left) {
  for (auto* terms : {&left.affinity, &left.anti_affinity})
    if (!terms->empty()) {
      terms->erase(terms->begin());
      return true;
    }
  if (!left.terms.empty()) {
    left.terms.erase(left.terms.begin());
    return true;
  }
  if (left.spreads.empty()) return false;
  left.spreads.front() = left.spreads.back();
  left.spreads.pop_back();
  return true;
}

Stage stage_of(const PodGroup& pod, const Left& left, const std::vector<RequirementId>& strict,
               RequirementTable& requirements, Topology& topology) {
  Stage stage;
  RequirementId preferred = requirements.intern({});
  if (!left.terms.empty()) {
    model::Requirements term;
    preferred = requirements.add_all(term, left.terms.front()->term.expressions)
                    ? requirements.intern(term)
                    : kImpossible;
  }
  for (const RequirementId way : strict)
    if (const RequirementId wanted = requirements.both(way, preferred); wanted != kImpossible)
      stage.ways.push_back({way, wanted});
  const auto add = [&](const model::PodAffinityTerm& term) {
    stage.constraints.push_back(topology.affinity(term, pod.namespace_name, pod.labels));
  };
  for (const model::SpreadConstraint& spread : pod.shape.spread)
    if (!spread.schedule_anyway) stage.constraints.push_back(topology.spread(pod, spread));
  for (const model::SpreadConstraint* spread : left.spreads)
    stage.constraints.push_back(topology.spread(pod, *spread));
  for (const model::PodAffinityTerm& term : pod.shape.affinity)
    if (term.preferred_weight == 0) add(term);
  for (const auto* terms : {&left.affinity, &left.anti_affinity})
    for (const model::PodAffinityTerm* term : *terms) add(*term);
  return stage;
}

}  // namespace

std::vector<Stage> stages_of(const PodGroup& pod, const Options& options, bool soft_taints,
                             RequirementTable& requirements, Topology& topology) {
  const std::vector<RequirementId> strict = requirements.alternatives_of(pod.shape);
  Left left;
  if (options.preferences == PreferencePolicy::kRespect) left = all_preferences(pod.shape);
  std::vector<Stage> stages;
  do stages.push_back(stage_of(pod, left, strict, requirements, topology));
  while (give_up_one(left));
  if (!soft_taints) return stages;
  stages.push_back(stages.back());
  stages.back().tolerates_preferred = true;
  return stages;
}

}  // namespace karst::scheduling
