#include "scheduling/removals.h"

#include <algorithm>
#include <tuple>

#include "model/labels.h"
#include "scheduling/reasons.h"

namespace karst::scheduling {
namespace {

constexpr std::size_t kSaysNothing = SIZE_MAX;

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
}

// Room under the DaemonSets; types that the pool cannot use count with what they offer.
void Removals::read_room(std::size_t pool) {
  Catalogue& catalogue = catalogues_[pool];
  const PoolTable& table = *catalogue.table;
  std::vector<Row> most(table.source->types.size());
  for (const Machine& machine : prepared_.pools.view(pool, table.base).machines) {
    Row& room = most[table.types[machine.type].type];
    if (room.empty()) room = machine.room;
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
Removals::Lost Removals::by_label(Catalogue& catalogue, const std::string& key,
                                  const model::ValueSet& wanted) {
  const Said& own = said(catalogue, key);
  if (own.sets.empty()) return {};
  std::vector<char> meets;
  for (const model::ValueSet* set : own.sets) meets.push_back(overlap(key, *set, wanted) ? 1 : 0);
  return lost(catalogue, [&](std::size_t type, std::size_t at) {
    const std::size_t set = own.offerings[at] == kSaysNothing ? own.types[type] : own.offerings[at];
    return set == kSaysNothing || meets[set] != 0;
  });
}

// What the pod demands of labels. A key that neither the pool nor its types know rules out
// everything.
void Removals::remove_by_pod_labels(Catalogue& catalogue, const PodRow& pod,
                                    const Packer::Probe& probe, std::vector<Removal>& removals) {
  const std::vector<Way>& ways = pod.stages.back().ways;
  const Lost all = everything(catalogue);
  if (ways.empty()) return add("node affinity", all.types, all.offerings, removals);
  const RequirementTable& requirements = prepared_.requirements;
  const model::Requirements& wanted =
      requirements.at(probe.strict == kImpossible ? ways.front().strict : probe.strict);
  std::vector<Removal> unknown;
  for (const auto& [key, set] : wanted.all()) {
    if (key == model::kHostnameLabel) continue;
    const Lost some = by_label(catalogue, key, set);
    add(model::describe(key, set), some.types, some.offerings, removals);
    model::Requirements one;
    one.add(key, set);
    if (some.types == 0 && some.offerings == 0 &&
        !requirements.at(catalogue.table->base)
             .incompatible(one, requirements.may_be_undefined())
             .empty())
      add(model::describe(key, set), all.types, all.offerings, unknown);
  }
  removals.insert(removals.end(), unknown.begin(), unknown.end());
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

void Removals::count(std::size_t row, std::size_t pool, const Packer::Probe& probe,
                     PoolReason& reason) {
  read(pool);
  Catalogue& catalogue = catalogues_[pool];
  const PodRow& pod = prepared_.rows[row];
  const Lost all = everything(catalogue);
  reason.types = all.types;
  reason.offerings = all.offerings;
  std::vector<Removal>& removals = reason.removals;
  removals = catalogue.of_pool;
  for (const model::Taint& taint : catalogue.table->spec().taints)
    if (model::first_untolerated({taint}, pod.source->shape.tolerations) != nullptr)
      add("taint " + describe(taint), all.types, all.offerings, removals);
  remove_by_pod_labels(catalogue, pod, probe, removals);
  remove_by_size(catalogue, pod.request, removals);
  if (probe.obstacle == Packer::Obstacle::kTopology)
    add("topology", all.types, all.offerings, removals);
  if (probe.obstacle == Packer::Obstacle::kVolumes)
    add("volumes", all.types, all.offerings, removals);
}

}  // namespace karst::scheduling
