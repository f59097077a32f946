// The part of Packer that says what stood in the way.
#include <algorithm>

#include "scheduling/packer.h"

namespace karst::scheduling {

Packer::Probe Packer::probe(std::size_t row, std::size_t pool) {
  const PodRow& pod = prepared_.rows[row];
  const PoolTable& table = prepared_.pools.pools()[pool];
  const Stage& stage = pod.stages.back();
  const auto within_limits = [&](const TypeRow& type) {
    for (std::size_t i = 0; i < type.limited.size(); ++i)
      if (type.limited[i] > limits_[pool][i]) return false;
    return true;
  };
  if (!table.possible || table.types.empty()) return {Obstacle::kNoTypes};
  if (table.limits_nodes && nodes_left_[pool] <= 0) return {Obstacle::kNodeLimit};
  if (std::none_of(table.types.begin(), table.types.end(), within_limits))
    return {Obstacle::kLimit};
  if (!tolerates(pod, stage, table.spec().taints)) return {Obstacle::kTaints};

  const Row sum = sum_with(nullptr, pod);
  const int host = static_cast<int>(nodes_.size() + claims_.size());
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

std::optional<Constraint> Packer::blocking_constraint(std::size_t row, std::size_t pool,
                                                      const Probe& probe) {
  PodRow alone = prepared_.rows[row];
  alone.matched.clear();
  const int host = static_cast<int>(nodes_.size() + claims_.size());
  std::vector<RequirementId> narrowed;
  for (const Constraint& constraint : prepared_.rows[row].stages.back().constraints) {
    Stage stage;
    stage.constraints = {constraint};
    if (!host_allows(alone, stage, host, probe.strict) ||
        !choose_domains(nullptr, pool, probe.together, alone, stage, probe.strict, narrowed))
      return constraint;
  }
  return std::nullopt;
}

}  // namespace karst::scheduling
