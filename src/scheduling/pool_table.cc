#include "scheduling/pool_table.h"

#include <algorithm>
#include <tuple>

#include "model/labels.h"

namespace karst::scheduling {

int DomainNames::id(std::size_t key, const std::string& value) {
  ids_.resize(keys.size());
  names_.resize(keys.size());
  const auto [at, is_new] = ids_[key].try_emplace(value, static_cast<int>(names_[key].size()));
  if (is_new) names_[key].push_back(value);
  return at->second;
}

std::pair<std::string, std::string> node_class_label(const model::NodeClassRef& ref) {
  std::string key = ref.group + "/";
  for (const char c : ref.kind) key += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return {key, ref.name};
}

model::Labels pool_labels(const model::NodePool& pool) {
  model::Labels labels = pool.template_labels;
  model::set_label(labels, model::kNodePoolLabel, pool.name.str());
  if (!pool.node_class.kind.empty()) {
    const auto [key, value] = node_class_label(pool.node_class);
    model::set_label(labels, key, value);
  }
  return labels;
}

bool is_dynamic(const model::NodePool& pool) {
  return !pool.replicas.has_value() && pool.deletion_millis == 0;
}

PoolTables::PoolTables(const Problem& problem, const Columns& columns,
                       RequirementTable& requirements, DomainNames& domains, FarLimits far_limits)
    : problem_(problem),
      columns_(columns),
      requirements_(requirements),
      domains_(domains),
      far_limits_(far_limits) {
  note_reservations();
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < problem.pools.size(); ++i)
    if (is_dynamic(problem.pools[i].pool)) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const model::NodePool& x = problem.pools[a].pool;
    const model::NodePool& y = problem.pools[b].pool;
    return std::tie(y.weight, y.name, a) < std::tie(x.weight, x.name, b);
  });
  for (const std::size_t pool : order) add_pool(pool);
  view_of_.resize(pools_.size());
}

int PoolTables::reservation_of(const Offering& offering) const {
  if (problem_.options.reserved == ReservedMode::kOff ||
      problem_.options.reservation_id_label.empty() ||
      value_of(offering, model::kCapacityTypeLabel) != "reserved")
    return kNotReserved;
  const std::string_view id = value_of(offering, problem_.options.reservation_id_label);
  for (std::size_t i = 0; i < reservations_.size(); ++i)
    if (reservations_[i].id == id) return static_cast<int>(i);
  return kNotReserved;
}

void PoolTables::note_reservations() {
  if (problem_.options.reserved == ReservedMode::kOff) return;
  std::map<std::string, std::int64_t, std::less<>> capacity;
  for (const Pool& pool : problem_.pools)
    for (const InstanceType& type : pool.types)
      for (const Offering& offering : type.offerings) {
        if (value_of(offering, model::kCapacityTypeLabel) != "reserved") continue;
        const auto [at, is_new] = capacity.try_emplace(
            std::string(value_of(offering, problem_.options.reservation_id_label)),
            offering.reservation_capacity);
        if (!is_new) at->second = std::min(at->second, offering.reservation_capacity);
      }
  for (const auto& [id, count] : capacity) reservations_.push_back({id, count});
}

std::vector<std::string> values_counted(const TypeList& types, std::size_t type,
                                        std::string_view key) {
  std::set<std::string> values;
  const auto add = [&](const model::Requirements& from) {
    const model::ValueSet* set = from.find(key);
    if (set != nullptr) values.insert(set->values.begin(), set->values.end());
    return set != nullptr;
  };
  const std::vector<Offering>& offerings = types[type].offerings;
  if (!add(types.requirements(type)))
    for (std::size_t i = 0; i < offerings.size(); ++i)
      if (offerings[i].available) add(types.requirements(type, i));
  return {values.begin(), values.end()};
}

void PoolTables::add_pool(std::size_t pool) {
  PoolTable table;
  table.pool = pool;
  table.source = &problem_.pools[pool];
  const model::NodePool& spec = table.spec();
  auto base = model::Requirements::from_labels(pool_labels(spec));
  base.add(model::kRegisteredLabel, model::ValueSet::of("true"));
  base.add(model::kInitializedLabel, model::ValueSet::of("true"));
  base.add(model::kHostnameLabel, model::ValueSet::of(kHostPlaceholder));
  table.possible = requirements_.add_all(base, spec.requirements);
  table.base = requirements_.intern(base);
  for (const auto& [name, limit] : spec.limits) {
    std::int64_t used = 0;
    for (const auto& [used_name, amount] : table.source->used)
      if (used_name == name) used += amount;
    if (name == "nodes") {
      table.limits_nodes = true;
      table.nodes_remaining = limit - used;
    } else {
      table.limited_names.push_back(name);
      table.remaining.push_back(limit - used);
    }
  }
  for (const auto& [key, set] : base.all())
    if (set.min_values > 0) table.min_values.emplace_back(key, set.min_values);
  std::vector<std::size_t> by_name(table.source->types.size());
  for (std::size_t i = 0; i < by_name.size(); ++i) by_name[i] = i;
  std::sort(by_name.begin(), by_name.end(), [&](std::size_t a, std::size_t b) {
    return std::tie(table.source->types[a].name, a) < std::tie(table.source->types[b].name, b);
  });
  if (table.possible)
    for (const std::size_t type : by_name) add_type(table, type, base);
  drop_far_limits(table);
  pools_.push_back(std::move(table));
}

