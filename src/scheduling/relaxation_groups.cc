#include "scheduling/relaxation_groups.h"

#include <algorithm>
#include <string>

#include "scheduling/relaxations.h"
#include "scheduling/topology.h"

namespace karst::scheduling {
namespace {

// Required anti-affinity of a pod to others of its own kind.
bool repels_itself(const model::PodAffinityTerm& term, const PodGroup& group) {
  if (!term.anti || term.preferred_weight != 0 || !selects(term.selector, group.labels))
    return false;
  return term.namespace_selector.has_value() || term.namespaces.empty() ||
         std::find(term.namespaces.begin(), term.namespaces.end(), group.namespace_name) !=
             term.namespaces.end();
}

// Pods that run already and are of the same workload, as far as one can see.
bool is_sibling(const BoundPods& bound, const PodGroup& group) {
  return bound.namespace_name == group.namespace_name && bound.labels == group.labels &&
         !group.labels.empty();
}

// The term becomes a preference in all pods of the workload, waiting and running.
Problem softened(const Problem& problem, std::size_t at, std::size_t term) {
  Problem changed = problem;
  PodGroup& group = changed.pods[at];
  const model::PodAffinityTerm hard = group.shape.affinity[term];
  group.shape.affinity[term].preferred_weight = 1;
  for (BoundPods& bound : changed.bound)
    if (is_sibling(bound, group)) std::erase(bound.anti_affinity, hard);
  return changed;
}

void relax_terms(const Problem& problem, Trials& trials, Unplaced& unplaced) {
  const PodGroup& group = problem.pods[unplaced.group];
  for (std::size_t i = 0; i < group.shape.affinity.size(); ++i) {
    const model::PodAffinityTerm& term = group.shape.affinity[i];
    if (!repels_itself(term, group) || unplaced.relaxations.size() >= kRelaxationsMax) continue;
    Relaxation one{"pod", "pod anti-affinity over " + term.topology_key, "required", "preferred",
                   ""};
    one.text = one.field + " required → preferred";
    const auto same = [&](const Relaxation& told) { return told.text == one.text; };
    if (std::any_of(unplaced.relaxations.begin(), unplaced.relaxations.end(), same)) continue;
    const std::int64_t left =
        trials.left_over(softened(problem, unplaced.group, i), unplaced.group);
    if (left >= 0 && left < unplaced.count) unplaced.relaxations.push_back(std::move(one));
  }
}

// With no more replicas than have a place none is left over.
void relax_replicas(const Problem& problem, Unplaced& unplaced) {
  const PodGroup& group = problem.pods[unplaced.group];
  const model::OwnerKind owner = group.shape.owner_kind;
  if (owner != model::OwnerKind::kReplicaSet && owner != model::OwnerKind::kStatefulSet) return;
  std::int64_t all = group.count;
  for (const BoundPods& bound : problem.bound)
    if (is_sibling(bound, group)) all += bound.count;
  if (all <= unplaced.count || unplaced.relaxations.size() >= kRelaxationsMax) return;
  Relaxation one{"workload", "replicas", std::to_string(all), std::to_string(all - unplaced.count),
                 ""};
  one.text = "replicas " + one.from + " → " + one.to;
  unplaced.relaxations.push_back(std::move(one));
}

}  // namespace

void relax_groups(const Prepared& prepared, Trials& trials, Answer& answer) {
  const Problem& problem = prepared.problem;
  for (std::size_t i = 0; i < std::min(answer.unplaced.size(), kRelaxedRowsMax); ++i) {
    const PodGroup& group = problem.pods[answer.unplaced[i].group];
    const bool repels =
        std::any_of(group.shape.affinity.begin(), group.shape.affinity.end(),
                    [&](const model::PodAffinityTerm& term) { return repels_itself(term, group); });
    if (repels && trials.possible()) relax_terms(problem, trials, answer.unplaced[i]);
    if (repels || !group.shape.host_ports.empty()) relax_replicas(problem, answer.unplaced[i]);
  }
}

}  // namespace karst::scheduling
