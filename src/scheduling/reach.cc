#include "scheduling/reach.h"

#include <algorithm>

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
    if (!table.possible ||
        model::first_untolerated(table.spec().taints, row.source->shape.tolerations) != nullptr)
      continue;
    for (const RequirementId demand : demands) {
      const RequirementId together = requirements_.combine(table.base, demand);
      if (together == kImpossible) continue;
      for (const Sold& one : sold(pool, together, key))
        if (std::any_of(one.rooms.begin(), one.rooms.end(),
                        [&](const Row& room) { return fits(row.request, room); }))
          found.push_back(one.domain);
    }
  }
}

const std::vector<Reach::Sold>& Reach::sold(std::size_t pool, RequirementId together,
                                            std::size_t key) {
  const auto [at, is_new] = sold_.try_emplace({pool, together, key});
  if (is_new) {
    const PoolTable& table = pools_.pools()[pool];
    for (const TypeRow& type : table.types) add_type(table, type, together, key, at->second);
  }
  return at->second;
}

void Reach::add_type(const PoolTable& table, const TypeRow& type, RequirementId together,
                     std::size_t key, std::vector<Sold>& sold) {
  const model::Requirements& wanted = requirements_.at(together);
  if (!type.requirements.intersects(wanted)) return;
  const model::ValueSet* asked = wanted.find(domains_.keys[key]);
  const auto add = [&](int domain, const Row& room) {
    auto at = std::find_if(sold.begin(), sold.end(),
                           [&](const Sold& one) { return one.domain == domain; });
    if (at == sold.end()) at = sold.insert(at, {domain, {}});
    std::vector<Row>& rooms = at->rooms;
    if (std::any_of(rooms.begin(), rooms.end(), [&](const Row& one) { return covers(one, room); }))
      return;
    std::erase_if(rooms, [&](const Row& one) { return covers(room, one); });
    rooms.push_back(room);
  };
  const InstanceType& source = table.source->types[type.type];
  Row room = columns_.row(source.allocatable);
  columns_.limit_volumes(room, source.attach_limits);
  for (std::size_t i = 0; i < source.offerings.size(); ++i) {
    const model::Requirements& offered = table.source->types.requirements(type.type, i);
    if (!wanted.incompatible(offered, requirements_.may_be_undefined()).empty()) continue;
    const model::ValueSet* set = offered.find(domains_.keys[key]);
    if (set == nullptr) set = type.requirements.find(domains_.keys[key]);
    if (set == nullptr) set = asked;  // a label of the pool
    if (set == nullptr || set->complement) continue;
    Row own = room;
    if (const auto& size = source.offerings[i].allocatable) {
      own = columns_.row(*size);
      columns_.limit_volumes(own, source.attach_limits);
    }
    for (const std::string& value : set->values)
      if (asked == nullptr || asked->contains(value)) add(domains_.id(key, value), own);
  }
}

}  // namespace karst::scheduling