void PoolTables::add_type(PoolTable& table, std::size_t type, const model::Requirements& base) {
  const InstanceType& source = table.source->types[type];
  TypeRow row{type, table.source->types.requirements(type), {}, {}, {}};
  if (!row.requirements.intersects(base)) return;
  const TypeList& types = table.source->types;
  for (std::size_t i = 0; i < source.offerings.size(); ++i)
    if (source.offerings[i].available)
      row.offers.push_back({i, types.requirements(type, i), types.demand(type, i),
                            types.place(type, i), reservation_of(source.offerings[i])});
  for (const std::string& name : table.limited_names)
    row.limited.push_back(source.capacity.amount(name));
  for (const auto& [key, count] : table.min_values)
    row.counted.push_back(values_counted(table.source->types, type, key));
  table.types.push_back(std::move(row));
}

PoolTables::DaemonDemands PoolTables::daemons_under(const PoolTable& table,
                                                    RequirementId requirements) const {
  DaemonDemands daemons;
  for (std::size_t i = 0; i < problem_.daemons.size(); ++i) {
    const model::PodShape& daemon = problem_.daemons[i].shape;
    if (daemon.uses_dra ||
        model::first_untolerated(table.spec().taints, daemon.tolerations) != nullptr)
      continue;
    for (const RequirementId demand : requirements_.alternatives_of(daemon))
      if (requirements_.conflict(requirements, demand).empty()) daemons.emplace_back(i, demand);
  }
  return daemons;
}

std::vector<std::size_t> PoolTables::daemons_on(const TypeRow& type,
                                                const DaemonDemands& daemons) const {
  std::vector<std::size_t> running;
  for (const auto& [daemon, demand] : daemons)
    if ((running.empty() || running.back() != daemon) &&
        type.requirements.intersects(requirements_.at(demand)))
      running.push_back(daemon);
  return running;
}

Row PoolTables::overhead_of(const std::vector<std::size_t>& daemons) const {
  Row overhead(columns_.size(), 0);
  for (const std::size_t daemon : daemons)
    add_times(overhead, columns_.row(problem_.daemons[daemon].shape.requests), 1);
  return overhead;
}

void take_overhead(const Row& overhead, Row& room) {
  add_times(room, overhead, -1);
  for (std::size_t i = 0; i < room.size(); ++i)
    if (overhead[i] > 0 && room[i] < 0) room[kPodsColumn] = -1;
}

void PoolTables::give_back(std::size_t pool, const model::Resources& capacity, std::int64_t nodes) {
  for (PoolTable& table : pools_) {
    if (table.pool != pool) continue;
    if (table.limits_nodes) table.nodes_remaining += nodes;
    for (std::size_t i = 0; i < table.remaining.size(); ++i)
      table.remaining[i] += nodes * capacity.amount(table.limited_names[i]);
  }
}

// Limits that are kept even if every pod, or a part of them, gets the largest machine for itself.
void PoolTables::drop_far_limits(PoolTable& table) {
  Wide pods = 0;
  for (const PodGroup& group : problem_.pods) pods += std::max<std::int64_t>(group.count, 0);
  const auto drop = [](auto& list, std::size_t at) {
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
  };
  for (std::size_t at = table.remaining.size(); at-- > 0;) {
    std::int64_t largest = 0;
    for (const TypeRow& type : table.types) largest = std::max(largest, type.limited[at]);
    if (table.types.empty() || table.remaining[at] < largest) continue;
    const Wide most = pods * largest;  // if each pod has one for itself
    const Wide kept = far_limits_ == FarLimits::kChecked ? most / kFarLimitsFactor : most;
    if (table.remaining[at] < kept) continue;
    must_check_limits_ |= table.remaining[at] < most;
    drop(table.limited_names, at);
    drop(table.remaining, at);
    for (TypeRow& type : table.types) drop(type.limited, at);
  }
}

}  // namespace karst::scheduling
