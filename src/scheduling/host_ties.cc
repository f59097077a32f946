#include "scheduling/host_ties.h"

#include <algorithm>

namespace karst::scheduling {

HostTies host_ties(const PodRow& row, const std::vector<TopologyGroup>& groups) {
  HostTies ties;
  for (const GroupId group : row.matched)
    if (groups[group].key == kHostKey) {
      ties.counted.push_back(group);
      ties.is_bound |= groups[group].attracts;
    }
  for (const Constraint& constraint : row.stages.front().constraints) {
    if (groups[constraint.group].key != kHostKey) continue;
    if (constraint.kind == ConstraintKind::kSpread) {
      ties.at_most.emplace_back(constraint.group, constraint.max_skew);
    } else {
      ties.is_bound = true;
      if (constraint.kind == ConstraintKind::kAntiAffinity)
        ties.repelled.push_back(constraint.group);
    }
  }
  return ties;
}

HostState::Group& HostState::touch(GroupId group) {
  Group& own = groups_[group];
  if (!own.is_touched) touched_.push_back(group);
  own.is_touched = true;
  return own;
}

void HostState::clear() {
  for (const GroupId group : touched_) groups_[group] = {};
  touched_.clear();
}

bool HostState::takes(const HostTies& ties) const {
  for (const GroupId group : ties.counted) {
    const Group& own = groups_[group];
    if (own.is_repelled || own.pods >= own.at_most) return false;
  }
  return std::all_of(ties.at_most.begin(), ties.at_most.end(), [&](const auto& spread) {
    const auto& [group, most] = spread;
    const bool self =
        std::find(ties.counted.begin(), ties.counted.end(), group) != ties.counted.end();
    return groups_[group].pods + (self ? 1 : 0) <= most;
  });
}

void HostState::add(const HostTies& ties, std::int64_t count) {
  for (const GroupId group : ties.counted) touch(group).pods += count;
  for (const auto& [group, most] : ties.at_most)
    touch(group).at_most = std::min<std::int64_t>(touch(group).at_most, most);
  for (const GroupId group : ties.repelled) touch(group).is_repelled = true;
}

}  // namespace karst::scheduling
