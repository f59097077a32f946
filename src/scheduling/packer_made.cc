// The part of Packer that knows in which domains claims are, for spreads of pods that could not
// have a node there themselves: the kube-scheduler counts every node.
#include <algorithm>

#include "scheduling/packer.h"

namespace karst::scheduling {

bool Packer::counts_elsewhere(GroupId group, const Made& made,
                              const std::vector<int>& reach) const {
  if (prepared_.topology.groups()[group].key != made.key ||
      std::binary_search(reach.begin(), reach.end(), made.domain))
    return false;
  const PoolTable& pool = prepared_.pools.pools()[made.pool];
  const RequirementId there = prepared_.requirements.combine(
      pool.base, prepared_.requirements.one_of(
                     prepared_.topology.key_name(made.key),
                     {prepared_.domains.name(static_cast<std::size_t>(made.key), made.domain)}));
  return there != kImpossible && prepared_.topology.claim_counts(group, pool.spec().taints, there);
}

// Each once, whichever pools' claims are there.
std::vector<int> Packer::made_elsewhere(GroupId group, const std::vector<int>& reach) const {
  std::vector<int> domains;
  for (const Made& made : made_)
    if (counts_elsewhere(group, made, reach) &&
        std::find(domains.begin(), domains.end(), made.domain) == domains.end())
      domains.push_back(made.domain);
  return domains;
}

// What a claim has decided on stays so.
void Packer::note_made(const Claim& claim) {
  if (prepared_.problem.options.spread_domains == SpreadDomains::kAllPools) return;
  for (std::size_t key = 0; key < claim.view->domains.size(); ++key) {
    if (claim.view->domains[key].size() != 1) continue;
    const Made made{claim.pool, static_cast<int>(key), claim.view->domains[key].front()};
    if (std::find(made_.begin(), made_.end(), made) != made_.end()) continue;
    ++changes_;
    made_.push_back(made);
  }
}

bool Packer::would_add_domain(const View& view) const {
  if (prepared_.problem.options.spread_domains == SpreadDomains::kAllPools) return false;
  const auto& groups = prepared_.topology.groups();
  for (std::size_t key = 0; key < view.domains.size(); ++key) {
    if (view.domains[key].size() != 1) continue;
    const int own = static_cast<int>(key);
    const bool is_known = std::any_of(made_.begin(), made_.end(), [&](const Made& made) {
      return made.key == own && made.domain == view.domains[key].front();
    });
    if (!is_known && std::any_of(groups.begin(), groups.end(),
                                 [&](const auto& group) { return group.key == own; }))
      return true;
  }
  return false;
}

std::vector<int> Packer::counted_domains(GroupId group, const PodRow& row) const {
  const std::vector<int>& reach = prepared_.reach.domains(group, row);
  std::vector<int> domains = reach;
  for (const int domain : made_elsewhere(group, reach)) domains.push_back(domain);
  std::sort(domains.begin(), domains.end());
  return domains;
}

std::map<int, std::int64_t> Packer::placed_by_domain(std::size_t row, int key) const {
  std::map<int, std::int64_t> placed;
  for (const Turn& turn : order_) {
    if (turn.group != row) continue;
    int domain = kNoDomain;
    if (turn.on_claim) {
      const auto& domains = claims_[turn.target].view->domains[static_cast<std::size_t>(key)];
      if (domains.size() == 1) domain = domains.front();
    } else {
      domain = prepared_.topology.node_domain(key, turn.target);
    }
    if (domain != kNoDomain) placed[domain] += turn.count;
  }
  return placed;
}

std::int64_t Packer::held_up(std::size_t row) const {
  const PodRow& pod = prepared_.rows[row];
  std::int64_t most = 0;
  if (made_.empty() || left_[row] == pod.source->count) return most;
  for (const Constraint& constraint : pod.stages.back().constraints) {
    const int key = prepared_.topology.groups()[constraint.group].key;
    if (constraint.kind != ConstraintKind::kSpread || key == kHostKey || !constraint.self) continue;
    const std::vector<int>& reach = prepared_.reach.domains(constraint.group, pod);
    const std::vector<std::int32_t>& sure = counts_[constraint.group].sure;
    std::int32_t low = INT32_MAX;
    for (const int domain : made_elsewhere(constraint.group, reach))
      low = std::min(low, count_at(sure, domain));
    if (low == INT32_MAX) continue;
    std::int64_t pods = 0;
    for (const auto& [domain, placed] : placed_by_domain(row, key))
      pods +=
          std::clamp<std::int64_t>(count_at(sure, domain) - low - constraint.max_skew, 0, placed);
    most = std::max(most, pods);
  }
  return most;
}

}  // namespace karst::scheduling
