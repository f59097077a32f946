#include "scheduling/pool_table.h"

#include <algorithm>

#include "model/labels.h"

namespace karst::scheduling {
namespace {

bool offering_matches(const Offering& offering, const model::Requirements& requirements) {
  const auto allows = [&](std::string_view key, const std::string& value) {
    const model::ValueSet* set = requirements.find(key);
    return set == nullptr || set->contains(value);
  };
  return offering.available &&
         allows(model::kZoneLabel, std::string(value_of(offering, model::kZoneLabel))) &&
         allows(model::kCapacityTypeLabel,
                std::string(value_of(offering, model::kCapacityTypeLabel)));
}

// Zones and capacity types are judged offering by offering, so several values of those do no harm.
bool all_single_valued(const model::Requirements& requirements) {
  for (const auto& [key, set] : requirements.all()) {
    if (key == model::kZoneLabel || key == model::kCapacityTypeLabel) continue;
    if (set.complement || set.values.size() > 1) return false;
  }
  return true;
}

// A DaemonSet's pod will run on nodes of this pool made from this type. Preferences do not matter
// to it.
bool daemon_runs_on(const model::PodShape& daemon, const model::NodePool& pool,
                    const model::Requirements& base, const model::Requirements& type,
                    const RequirementTable& table) {
  if (daemon.uses_dra || model::first_untolerated(pool.taints, daemon.tolerations) != nullptr)
    return false;
  model::Requirements started = base;
  started.add(model::kRegisteredLabel, model::ValueSet::of("true"));
  started.add(model::kInitializedLabel, model::ValueSet::of("true"));
  for (const model::Requirements& wanted : alternatives_of(daemon))
    if (started.incompatible(wanted, table.may_be_undefined()).empty() && type.intersects(wanted))
      return true;
  return false;
}

}  // namespace

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

PoolTable::PoolTable(const Problem& problem, std::size_t pool, const Columns& columns,
                     RequirementTable& requirements)
    : pool_(pool), source_(&problem.pools[pool]) {
  auto base = model::Requirements::from_labels(pool_labels(source_->pool));
  const bool possible = add_all(base, source_->pool.requirements);
  base_ = requirements.intern(base);
  read_limits();
  for (const model::RequirementSpec& spec : source_->pool.requirements)
    if (spec.min_values > 0) unsupported_ = "minValues of " + spec.key + " is not supported yet";
  if (!possible || !unsupported_.empty()) return;
  std::vector<std::size_t> by_name(source_->types.size());
  for (std::size_t i = 0; i < by_name.size(); ++i) by_name[i] = i;
  std::sort(by_name.begin(), by_name.end(), [&](std::size_t a, std::size_t b) {
    return std::tie(source_->types[a].name, a) < std::tie(source_->types[b].name, b);
  });
  for (const std::size_t type : by_name) add_type(problem, type, columns, base, requirements);
}

void PoolTable::read_limits() {
  for (const auto& [name, limit] : source_->pool.limits) {
    std::int64_t used = 0;
    for (const auto& [used_name, amount] : source_->used)
      if (used_name == name) used += amount;
    if (name == "nodes") {
      nodes_remaining = limit - used;
    } else {
      limited_names_.push_back(name);
      remaining.push_back(limit - used);
    }
  }
}

void PoolTable::add_type(const Problem& problem, std::size_t type, const Columns& columns,
                         const model::Requirements& base, const RequirementTable& table) {
  const InstanceType& source = source_->types[type];
  TypeRow row;
  row.type = type;
  row.requirements = model::Requirements(source.requirements);
  if (!row.requirements.intersects(base)) return;
  row.single_valued = all_single_valued(row.requirements);
  row.first_offer = offers_.size();
  for (std::size_t i = 0; i < source.offerings.size(); ++i)
    if (offering_matches(source.offerings[i], base))
      offers_.push_back({i, source.offerings[i].price_nanos_per_hour});
  row.last_offer = offers_.size();
  if (row.first_offer == row.last_offer) return;

  row.overhead.assign(columns.size(), 0);
  for (std::size_t i = 0; i < problem.daemons.size(); ++i) {
    const model::PodShape& daemon = problem.daemons[i].shape;
    if (!daemon_runs_on(daemon, source_->pool, base, row.requirements, table)) continue;
    row.daemons.push_back(i);
    add_times(row.overhead, columns.row(daemon.requests), 1);
  }
  row.room = columns.row(source.allocatable);
  add_times(row.room, row.overhead, -1);
  for (const std::string& name : limited_names_)
    row.limited.push_back(source.capacity.amount(name));
  types_.push_back(std::move(row));
}

const Bits& PoolTable::offers_for(RequirementId requirements, const RequirementTable& table) {
  const auto known = masks_.find(requirements);
  if (known != masks_.end()) return known->second;
  const model::Requirements& wanted = table.at(requirements);
  Bits mask(offers_.size());
  for (const TypeRow& type : types_) {
    if (!type.requirements.intersects(wanted)) continue;
    for (std::size_t bit = type.first_offer; bit < type.last_offer; ++bit)
      if (offering_matches(source(type, bit), wanted)) mask.set(bit);
  }
  return masks_.emplace(requirements, std::move(mask)).first->second;
}

Bits PoolTable::offers_for_both(const Bits& a, const Bits& b,
                                const model::Requirements& both) const {
  Bits mask = a;
  mask &= b;
  for (const TypeRow& type : types_) {
    if (type.single_valued || type.requirements.intersects(both)) continue;
    for (std::size_t bit = type.first_offer; bit < type.last_offer; ++bit) mask.clear(bit);
  }
  return mask;
}

std::optional<std::int64_t> PoolTable::cheapest(const TypeRow& type, const Bits& mask) const {
  std::optional<std::int64_t> best;
  for (std::size_t bit = type.first_offer; bit < type.last_offer; ++bit)
    if (mask.test(bit) && (!best || offers_[bit].price < *best)) best = offers_[bit].price;
  return best;
}

bool PoolTable::within_limits(const TypeRow& type, const std::vector<std::int64_t>& held) const {
  for (std::size_t i = 0; i < remaining.size(); ++i)
    if (type.limited[i] - (held.empty() ? 0 : held[i]) > remaining[i]) return false;
  return true;
}

}  // namespace karst::scheduling
