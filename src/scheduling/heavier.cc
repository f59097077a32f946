#include "scheduling/heavier.h"

#include <algorithm>

namespace karst::scheduling {

// What the pool's claim would come to with all of these pods; kImpossible: they do not go together
// there. Where pods have ties over zones, they stay in those of the view.
RequirementId Heavier::requirements_for(std::size_t pool, const View& view,
                                        const std::vector<Share>& shares) {
  const bool are_free = std::all_of(shares.begin(), shares.end(), [&](const Share& share) {
    return mobility_.is_free(share.group);
  });
  RequirementId sum =
      are_free ? prepared_.pools.pools()[pool].base : mobility_.like_view(view, pool);
  const auto add = [&](RequirementId demand) {
    if (sum != kImpossible) sum = prepared_.requirements.combine(sum, demand);
  };
  for (const Share& share : shares) {
    const PodRow& row = prepared_.rows[share.group];
    if (const auto& ways = row.stages.front().ways; ways.size() == 1) add(ways.front().wanted);
    if (row.volume_ways.size() == 1) add(row.volume_ways.front());
  }
  return sum;
}

// nullptr: the pool does not take them together, whatever they ask for.
const View* Heavier::view_for(std::size_t pool, const View& view,
                              const std::vector<Share>& shares) {
  const PoolTable& table = prepared_.pools.pools()[pool];
  const bool are_tolerant = std::all_of(shares.begin(), shares.end(), [&](const Share& share) {
    const PodRow& row = prepared_.rows[share.group];
    return tolerates(row, row.stages.front(), table.spec().taints);
  });
  if (!table.possible || !are_tolerant) return nullptr;
  const RequirementId wanted = requirements_for(pool, view, shares);
  if (wanted == kImpossible) return nullptr;
  const bool may_live = std::all_of(shares.begin(), shares.end(), [&](const Share& share) {
    return mobility_.may_live(share.group, pool, wanted);
  });
  return may_live ? &prepared_.pools.view(pool, wanted) : nullptr;
}

bool Heavier::put_right(std::size_t last, Refilled::Filled& filled,
                        const std::vector<Share>& staying, const SpareLimits& limits,
                        const SpareLimits::Change& change) {
  const View& here = *filled.rung.view;
  std::vector<Share> shares = filled.shares;
  shares.insert(shares.end(), staying.begin(), staying.end());
  for (std::size_t pool = 0; pool < last; ++pool) {
    if (!limits.allow_one_more(change, pool, {})) continue;
    const View* there = view_for(pool, here, shares);
    if (there == nullptr || !alternatives_.are_enough_for({there, 1}, filled.content)) continue;
    const std::vector<TypeRow>& types = prepared_.pools.pools()[pool].types;
    const auto step = std::find_if(there->steps.begin(), there->steps.end(), [&](std::size_t at) {
      const Machine& machine = there->machines[at];
      return fits(filled.content, machine.room) &&
             limits.allow_one_more(change, pool, types[machine.type].limited);
    });
    if (step == there->steps.end()) continue;
    filled.rung = {there, *step};
    return is_open_(*there) && std::all_of(shares.begin(), shares.end(), [&](const Share& share) {
             return mobility_.is_seen_alike(share.group, here, *there);
           });
  }
  return true;
}

}  // namespace karst::scheduling
