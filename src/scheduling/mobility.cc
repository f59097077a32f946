#include "scheduling/mobility.h"

#include <algorithm>

namespace karst::scheduling {
namespace {

// The groups that the row's pods go by, or that count or repel them.
std::vector<GroupId> groups_of(const PodRow& row) {
  std::vector<GroupId> found = row.matched;
  found.insert(found.end(), row.repels.begin(), row.repels.end());
  for (const Stage& stage : row.stages)
    for (const Constraint& constraint : stage.constraints) found.push_back(constraint.group);
  return found;
}

// While a domain is open, a spread counts nobody there: a pod that spreads merely count is seen
// nowhere, on this claim as on another that stays open to the end. Whoever is to be beside it may
// be on the same claim, and goes by that.
bool minds_open_domains(const PodRow& row, const TopologyGroup& group, GroupId id) {
  const auto owns = [&](const Stage& stage) {
    return std::any_of(stage.constraints.begin(), stage.constraints.end(),
                       [&](const Constraint& constraint) { return constraint.group == id; });
  };
  return group.repels || group.attracts ||
         std::find(row.repels.begin(), row.repels.end(), id) != row.repels.end() ||
         std::any_of(row.stages.begin(), row.stages.end(), owns);
}

}  // namespace

Mobility::Mobility(Prepared& prepared) : prepared_(prepared) {
  const auto& groups = prepared.topology.groups();
  for (const PodRow& row : prepared.rows) {
    host_ties_.push_back(scheduling::host_ties(row, groups));
    keys_.emplace_back();
    minded_.emplace_back();
    for (const GroupId group : groups_of(row)) {
      if (groups[group].key == kHostKey) continue;
      keys_.back().push_back(groups[group].key);
      if (minds_open_domains(row, groups[group], group))
        minded_.back().push_back(groups[group].key);
    }
    may_move_.push_back(!has_preferences(row) && row.shared_volumes.empty() &&
                        row.source->shape.host_ports.empty() && !host_ties_.back().is_bound);
  }
}

bool Mobility::is_loose(std::size_t row, const View& view) {
  const auto is_decided = [&](int key) {
    const auto at = static_cast<std::size_t>(key);
    return view.domains[at].size() <= 1 && view.is_unlabelled[at] == 0;
  };
  return may_move_[row] && std::all_of(minded_[row].begin(), minded_[row].end(), is_decided) &&
         std::all_of(keys_[row].begin(), keys_[row].end(),
                     [&](int key) { return is_decided(key) || stays_open(view, key); });
}

bool Mobility::stays_open(const View& view, int key) {
  if (view.index >= open_.size()) open_.resize(view.index + 1);
  std::vector<Open>& known = open_[view.index];
  known.resize(prepared_.domains.keys.size(), Open::kUnknown);
  Open& open = known[static_cast<std::size_t>(key)];
  if (open == Open::kUnknown)
    open = is_sold_in_several(view, prepared_.domains.keys[static_cast<std::size_t>(key)])
               ? Open::kYes
               : Open::kNo;
  return open == Open::kYes;
}

bool Mobility::is_sold_in_several(const View& view, const std::string& key) const {
  const std::vector<TypeRow>& types = pool_of(view).types;
  return std::all_of(view.machines.begin(), view.machines.end(), [&](const Machine& machine) {
    const model::ValueSet* first = nullptr;
    return std::any_of(machine.offers.begin(), machine.offers.end(), [&](std::uint32_t at) {
      const model::ValueSet* set = types[machine.type].offers[at].demands.find(key);
      if (set == nullptr || set->complement || set->values.size() != 1) return false;
      if (first == nullptr) first = set;
      return set->values != first->values;
    });
  });
}

bool Mobility::is_free(std::size_t row) const {
  return keys_[row].empty() && !has_preferences(prepared_.rows[row]);
}

bool Mobility::may_live(std::size_t row, std::size_t pool, RequirementId requirements) {
  const PoolTable& table = prepared_.pools.pools()[pool];
  const auto adds_nothing = [&](RequirementId demand) {
    return prepared_.requirements.combine(requirements, demand) == requirements &&
           prepared_.requirements.combine(table.base, demand) != kImpossible;
  };
  const PodRow& pod = prepared_.rows[row];
  const Stage& stage = pod.stages.front();
  return table.possible && tolerates(pod, stage, table.spec().taints) &&
         std::any_of(stage.ways.begin(), stage.ways.end(),
                     [&](const Way& way) { return adds_nothing(way.wanted); }) &&
         std::any_of(pod.volume_ways.begin(), pod.volume_ways.end(), adds_nothing);
}

bool Mobility::is_seen_alike(std::size_t row, const View& from, const View& to) {
  const bool same_places = std::all_of(keys_[row].begin(), keys_[row].end(), [&](int key) {
    const auto at = static_cast<std::size_t>(key);
    return from.domains[at] == to.domains[at] && from.is_unlabelled[at] == to.is_unlabelled[at] &&
           (from.domains[at].size() <= 1 || stays_open(to, key));
  });
  if (!same_places) return false;
  const auto counts = [&](GroupId group, const View& view) {
    return prepared_.topology.claim_counts(group, pool_of(view).spec().taints, view.requirements);
  };
  const std::vector<GroupId> groups = groups_of(prepared_.rows[row]);
  return std::all_of(groups.begin(), groups.end(),
                     [&](GroupId group) { return counts(group, from) == counts(group, to); });
}

RequirementId Mobility::like_view(const View& view, std::size_t pool) {
  const model::Requirements& own = prepared_.requirements.at(pool_of(view).base);
  model::Requirements beyond;
  for (const auto& [key, set] : prepared_.requirements.at(view.requirements).all()) {
    const model::ValueSet* base = own.find(key);
    if (base != nullptr && *base == set) continue;
    model::ValueSet narrowed = set;
    narrowed.min_values = 0;  // of the view's own pool
    beyond.add(key, narrowed);
  }
  return prepared_.requirements.combine(prepared_.pools.pools()[pool].base,
                                        prepared_.requirements.intern(beyond));
}

}  // namespace karst::scheduling
