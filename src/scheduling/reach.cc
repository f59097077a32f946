#include "scheduling/reach.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace karst::scheduling {
namespace {

void sort(std::vector<int>& domains) {
  std::sort(domains.begin(), domains.end());
  domains.erase(std::unique(domains.begin(), domains.end()), domains.end());
}

}  // namespace

Reach::Reach(const Problem& problem, const Columns& columns, Topology& topology,
             DomainNames& domains, const PoolTables& pools, NodeTable& nodes,
             RequirementTable& requirements)
    : problem_(problem),
      columns_(columns),
      topology_(topology),
      domains_(domains),
      pools_(pools),
      nodes_(nodes),
      requirements_(requirements),
      anything_(requirements.intern(model::Requirements())) {}

const std::vector<int>& Reach::domains(GroupId group, const PodRow& row) {
  if (problem_.options.spread_domains == SpreadDomains::kAllPools)
    return topology_.universe(group, row.group, row.demands);
  const auto [at, is_new] = known_.try_emplace({group, row.group});
  std::vector<int>& found = at->second;
  if (!is_new) return found;
  const TopologyGroup& own = topology_.groups()[group];
  found = own.universe;
  // Where node affinity does not count, zones do that it keeps the pod out of.
  add_pools(static_cast<std::size_t>(own.key), row,
            own.filter.by_affinity ? row.demands : std::vector<RequirementId>{anything_}, found);
  sort(found);
  return found;
}

const std::vector<int>& Reach::places(int key, const PodRow& row) {
  const auto [at, is_new] = places_.try_emplace({key, row.group});
  std::vector<int>& found = at->second;
  if (!is_new) return found;
  for (std::size_t node = 0; node < problem_.nodes.size(); ++node)
    if (const int domain = topology_.node_domain(key, node);
        domain != kNoDomain && problem_.nodes[node].takes_pods &&
        fits(row.request, nodes_.room()[node]) &&
        std::any_of(row.demands.begin(), row.demands.end(),
                    [&](RequirementId demand) { return nodes_.meets(node, demand); }))
      found.push_back(domain);
  add_pools(static_cast<std::size_t>(key), row, row.demands, found);
  sort(found);
  return found;
}

void Reach::add_pools(std::size_t key, const PodRow& row, const std::vector<RequirementId>& demands,
                      std::vector<int>& found) {
  for (std::size_t pool = 0; pool < pools_.pools().size(); ++pool) {
    const PoolTable& table = pools_.pools()[pool];
    if (!table.possible || (table.limits_nodes && table.nodes_remaining <= 0) ||
        model::first_untolerated(table.spec().taints, row.source->shape.tolerations) != nullptr)
      continue;
    for (const RequirementId demand : demands) {
      const RequirementId together = requirements_.combine(table.base, demand);
      if (together == kImpossible) continue;
      for (const Sold& one : sold(pool, together, key))
        if (can_make(table, one, row)) found.push_back(one.domain);
    }
  }
}

bool Reach::can_make(const PoolTable& table, const Sold& sold, const PodRow& row) const {
  const auto holds = [&](const Kind& kind) {
    return fits(row.request, kind.room) && covers(table.remaining, table.types[kind.type].limited);
  };
  if (std::none_of(sold.kinds.begin(), sold.kinds.end(), holds)) return false;
  if (problem_.options.min_values != MinValuesPolicy::kStrict) return true;
  for (std::size_t at = 0; at < table.min_values.size(); ++at) {
    const auto count = static_cast<std::size_t>(table.min_values[at].second);
    std::set<std::string_view> values;
    for (const Kind& kind : sold.kinds) {
      if (values.size() >= count) break;
      const std::vector<std::string>& own = table.types[kind.type].counted[at];
      if (holds(kind)) values.insert(own.begin(), own.end());
    }
    if (values.size() < count) return false;
  }
  return true;
}

const std::vector<Reach::Sold>& Reach::sold(std::size_t pool, RequirementId together,
                                            std::size_t key) {
  const auto [at, is_new] = sold_.try_emplace({pool, together, key});
  if (!is_new) return at->second;
  const PoolTable& table = pools_.pools()[pool];
  DaemonsIn daemons;
  for (std::size_t type = 0; type < table.types.size(); ++type)
    add_type(table, type, together, key, daemons, at->second);
  return at->second;
}

void Reach::add_type(const PoolTable& table, std::size_t type, RequirementId together,
                     std::size_t key, DaemonsIn& daemons, std::vector<Sold>& sold) {
  const TypeRow& row = table.types[type];
  const model::Requirements& wanted = requirements_.at(together);
  if (!row.requirements.intersects(wanted)) return;
  const model::ValueSet* asked = wanted.find(domains_.keys[key]);
  const InstanceType& source = table.source->types[row.type];
  const PoolTables::DaemonDemands* taken = nullptr;  // whose overhead it is
  Row overhead;
  for (std::size_t i = 0; i < source.offerings.size(); ++i) {
    const model::Requirements& offered = table.source->types.requirements(row.type, i);
    if (!wanted.incompatible(offered, requirements_.may_be_undefined()).empty()) continue;
    const model::ValueSet* set = offered.find(domains_.keys[key]);
    if (set == nullptr) set = row.requirements.find(domains_.keys[key]);
    if (set == nullptr) set = asked;  // a label of the pool
    if (set == nullptr || set->complement) continue;
    Row room = columns_.row(source.offerings[i].allocatable.value_or(source.allocatable));
    columns_.limit_volumes(room, source.attach_limits);
    for (const std::string& value : set->values) {
      if (asked != nullptr && !asked->contains(value)) continue;
      const int domain = domains_.id(key, value);
      const auto [here, is_new] = daemons.try_emplace(domain);
      if (is_new)
        here->second = pools_.daemons_under(
            table, requirements_.both(together, requirements_.one_of(domains_.keys[key], {value})));
      if (taken == nullptr || *taken != here->second)
        overhead = pools_.overhead_of(pools_.daemons_on(row, here->second));
      taken = &here->second;
      Kind kind{type, room};
      take_overhead(overhead, kind.room);
      add_kind(table, domain, std::move(kind), sold);
    }
  }
}

void Reach::add_kind(const PoolTable& table, int domain, Kind kind, std::vector<Sold>& sold) const {
  auto at =
      std::find_if(sold.begin(), sold.end(), [&](const Sold& one) { return one.domain == domain; });
  if (at == sold.end()) at = sold.insert(at, {domain, {}});
  const auto as_good = [&](const Kind& a, const Kind& b) {
    return (a.type == b.type || table.min_values.empty()) && covers(a.room, b.room) &&
           covers(table.types[b.type].limited, table.types[a.type].limited);
  };
  std::vector<Kind>& kinds = at->kinds;
  if (std::any_of(kinds.begin(), kinds.end(), [&](const Kind& one) { return as_good(one, kind); }))
    return;
  std::erase_if(kinds, [&](const Kind& one) { return as_good(kind, one); });
  kinds.push_back(std::move(kind));
}

}  // namespace karst::scheduling
