#include "scheduling/removals.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>

#include "model/labels.h"
#include "scheduling/reasons.h"

namespace karst::scheduling {
namespace {

constexpr std::size_t kSaysNothing = SIZE_MAX;
constexpr const char* kUsedUp = "reservations used up";

void add(const std::string& constraint, std::int64_t types, std::int64_t offerings,
         std::vector<Removal>& removals) {
  if (types > 0 || offerings > 0) removals.push_back({constraint, types, offerings});
}

// As model::Requirements::intersects for one label that both say something of.
bool overlap(const std::string& key, const model::ValueSet& a, const model::ValueSet& b) {
  model::Requirements one;
  one.add(key, a);
  model::Requirements other;
  other.add(key, b);
  return one.intersects(other);
}

}  // namespace

Removals::Removals(Prepared& prepared, Packer& packer)
    : prepared_(prepared), packer_(packer), catalogues_(prepared.pools.pools().size()) {}

// `keeps`: by type, and by offering counted over all types.
template <class Keeps>
Removals::Lost Removals::lost(const Catalogue& catalogue, const Keeps& keeps) const {
  Lost lost;
  for (std::size_t type = 0; type + 1 < catalogue.first.size(); ++type) {
    std::size_t kept = 0;
    for (std::size_t at = catalogue.first[type]; at < catalogue.first[type + 1]; ++at)
      if (keeps(type, at)) ++kept;
    lost.offerings +=
        static_cast<std::int64_t>(catalogue.first[type + 1] - catalogue.first[type] - kept);
    if (kept == 0) ++lost.types;
  }
  return lost;
}

Removals::Lost Removals::everything(const Catalogue& catalogue) const {
  return {static_cast<std::int64_t>(catalogue.first.size()) - 1, catalogue.offerings};
}

void Removals::read(std::size_t pool) {
  Catalogue& catalogue = catalogues_[pool];
  if (catalogue.table != nullptr) return;
  catalogue.table = &prepared_.pools.pools()[pool];
  std::size_t offerings = 0;
  for (const InstanceType& type : catalogue.table->source->types) {
    catalogue.first.push_back(offerings);
    offerings += type.offerings.size();
  }
  catalogue.first.push_back(offerings);
  catalogue.offerings = static_cast<std::int64_t>(offerings);
  read_room(pool);
  count_of_pool(pool);
  count_reservations(pool);
}

// Room under the DaemonSets; types that the pool cannot use count with what they offer.
void Removals::read_room(std::size_t pool) {
  Catalogue& catalogue = catalogues_[pool];
  const PoolTable& table = *catalogue.table;
  std::vector<Row> most(table.source->types.size());
  for (const Machine& machine : prepared_.pools.view(pool, table.base).machines) {
    Row& room = most[table.types[machine.type].type];
    if (room.empty()) room.assign(machine.room.begin(), machine.room.end());
    for (std::size_t i = 0; i < room.size(); ++i) room[i] = std::max(room[i], machine.room[i]);
  }
  for (std::size_t type = 0; type < most.size(); ++type) {
    const InstanceType& source = table.source->types[type];
    for (const Offering& offering : source.offerings) {
      catalogue.room.push_back(most[type]);
      if (!most[type].empty()) continue;
      catalogue.room.back() =
          prepared_.columns.row(offering.allocatable.value_or(source.allocatable));
      prepared_.columns.limit_volumes(catalogue.room.back(), source.attach_limits);
    }
  }
}

void Removals::count_of_pool(std::size_t pool) {
  Catalogue& catalogue = catalogues_[pool];
  const PoolTable& table = *catalogue.table;
  const TypeList& types = table.source->types;
  const auto remove = [&](const std::string& constraint, const Lost& lost) {
    add(constraint, lost.types, lost.offerings, catalogue.of_pool);
  };
  remove("not available now", lost(catalogue, [&](std::size_t type, std::size_t at) {
           return types[type].offerings[at - catalogue.first[type]].available;
         }));
  for (const auto& [key, set] : prepared_.requirements.at(table.base).all())
    if (key != model::kHostnameLabel)
      remove("nodepool: " + model::describe(key, set), by_label(catalogue, key, set));
  if (table.limits_nodes && packer_.nodes_left(pool) <= 0)
    remove("limit nodes", everything(catalogue));
  const std::vector<std::int64_t>& left = packer_.limits_left()[pool];
  for (std::size_t i = 0; i < left.size(); ++i)
    remove("limit " + table.limited_names[i], lost(catalogue, [&](std::size_t type, std::size_t) {
             return types[type].capacity.amount(table.limited_names[i]) <= left[i];
           }));
}

// Offerings whose reservation has no machine left.
void Removals::count_reservations(std::size_t pool) {
  Catalogue& catalogue = catalogues_[pool];
  const PoolTable& table = *catalogue.table;
  std::set<std::size_t> used_up;
  for (const Machine& machine : prepared_.pools.view(pool, table.base).machines) {
    if (machine.reservation == kNotReserved ||
        packer_.reservations().could_hold({machine.reservation}))
      continue;
    const TypeRow& type = table.types[machine.type];
    for (const std::size_t offer : machine.offers)
      used_up.insert(catalogue.first[type.type] + type.offers[offer].offering);
  }
  const Lost some =
      lost(catalogue, [&](std::size_t, std::size_t at) { return !used_up.contains(at); });
  add(kUsedUp, some.types, some.offerings, catalogue.of_pool);
}

const Removals::Said& Removals::said(Catalogue& catalogue, const std::string& key) {
  const auto [place, is_new] = catalogue.labels.try_emplace(key);
  Said& said = place->second;
  if (!is_new) return said;
  // Sets are few and types many: told apart by what they say, compared once per type.
  std::map<std::tuple<bool, std::set<std::string>, std::optional<std::int64_t>,
                      std::optional<std::int64_t>>,
           std::size_t>
      known;
  const auto number = [&](const model::Requirements& requirements) {
    const model::ValueSet* set = requirements.find(key);
    if (set == nullptr) return kSaysNothing;
    const auto [at, first] = known.try_emplace(
        {set->complement, set->values, set->at_least, set->at_most}, said.sets.size());
    if (first) said.sets.push_back(set);
    return at->second;
  };
  const TypeList& types = catalogue.table->source->types;
  for (std::size_t type = 0; type < types.size(); ++type) {
    said.types.push_back(number(types.requirements(type)));
    for (std::size_t i = 0; i < types[type].offerings.size(); ++i)
      said.offerings.push_back(number(types.requirements(type, i)));
  }
  return said;
}

// An offering's own word counts before its type's, which is that of all that the pool can buy.
bool Removals::is_met(const Said& said, const Meets& meets, std::size_t type, std::size_t at) {
  const std::size_t set =
      said.offerings[at] == kSaysNothing ? said.types[type] : said.offerings[at];
  return set == kSaysNothing || meets[set] != 0;
}

Removals::Meets Removals::overlaps(const Said& said, const std::string& key,
                                   const model::ValueSet& wanted) {
  Meets meets;
  for (const model::ValueSet* set : said.sets) meets.push_back(overlap(key, *set, wanted) ? 1 : 0);
  return meets;
}

Removals::Lost Removals::by_label(Catalogue& catalogue, const std::string& key,
                                  const model::ValueSet& wanted) {
  const Said& own = said(catalogue, key);
  if (own.sets.empty()) return {};
  const Meets meets = overlaps(own, key, wanted);
  return lost(catalogue,
              [&](std::size_t type, std::size_t at) { return is_met(own, meets, type, at); });
}

// What a pod or its volumes demand of labels. A key that neither the pool nor its types know rules
// out everything.
void Removals::remove_by_labels(Catalogue& catalogue, const std::string& whose,
                                const model::Requirements& wanted, std::vector<Removal>& removals) {
  const Lost all = everything(catalogue);
  const RequirementTable& requirements = prepared_.requirements;
  std::vector<Removal> unknown;
  for (const auto& [key, set] : wanted.all()) {
    if (key == model::kHostnameLabel) continue;
    const Lost some = by_label(catalogue, key, set);
    add(whose + model::describe(key, set), some.types, some.offerings, removals);
    model::Requirements one;
    one.add(key, set);
    if (some.types == 0 && some.offerings == 0 &&
        !requirements.at(catalogue.table->base)
             .incompatible(one, requirements.may_be_undefined())
             .empty())
      add(whose + model::describe(key, set), all.types, all.offerings, unknown);
  }
  removals.insert(removals.end(), unknown.begin(), unknown.end());
}

// Where all of a pod's volumes can be reached; of several such places any will do.
void Removals::remove_by_volumes(Catalogue& catalogue, const PodRow& pod,
                                 std::vector<Removal>& removals) {
  const RequirementTable& requirements = prepared_.requirements;
  if (pod.volume_ways.size() == 1)
    return remove_by_labels(catalogue, "volumes: ", requirements.at(pod.volume_ways[0]), removals);
  std::vector<std::vector<std::pair<const Said*, Meets>>> ways;
  for (const RequirementId way : pod.volume_ways) {
    ways.emplace_back();
    for (const auto& [key, set] : requirements.at(way).all()) {
      const Said& own = said(catalogue, key);
      ways.back().emplace_back(&own, overlaps(own, key, set));
    }
  }
  const Lost some = lost(catalogue, [&](std::size_t type, std::size_t at) {
    return std::any_of(ways.begin(), ways.end(), [&](const auto& way) {
      return std::all_of(way.begin(), way.end(),
                         [&](const auto& one) { return is_met(*one.first, one.second, type, at); });
    });
  });
  add("volumes", some.types, some.offerings, removals);
}

// `needs_label`: a node without it does not do.
template <class Allows>
Removals::Lost Removals::by_domain(Catalogue& catalogue, int key, bool needs_label,
                                   const Allows& allows) {
  if (key == kHostKey) return allows(kNoDomain) ? Lost{} : everything(catalogue);
  const std::string name = prepared_.topology.key_name(key);
  const auto allows_one_of = [&](const model::ValueSet* set) {
    if (set == nullptr || (!set->complement && set->values.empty())) return !needs_label;
    return set->complement ||
           std::any_of(set->values.begin(), set->values.end(), [&](const std::string& value) {
             return allows(prepared_.domains.id(static_cast<std::size_t>(key), value));
           });
  };
  const Said& own = said(catalogue, name);
  if (own.sets.empty())  // a label of the pool
    return allows_one_of(prepared_.requirements.at(catalogue.table->base).find(name))
               ? Lost{}
               : everything(catalogue);
  Meets meets;
  for (const model::ValueSet* set : own.sets) meets.push_back(allows_one_of(set) ? 1 : 0);
  return lost(catalogue,
              [&](std::size_t type, std::size_t at) { return is_met(own, meets, type, at); });
}

// Who keeps away from pods that keep away from it says so once.
void Removals::remove_by_topology(Catalogue& catalogue, std::size_t row, RequirementId strict,
                                  std::vector<Removal>& removals) {
  const auto& groups = prepared_.topology.groups();
  const PodRow& pod = prepared_.rows[row];
  std::vector<GroupId> others;
  for (const GroupId group : pod.matched)
    if (groups[group].repels && groups[group].key != kHostKey) others.push_back(group);
  const auto let_in = [&](GroupId group, int domain) {
    return count_at(packer_.counts()[group].owners, domain) == 0;
  };
  for (const Constraint& constraint : pod.stages.back().constraints) {
    const GroupId group = constraint.group;
    const bool apart = constraint.kind == ConstraintKind::kAntiAffinity;
    const bool both = apart && std::erase(others, group) > 0;
    const Lost some = by_domain(catalogue, groups[group].key, !apart, [&](int domain) {
      return packer_.allows(row, constraint, strict, domain) && (!both || let_in(group, domain));
    });
    const std::string kind = constraint.kind == ConstraintKind::kSpread ? "spread"
                             : apart                                    ? "pod anti-affinity"
                                                                        : "pod affinity";
    add(kind + " over " + prepared_.topology.key_name(groups[group].key), some.types,
        some.offerings, removals);
  }
  for (const GroupId group : others) {
    const Lost some = by_domain(catalogue, groups[group].key, false,
                                [&](int domain) { return let_in(group, domain); });
    add("other pods' anti-affinity over " + prepared_.topology.key_name(groups[group].key),
        some.types, some.offerings, removals);
  }
}

// Those that DaemonSets take on each node of a type.
void Removals::remove_by_ports(Catalogue& catalogue, const PodRow& pod,
                               std::vector<Removal>& removals) {
  const auto& ports = pod.source->shape.host_ports;
  if (ports.empty()) return;
  auto taken = prepared_.pools.daemons_under(*catalogue.table, catalogue.table->base);
  std::erase_if(taken, [&](const auto& daemon) {
    return !ports_conflict(prepared_.problem.daemons[daemon.first].shape.host_ports, ports);
  });
  if (taken.empty()) return;
  const TypeList& types = catalogue.table->source->types;
  const Lost some = lost(catalogue, [&](std::size_t type, std::size_t) {
    return std::none_of(taken.begin(), taken.end(), [&](const auto& daemon) {
      return types.requirements(type).intersects(prepared_.requirements.at(daemon.second));
    });
  });
  add("host ports", some.types, some.offerings, removals);
}

void Removals::remove_by_size(Catalogue& catalogue, const Row& request,
                              std::vector<Removal>& removals) {
  for (std::size_t column = 0; column < request.size(); ++column) {
    if (request[column] <= 0) continue;
    const auto [place, is_new] = catalogue.by_amount.try_emplace({column, request[column]});
    if (is_new)
      place->second = lost(catalogue, [&](std::size_t, std::size_t at) {
        return request[column] <= catalogue.room[at][column];
      });
    add(std::string(prepared_.columns.name(column)), place->second.types, place->second.offerings,
        removals);
  }
}

std::vector<std::string> Removals::unmet_values(std::size_t row, std::size_t pool,
                                                const Packer::Probe& probe) {
  const PoolTable& table = prepared_.pools.pools()[pool];
  const View& view = prepared_.pools.view(pool, probe.together);
  const PodRow& pod = prepared_.rows[row];
  std::vector<std::string> unmet;
  for (std::size_t at = 0; at < table.min_values.size(); ++at) {
    const auto& [key, count] = table.min_values[at];
    std::set<std::string_view> values;
    for (const Machine& machine : view.machines) {
      const std::vector<std::string>& own = table.types[machine.type].counted[at];
      if (machine.reservation == kNotReserved &&
          packer_.machine_fits(nullptr, table, view, machine, pod, pod.request))
        values.insert(own.begin(), own.end());
    }
    if (values.size() < static_cast<std::size_t>(count)) unmet.push_back(key);
  }
  return unmet;
}

void Removals::count(std::size_t row, std::size_t pool, const Packer::Probe& probe,
                     PoolReason& reason) {
  read(pool);
  Catalogue& catalogue = catalogues_[pool];
  const PodRow& pod = prepared_.rows[row];
  const Lost all = everything(catalogue);
  reason.types = all.types;
  reason.offerings = all.offerings;
  std::vector<Removal>& removals = reason.removals;
  const auto remove_all = [&](const std::string& constraint) {
    add(constraint, all.types, all.offerings, removals);
  };
  for (const model::Taint& taint : catalogue.table->spec().taints)
    if (model::first_untolerated({taint}, pod.source->shape.tolerations) != nullptr)
      remove_all("taint " + describe(taint));
  const std::vector<Way>& ways = pod.stages.back().ways;
  if (ways.empty()) {
    remove_all("node affinity");
  } else {
    const RequirementId strict = probe.strict == kImpossible ? ways.front().strict : probe.strict;
    remove_by_labels(catalogue, "", prepared_.requirements.at(strict), removals);
    remove_by_topology(catalogue, row, strict, removals);
  }
  remove_by_volumes(catalogue, pod, removals);
  remove_by_size(catalogue, pod.request, removals);
  remove_by_ports(catalogue, pod, removals);
  if (probe.obstacle == Packer::Obstacle::kMinValues)
    for (const std::string& key : unmet_values(row, pool, probe)) remove_all("minValues of " + key);
  removals.insert(removals.end(), catalogue.of_pool.begin(), catalogue.of_pool.end());
  if (probe.obstacle == Packer::Obstacle::kReserved) {  // who waits for one takes nothing else
    std::erase_if(removals, [](const Removal& one) { return one.constraint == kUsedUp; });
    remove_all(kUsedUp);
  }
}

}  // namespace karst::scheduling
