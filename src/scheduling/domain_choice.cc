// The part of Packer that knows where spreads and affinities let a pod go, and what is counted once
// it is there.
#include <algorithm>
#include <tuple>
#include <utility>

#include "scheduling/packer.h"

namespace karst::scheduling {

bool Packer::may_be_first(const Constraint& constraint, RequirementId strict) const {
  const GroupCounts& counts = counts_[constraint.group];
  if (!constraint.self) return false;
  if (counts.total == 0) return true;
  // Nobody is where the pod may go.
  const int key = prepared_.topology.groups()[constraint.group].key;
  if (!strategy_.first_anew || key == kHostKey ||
      prepared_.requirements.at(strict).find(prepared_.topology.key_name(key)) == nullptr)
    return false;
  for (std::size_t domain = 0; domain < counts.sure.size(); ++domain)
    if (counts.sure[domain] > 0 && prepared_.topology.allows(strict, key, static_cast<int>(domain)))
      return false;
  return true;
}

bool Packer::host_allows(const PodRow& row, const Stage& stage, int host, RequirementId strict) {
  const auto& groups = prepared_.topology.groups();
  for (const Constraint& constraint : stage.constraints) {
    if (groups[constraint.group].key != kHostKey) continue;
    const GroupCounts& counts = counts_[constraint.group];
    switch (constraint.kind) {
      case ConstraintKind::kSpread:
        if (count_at(counts.sure, host) + (constraint.self ? 1 : 0) - lowest_host(constraint) >
            constraint.max_skew)
          return false;
        break;
      case ConstraintKind::kAffinity:
        if (count_at(counts.sure, host) == 0 && !may_be_first(constraint, strict)) return false;
        break;
      case ConstraintKind::kAntiAffinity:
        if (count_at(counts.possible, host) > 0) return false;
        break;
    }
  }
  for (const GroupId group : row.matched)
    if (groups[group].repels && groups[group].key == kHostKey &&
        count_at(counts_[group].owners, host) > 0)
      return false;
  return true;
}

bool Packer::node_topology_allows(const PodRow& row, const Stage& stage, std::size_t node,
                                  RequirementId strict) {
  if (!host_allows(row, stage, static_cast<int>(node), strict)) return false;
  if (!wishes_allow(row, node)) return false;
  for (const Balance& balance : balances_[row.group]) {
    const int key = prepared_.topology.groups()[balance.constraint.group].key;
    if (const int domain = prepared_.topology.node_domain(key, node);
        domain != kNoDomain &&
        !domain_allowed(nullptr, balance.constraint, prepared_.rows[balance.row], kAnyWay, domain))
      return false;
  }
  const auto& groups = prepared_.topology.groups();
  for (const Constraint& constraint : stage.constraints) {
    const int key = groups[constraint.group].key;
    if (key == kHostKey) continue;
    const int domain = prepared_.topology.node_domain(key, node);
    if (domain == kNoDomain) {
      if (constraint.kind != ConstraintKind::kAntiAffinity) return false;
      continue;
    }
    if (constraint.kind == ConstraintKind::kAffinity) {
      if (count_at(counts_[constraint.group].sure, domain) == 0 &&
          !may_be_first(constraint, strict))
        return false;
    } else if (!domain_allowed(nullptr, constraint, row, strict, domain)) {
      return false;
    }
  }
  for (const GroupId group : row.matched) {
    if (!groups[group].repels || groups[group].key == kHostKey) continue;
    const int domain = prepared_.topology.node_domain(groups[group].key, node);
    if (domain != kNoDomain && count_at(counts_[group].owners, domain) > 0) return false;
  }
  return true;
}

// For spreads and anti-affinity.
bool Packer::domain_allowed(const Claim* claim, const Constraint& constraint, const PodRow& row,
                            RequirementId strict, int domain) {
  const GroupCounts& counts = counts_[constraint.group];
  if (constraint.kind == ConstraintKind::kAntiAffinity)
    return count_at(counts.possible, domain) == 0;
  const std::int32_t here = count_at(counts.sure, domain) +
                            waiting_matches(claim, constraint.group) + (constraint.self ? 1 : 0);
  return here - lowest(constraint, row, strict) <= constraint.max_skew;
}

// Pods of the claim that the group will count once their turns are told.
std::int32_t Packer::waiting_matches(const Claim* claim, GroupId group) {
  if (claim == nullptr || claim->waiting.empty()) return 0;
  if (!prepared_.topology.claim_counts(group, prepared_.pools.pools()[claim->pool].spec().taints,
                                       claim->view->requirements))
    return 0;
  const auto& groups = prepared_.topology.groups();
  const auto is_before = [&](GroupId a, GroupId b) { return groups[a].order < groups[b].order; };
  std::int32_t sum = 0;
  for (const Turn& turn : claim->waiting) {
    const std::vector<GroupId>& matched = prepared_.rows[turn.group].matched;
    if (std::binary_search(matched.begin(), matched.end(), group, is_before)) ++sum;
  }
  return sum;
}

RequirementId Packer::in_domain(int key, int domain) {
  std::vector<RequirementId>& known = in_domain_[static_cast<std::size_t>(key)];
  const auto at = static_cast<std::size_t>(domain);
  if (known.size() <= at) known.resize(at + 1, kImpossible);
  if (known[at] == kImpossible)
    known[at] = prepared_.requirements.one_of(
        prepared_.topology.key_name(key),
        {prepared_.domains.name(static_cast<std::size_t>(key), domain)});
  return known[at];
}

RequirementId Packer::in_one_of(int key, const std::vector<int>& domains) {
  const auto [known, is_new] =
      in_one_of_[static_cast<std::size_t>(key)].try_emplace(domains, kImpossible);
  if (!is_new) return known->second;
  std::vector<std::string> names;
  for (const int domain : domains)
    names.push_back(prepared_.domains.name(static_cast<std::size_t>(key), domain));
  return known->second = prepared_.requirements.one_of(prepared_.topology.key_name(key), names);
}

// Sets choice_: the domains of one key that the claim may be narrowed to.
void Packer::domains_for(const Claim* claim, std::size_t pool, RequirementId base,
                         const PodRow& row, const Stage& stage, RequirementId strict, int key,
                         bool fix) {
  const auto& groups = prepared_.topology.groups();
  std::vector<int>& allowed = choice_.domains;
  allowed = prepared_.pools.view(pool, base).domains[static_cast<std::size_t>(key)];
  bool single = fix;
  spreads_.clear();
  for (const GroupId group : row.matched)
    if (groups[group].repels && groups[group].key == key)
      std::erase_if(allowed, [&](int d) { return count_at(counts_[group].owners, d) > 0; });
  for (const Constraint& constraint : stage.constraints) {
    if (groups[constraint.group].key != key) continue;
    const GroupCounts& counts = counts_[constraint.group];
    if (constraint.kind == ConstraintKind::kAffinity) {
      if (waiting_matches(claim, constraint.group) > 0) continue;  // beside them, wherever that is
      const auto has_none = [&](int d) { return count_at(counts.sure, d) <= 0; };
      if (!std::all_of(allowed.begin(), allowed.end(), has_none)) {
        std::erase_if(allowed, has_none);
      } else if (may_be_first(constraint, strict)) {
        single = true;
      } else {
        return allowed.clear();
      }
      continue;
    }
    if (constraint.kind == ConstraintKind::kSpread) {
      single = true;
      spreads_.push_back(&counts);
    } else {
      single |= strategy_.fix_domains;
    }
    std::erase_if(allowed,
                  [&](int d) { return !domain_allowed(claim, constraint, row, strict, d); });
  }
  for (const Balance& balance : balances_[row.group]) {
    if (groups[balance.constraint.group].key != key) continue;
    single = true;
    spreads_.push_back(&counts_[balance.constraint.group]);
    std::erase_if(allowed, [&](int d) {
      return !domain_allowed(claim, balance.constraint, prepared_.rows[balance.row], kAnyWay, d);
    });
  }
  if (const Wish* wish = open_wish(row, key))
    std::erase_if(allowed, [&](int d) { return !would_do(*wish, d); });
  choice_.one_each = single && allowed.size() > 1;
  if (choice_.one_each) one_by_one(claim, pool, base, row, key);
}

// Puts choice_'s domains, each by itself, in order: where there are fewest pods of the spreads,
// then where fewest others want to be, then by what it costs, with what the claim holds already.
// Domains without a machine for it are left out.
void Packer::one_by_one(const Claim* claim, std::size_t pool, RequirementId base, const PodRow& row,
                        int key) {
  ranks_.clear();
  if (claim != nullptr) sum_with(claim, row, sum_ranked_);
  for (const int domain : choice_.domains) {
    std::int64_t pods = 0;
    for (const GroupCounts* counts : spreads_) pods += count_at(counts->sure, domain);
    const RequirementId narrowed = prepared_.requirements.combine(base, in_domain(key, domain));
    if (narrowed == kImpossible) continue;
    const View& view = prepared_.pools.view(pool, narrowed);
    const auto& [alone, machines, known] =
        prepared_.pools.fitting(view, row.size_class, row.request);
    if (machines == 0) continue;
    std::int64_t price = alone;
    if (claim != nullptr && !view.has_reserved) {
      const std::size_t machine =
          cheapest_machine(claim, prepared_.pools.pools()[pool], view, row, sum_ranked_);
      if (machine == kNone) continue;
      price = view.machines[machine].price;
    }
    ranks_.push_back({pods, contested(row, key, domain), price, machines,
                      prepared_.domains.name(static_cast<std::size_t>(key), domain), domain});
  }
  std::sort(ranks_.begin(), ranks_.end(), [](const Rank& a, const Rank& b) {
    return std::tie(a.pods, a.contested, a.price, b.machines, a.name, a.domain) <
           std::tie(b.pods, b.contested, b.price, a.machines, b.name, b.domain);
  });
  choice_.domains.clear();
  for (const Rank& rank : ranks_) choice_.domains.push_back(rank.domain);
}

// The first of its kind is bound before whoever follows it, and a pod that is spread before the
// next ones are counted, so nobody may wait for their domains over other keys.
bool Packer::goes_before_others(const Stage& stage, RequirementId strict) const {
  const auto& groups = prepared_.topology.groups();
  return std::any_of(stage.constraints.begin(), stage.constraints.end(),
                     [&](const Constraint& constraint) {
                       return constraint.kind == ConstraintKind::kSpread
                                  ? groups[constraint.group].key != kHostKey
                                  : constraint.kind == ConstraintKind::kAffinity &&
                                        may_be_first(constraint, strict);
                     });
}

// Adds to `next` what base is in the domains of choice_; where they are as many as it has already,
// itself.
// `is_sure`: whoever is under `base` is in one of the `has` domains that it has of the key, or that
// does not matter.
void Packer::narrow(RequirementId base, int key, std::size_t has, bool is_sure,
                    std::vector<RequirementId>& next) {
  const auto add = [&](RequirementId wanted) {
    const RequirementId narrowed = prepared_.requirements.combine(base, wanted);
    if (narrowed != kImpossible && next.size() < kNarrowingsMax) next.push_back(narrowed);
  };
  const std::vector<int>& domains = choice_.domains;
  if (domains.empty()) return;
  if (choice_.one_each || domains.size() == 1) {
    for (const int domain : domains)
      if (has != 1 || !is_sure)
        add(in_domain(key, domain));
      else if (next.size() < kNarrowingsMax)
        next.push_back(base);
  } else if (domains.size() == has && is_sure) {
    if (next.size() < kNarrowingsMax) next.push_back(base);
  } else {
    add(in_one_of(key, domains));
  }
}

// Sets keys_: those over which the claim's domains are looked at.
void Packer::note_keys(const Claim* claim, const PodRow& row, const Stage& stage, bool has_turn) {
  const auto& groups = prepared_.topology.groups();
  keys_.clear();
  const auto add = [&](int key) {
    if (key != kHostKey && std::find(keys_.begin(), keys_.end(), key) == keys_.end())
      keys_.push_back(key);
  };
  for (const Constraint& constraint : stage.constraints) add(groups[constraint.group].key);
  for (const GroupId group : row.matched)
    if (groups[group].repels || (has_turn && goes_by_sure(groups[group]))) add(groups[group].key);
  for (const int key : fixed_keys_[row.group]) add(key);
  // Nor for those of the pods that are there before it: they are told together.
  if (has_turn && claim != nullptr)
    for (const int key : claim->counted_keys) add(key);
}

bool Packer::choose_domains(const Claim* claim, std::size_t pool, RequirementId base,
                            const PodRow& row, const Stage& stage, RequirementId strict,
                            std::vector<RequirementId>& out) {
  const auto& groups = prepared_.topology.groups();
  out.assign(1, base);
  if (const View& view = prepared_.pools.view(pool, base);
      (claim == nullptr || claim->view == &view) && has_one_domain_each(prepared_.topology, view))
    return stays_where_it_is(view, row, stage, strict);
  const std::vector<int>& fixed = fixed_keys_[row.group];
  // Nobody goes by what is fixed for their sake before it is told.
  const bool has_turn = goes_before_others(stage, strict) || !fixed.empty();
  note_keys(claim, row, stage, has_turn);
  const auto is_awaited = [&](int key) {
    return claim != nullptr && std::find(claim->counted_keys.begin(), claim->counted_keys.end(),
                                         key) != claim->counted_keys.end();
  };
  for (const int key : keys_) {
    const bool fix =
        std::find(fixed.begin(), fixed.end(), key) != fixed.end() ||
        (has_turn && (is_awaited(key) ||
                      std::any_of(row.matched.begin(), row.matched.end(), [&](GroupId group) {
                        return groups[group].key == key && goes_by_sure(groups[group]);
                      })));
    const bool needed = std::any_of(stage.constraints.begin(), stage.constraints.end(),
                                    [&](const Constraint& constraint) {
                                      return groups[constraint.group].key == key &&
                                             constraint.kind != ConstraintKind::kAntiAffinity;
                                    });
    next_narrowed_.clear();
    for (const RequirementId one : out) {
      const View& view = prepared_.pools.view(pool, one);
      const std::size_t has = view.domains[static_cast<std::size_t>(key)].size();
      const bool is_sure =
          view.is_unlabelled[static_cast<std::size_t>(key)] == 0 || !(needed || fix);
      if (has == 0 && !needed) {  // nodes without the label are next to nobody
        next_narrowed_.push_back(one);
        continue;
      }
      domains_for(claim, pool, one, row, stage, strict, key, fix);
      narrow(one, key, has, is_sure, next_narrowed_);
    }
    std::swap(out, next_narrowed_);
  }
  return !out.empty();
}

void Packer::count(std::size_t at, std::size_t row, std::int32_t sign) {
  ++changes_;
  const Claim& claim = claims_[at];
  const PodRow& pod = prepared_.rows[row];
  const auto& groups = prepared_.topology.groups();
  const int host = static_cast<int>(node_count() + at);
  const auto& taints = prepared_.pools.pools()[claim.pool].spec().taints;
  for (const GroupId group : pod.matched) {
    GroupCounts& counts = counts_[group];
    if (!prepared_.topology.claim_counts(group, taints, claim.view->requirements)) continue;
    counts.total += sign;
    if (groups[group].key == kHostKey) {
      add_at(counts.sure, host, sign);
      add_at(counts.possible, host, sign);
      continue;
    }
    for (const int domain : claim.view->domains[static_cast<std::size_t>(groups[group].key)])
      add_at(counts.possible, domain, sign);
  }
  for (const GroupId group : pod.repels) {
    if (groups[group].key == kHostKey) {
      add_at(counts_[group].owners, host, sign);
      continue;
    }
    for (const int domain : claim.view->domains[static_cast<std::size_t>(groups[group].key)])
      add_at(counts_[group].owners, domain, sign);
  }
}

// Others go by a pod from its turn on: who went by it before would be bound before it.
void Packer::count_told(std::size_t at, std::size_t row, std::int32_t sign) {
  ++changes_;
  const Claim& claim = claims_[at];
  const auto& taints = prepared_.pools.pools()[claim.pool].spec().taints;
  for (const GroupId group : prepared_.rows[row].matched) {
    const int key = prepared_.topology.groups()[group].key;
    if (key == kHostKey) continue;
    const auto at_key = static_cast<std::size_t>(key);
    const auto& domains = claim.view->domains[at_key];
    if (domains.size() == 1 && claim.view->is_unlabelled[at_key] == 0 &&
        prepared_.topology.claim_counts(group, taints, claim.view->requirements))
      add_at(counts_[group].sure, domains.front(), sign);
  }
}

// The claim's pods with their signs as the view is now, for a change of it.
void Packer::count_all(std::size_t at, std::int32_t sign) {
  const Claim& claim = claims_[at];
  for (const Share& share : claim.shares) {
    count(at, share.group, sign * static_cast<std::int32_t>(share.count));
    count_told(at, share.group, sign * static_cast<std::int32_t>(share.count));
  }
  for (const Turn& turn : claim.waiting) count_told(at, turn.group, -sign);
}

}  // namespace karst::scheduling
