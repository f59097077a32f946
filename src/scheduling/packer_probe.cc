// The part of Packer that says what stood in the way.
#include <algorithm>

#include "scheduling/packer.h"

namespace karst::scheduling {

Packer::Probe Packer::probe(std::size_t row, std::size_t pool) {
  const PodRow& pod = prepared_.rows[row];
  const PoolTable& table = prepared_.pools.pools()[pool];
  const Stage& stage = pod.stages.back();
  const auto within_limits = [&](const TypeRow& type) {
    return covers(limits_[pool], type.limited);
  };
  if (!table.possible || table.types.empty()) return {Obstacle::kNoTypes};
  if (table.limits_nodes && nodes_left_[pool] <= 0) return {Obstacle::kNodeLimit};
  if (std::none_of(table.types.begin(), table.types.end(), within_limits))
    return {Obstacle::kLimit};
  if (!tolerates(pod, stage, table.spec().taints)) return {Obstacle::kTaints};

  Row sum;
  sum_with(nullptr, pod, sum);
  const int host = static_cast<int>(node_count() + claims_.size());
  Probe furthest{Obstacle::kRequirements};
  const auto reach = [&](Obstacle obstacle, RequirementId strict, RequirementId together) {
    if (obstacle > furthest.obstacle || furthest.strict == kImpossible)
      furthest = {obstacle, strict, together};
  };
  std::vector<RequirementId> narrowed;
  for (const Way& way : stage.ways) {
    const RequirementId with_pod = prepared_.requirements.combine(table.base, way.wanted);
    reach(with_pod == kImpossible ? Obstacle::kRequirements : Obstacle::kVolumes, way.strict,
          with_pod == kImpossible ? table.base : with_pod);
    for (const RequirementId volumes : pod.volume_ways) {
      if (with_pod == kImpossible) break;
      const RequirementId all = prepared_.requirements.combine(with_pod, volumes);
      if (all == kImpossible) continue;
      reach(Obstacle::kTopology, way.strict, all);
      if (!host_allows(pod, stage, host, way.strict) ||
          !choose_domains(nullptr, pool, all, pod, stage, way.strict, narrowed))
        continue;
      for (const RequirementId one : narrowed) {
        Fit fit;
        const Found found =
            find_machine(nullptr, pool, prepared_.pools.view(pool, one), pod, sum, fit);
        const bool fits = fit.machine != kNone;
        reach(found == Found::kYes           ? Obstacle::kNothing
              : found == Found::kReservedOut ? Obstacle::kReserved
              : fits                         ? Obstacle::kMinValues
                                             : Obstacle::kMachines,
              way.strict, one);
      }
    }
  }
  return furthest;
}

// The pod's own first, then what others keep away from: one more each time, until nothing is left.
Packer::Blocking Packer::blocking(std::size_t row, std::size_t pool, const Probe& probe) {
  const PodRow& pod = prepared_.rows[row];
  const auto& groups = prepared_.topology.groups();
  const int host = static_cast<int>(node_count() + claims_.size());
  PodRow some = pod;
  some.matched.clear();
  Stage stage;
  std::vector<RequirementId> narrowed;
  const auto blocks = [&] {
    return !host_allows(some, stage, host, probe.strict) ||
           !choose_domains(nullptr, pool, probe.together, some, stage, probe.strict, narrowed);
  };
  Blocking last;
  for (const Constraint& constraint : pod.stages.back().constraints) {
    stage.constraints.push_back(constraint);
    last = {constraint.kind, constraint.group, false};
    if (blocks()) return last;
  }
  for (const GroupId group : pod.matched) {
    some.matched.push_back(group);
    if (!groups[group].repels) continue;
    last = {ConstraintKind::kAntiAffinity, group, true};
    if (blocks()) return last;
  }
  return last;
}

bool Packer::allows(std::size_t row, const Constraint& constraint, RequirementId strict,
                    int domain) {
  if (prepared_.topology.groups()[constraint.group].key == kHostKey) {
    Stage stage;
    stage.constraints = {constraint};
    return host_allows(PodRow(), stage, static_cast<int>(node_count() + claims_.size()), strict);
  }
  if (constraint.kind != ConstraintKind::kAffinity)
    return domain_allowed(nullptr, constraint, prepared_.rows[row], strict, domain);
  return count_at(counts_[constraint.group].sure, domain) > 0 || may_be_first(constraint, strict);
}

}  // namespace karst::scheduling
