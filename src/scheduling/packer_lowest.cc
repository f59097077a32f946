// The part of Packer that knows how few pods of a group there are where there are fewest: what
// spreads go by.
#include <algorithm>

#include "scheduling/packer.h"

namespace karst::scheduling {

// The domains are those of all alternatives of the pod, not of the one that is tried: the
// kube-scheduler looks at every node that meets any of them. So it does at the nodes that others
// get where the pod itself could not have one. Karpenter takes the alternatives one at a time.
std::int32_t Packer::lowest(const Constraint& constraint, const PodRow& row, RequirementId strict) {
  if (row.demands.size() > 1 &&
      prepared_.problem.options.spread_domains == SpreadDomains::kAllPools) {
    if (strict != kAnyWay) return lowest_of_way(constraint, strict);
    std::int32_t most = 0;
    for (const RequirementId way : row.demands)
      most = std::max(most, lowest_of_way(constraint, way));
    return most;
  }
  Low& low = lows_[constraint.group];
  if (low.changes != changes_ || low.row != row.group) low = look_at_domains(constraint.group, row);
  return low.domains == 0 || low.domains < constraint.min_domains ? 0 : low.pods;
}

std::int32_t Packer::lowest_of_way(const Constraint& constraint, RequirementId strict) const {
  const TopologyGroup& group = prepared_.topology.groups()[constraint.group];
  std::int32_t pods = INT32_MAX;
  int domains = 0;
  for (const int domain : group.universe) {
    if (!prepared_.topology.allows(strict, group.key, domain)) continue;
    pods = std::min(pods, count_at(counts_[constraint.group].sure, domain));
    ++domains;
  }
  return domains == 0 || domains < constraint.min_domains ? 0 : pods;
}

Packer::Low Packer::look_at_domains(GroupId group, const PodRow& row) const {
  const std::vector<int>& reach = prepared_.reach.domains(group, row);
  const std::vector<std::int32_t>& sure = counts_[group].sure;
  Low low{changes_, row.group, INT32_MAX, static_cast<int>(reach.size())};
  for (const int domain : reach) low.pods = std::min(low.pods, count_at(sure, domain));
  for (const int domain : made_elsewhere(group, reach)) {
    low.pods = std::min(low.pods, count_at(sure, domain));
    ++low.domains;
  }
  return low;
}

// 0 while a node may still come, and where a claim has pods whose turns are not told yet.
std::int32_t Packer::lowest_host(const Constraint& constraint) {
  if (!hosts_are_final_) return 0;
  Low& low = lows_[constraint.group];
  if (low.changes != changes_) low = look_at_hosts(constraint.group);
  return low.domains == 0 || low.domains < constraint.min_domains ? 0 : low.pods;
}

Packer::Low Packer::look_at_hosts(GroupId group) {
  Low low{changes_, kNone, INT32_MAX, 0};
  const auto see = [&](std::size_t host) {
    low.pods = std::min(low.pods, count_at(counts_[group].sure, static_cast<int>(host)));
    ++low.domains;
  };
  for (std::size_t node = 0; node < node_count(); ++node)
    if (prepared_.topology.node_counts(group, node, prepared_.nodes)) see(node);
  for (std::size_t at = 0; at < claims_.size(); ++at) {
    const Claim& claim = claims_[at];
    const auto& taints = prepared_.pools.pools()[claim.pool].spec().taints;
    if (!prepared_.topology.claim_counts(group, taints, claim.view->requirements)) continue;
    see(node_count() + at);
    if (!claim.waiting.empty()) low.pods = 0;
  }
  return low;
}

}  // namespace karst::scheduling
