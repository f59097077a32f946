#include "scheduling/relaxation_groups.h"

#include <algorithm>
#include <set>
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

// Pods that run already and are of the same workload, as far as one can see: they look like it, and
// keep away from each other like it.
bool is_sibling(const BoundPods& bound, const PodGroup& group) {
  std::vector<model::PodAffinityTerm> terms;
  for (const model::PodAffinityTerm& term : group.shape.affinity)
    if (term.anti && term.preferred_weight == 0) terms.push_back(term);
  return bound.namespace_name == group.namespace_name && bound.labels == group.labels &&
         !terms.empty() && bound.anti_affinity == terms;
}

// And those of which one cannot tell.
bool may_be_sibling(const BoundPods& bound, const PodGroup& group) {
  return bound.namespace_name == group.namespace_name && bound.labels == group.labels &&
         !is_sibling(bound, group);
}

// The terms over that key become preferences in all pods of the workload, waiting and running.
Problem softened(const Problem& problem, std::size_t at, const std::string& key) {
  Problem changed = problem;
  PodGroup& group = changed.pods[at];
  for (BoundPods& bound : changed.bound)
    if (is_sibling(bound, group))
      std::erase_if(bound.anti_affinity,
                    [&](const model::PodAffinityTerm& term) { return term.topology_key == key; });
  for (model::PodAffinityTerm& term : group.shape.affinity)
    if (term.anti && term.preferred_weight == 0 && term.topology_key == key)
      term.preferred_weight = 1;
  return changed;
}

void relax_terms(const Problem& problem, Trials& trials, Unplaced& unplaced) {
  const PodGroup& group = problem.pods[unplaced.group];
  std::set<std::string> keys;
  for (const model::PodAffinityTerm& term : group.shape.affinity)
    if (repels_itself(term, group)) keys.insert(term.topology_key);
  for (const std::string& key : keys) {
    if (unplaced.relaxations.size() >= kRelaxationsMax) return;
    Relaxation one{"pod", "pod anti-affinity over " + key, "required", "preferred", ""};
    one.text = one.field + " required → preferred";
    const auto same = [&](const Relaxation& told) { return told.text == one.text; };
    if (std::any_of(unplaced.relaxations.begin(), unplaced.relaxations.end(), same)) continue;
    const std::int64_t left =
        trials.left_over(softened(problem, unplaced.group, key), unplaced.group);
    if (left >= 0 && left < unplaced.count) unplaced.relaxations.push_back(std::move(one));
  }
}

// With no more replicas than have a place none is left over.
void relax_replicas(const Problem& problem, Trials& trials, Unplaced& unplaced) {
  const PodGroup& group = problem.pods[unplaced.group];
  const model::OwnerKind owner = group.shape.owner_kind;
  if (owner != model::OwnerKind::kReplicaSet && owner != model::OwnerKind::kStatefulSet) return;
  std::int64_t all = group.count;
  for (const BoundPods& bound : problem.bound) {
    if (is_sibling(bound, group)) all += bound.count;
    if (may_be_sibling(bound, group)) return;  // how many replicas there are is not known
  }
  if (all <= unplaced.count || unplaced.relaxations.size() >= kRelaxationsMax) return;
  Problem fewer = problem;
  fewer.pods[unplaced.group].count -= unplaced.count;
  if (trials.apply() && trials.left_over(fewer, unplaced.group) != 0) return;
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
    if (repels || !group.shape.host_ports.empty())
      relax_replicas(problem, trials, answer.unplaced[i]);
  }
}

}  // namespace karst::scheduling
