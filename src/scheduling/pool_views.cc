// The part of PoolTables that makes views: the machines that requirements leave of a pool.
#include <algorithm>
#include <tuple>
#include <utility>

#include "scheduling/pool_table.h"

namespace karst::scheduling {

const View& PoolTables::view(std::size_t pool, RequirementId requirements) {
  const auto [at, is_new] = view_of_[pool].try_emplace(requirements, nullptr);
  if (is_new) {
    views_.push_back(make_view(pools_[pool], requirements));
    views_.back().index = views_.size() - 1;
    views_.back().pool = pool;
    at->second = &views_.back();
  }
  return *at->second;
}

const PoolTables::Fitting& PoolTables::fitting(const View& view, std::size_t size_class,
                                               const Row& request) {
  if (view.index >= fittings_.size()) fittings_.resize(view.index + 1);
  std::vector<Fitting>& known = fittings_[view.index];
  if (size_class >= known.size()) known.resize(size_class + 1);
  Fitting& fitting = known[size_class];
  if (fitting.is_known) return fitting;
  fitting.is_known = true;
  for (const Machine& machine : view.machines) {
    if (!fits(request, machine.room)) continue;
    fitting.price = std::min(fitting.price, machine.price);
    ++fitting.machines;
  }
  return fitting;
}

namespace {

// Adds one to those of which none is as good as another, unless one of them is as good as it.
template <class AsGood>
bool add_best(std::size_t one, const AsGood& as_good, std::vector<std::size_t>& best) {
  if (std::any_of(best.begin(), best.end(), [&](std::size_t other) { return as_good(other, one); }))
    return false;
  std::erase_if(best, [&](std::size_t other) { return as_good(one, other); });
  best.push_back(one);
  return true;
}

}  // namespace

View PoolTables::make_view(const PoolTable& table, RequirementId requirements) {
  View view;
  view.requirements = requirements;
  const model::Requirements& wanted = requirements_.at(requirements);
  const DaemonDemands daemons = daemons_under(table, requirements);
  // What all types of the pool meet already need not be asked again.
  model::Requirements narrowed;
  for (const auto& [key, set] : wanted.all())
    if (const model::ValueSet* own = requirements_.at(table.base).find(key);
        own == nullptr || !(*own == set))
      narrowed.add(key, set);
  draft_.allowed.assign(table.source->types.demands(), Draft::Allowed::kUnknown);
  for (std::size_t type = 0; type < table.types.size(); ++type)
    if (table.types[type].requirements.intersects(narrowed))
      add_machines(table, type, wanted, daemons, view);
  lay_out(view);
  std::vector<std::size_t> steps;  // of which none is as good as another
  for (std::size_t i = 0; i < view.machines.size(); ++i) {
    const Machine& machine = view.machines[i];
    view.has_reserved |= machine.reservation != kNotReserved;
    for (const std::size_t daemon : machine.overhead->daemons)
      view.daemons_use_ports |= !problem_.daemons[daemon].shape.host_ports.empty();
    if (machine.reservation != kNotReserved) continue;
    const auto as_large = [&](std::size_t a, std::size_t b) {
      return covers(view.machines[a].room, view.machines[b].room);
    };
    const auto as_good = [&](std::size_t a, std::size_t b) {
      return as_large(a, b) && covers(table.types[view.machines[b].type].limited,
                                      table.types[view.machines[a].type].limited);
    };
    if (add_best(i, as_good, steps)) {
      view.steps.push_back(i);
      view.step_prices.push_back(machine.price);
    }
    add_best(i, as_large, view.largest);
  }
  for (const std::size_t step : view.steps) {
    Row room(view.machines[step].room.begin(), view.machines[step].room.end());
    for (const std::int64_t amount : table.types[view.machines[step].type].limited)
      room.push_back(kUnlimited - std::min(amount, kUnlimited));
    view.step_rooms.add(room);
  }
  add_domains(table, wanted, view);
  return view;
}

const RoomBits& PoolTables::room_bits(const View& view) {
  if (const auto at = room_bits_.find(view.index); at != room_bits_.end()) return at->second;
  std::vector<Amounts> rooms;
  for (const Machine& machine : view.machines) rooms.push_back(machine.room);
  return room_bits_.emplace(view.index, RoomBits(rooms)).first->second;
}

bool PoolTables::allows(const model::Requirements& wanted, const OfferRow& offer) {
  using Allowed = Draft::Allowed;
  Allowed& known = draft_.allowed[offer.demand];
  if (known == Allowed::kUnknown)
    known = wanted.incompatible(offer.demands, requirements_.may_be_undefined()).empty()
                ? Allowed::kYes
                : Allowed::kNo;
  return known == Allowed::kYes;
}

// Offers of one size and reservation are one machine.
void PoolTables::add_machines(const PoolTable& table, std::size_t type,
                              const model::Requirements& wanted, const DaemonDemands& daemons,
                              View& view) {
  const TypeRow& row = table.types[type];
  const InstanceType& source = table.source->types[row.type];
  const auto size_of = [&](const OfferRow& offer) -> const model::Resources& {
    const Offering& offering = source.offerings[offer.offering];
    return offering.allocatable ? *offering.allocatable : source.allocatable;
  };
  const std::size_t first = view.machines.size();
  draft_.firsts.clear();  // by machine of the type
  draft_.machine_of.assign(row.offers.size(), SIZE_MAX);
  for (std::size_t i = 0; i < row.offers.size(); ++i) {
    const OfferRow& offer = row.offers[i];
    if (!allows(wanted, offer)) continue;
    std::size_t at = 0;
    while (at < draft_.firsts.size() &&
           (row.offers[draft_.firsts[at]].reservation != offer.reservation ||
            !(size_of(row.offers[draft_.firsts[at]]) == size_of(offer))))
      ++at;
    draft_.machine_of[i] = at;
    const std::int64_t price =
        std::min(source.offerings[offer.offering].price_nanos_per_hour, kPriceNanosMax);
    if (at < draft_.firsts.size()) {
      view.machines[first + at].price = std::min(view.machines[first + at].price, price);
      continue;
    }
    draft_.firsts.push_back(i);
    view.machines.push_back({type, offer.reservation, price, {}, nullptr, {}});
  }
  if (draft_.firsts.empty()) return;
  const Overhead& overhead = overhead_in(view, daemons_on(row, daemons));
  for (std::size_t at = 0; at < draft_.firsts.size(); ++at) {
    Row room = columns_.row(size_of(row.offers[draft_.firsts[at]]));
    columns_.limit_volumes(room, source.attach_limits);
    take_overhead(overhead.amounts, room);
    draft_.rooms.insert(draft_.rooms.end(), room.begin(), room.end());
    const std::size_t before = draft_.offers.size();
    for (std::size_t i = 0; i < row.offers.size(); ++i)
      if (draft_.machine_of[i] == at) draft_.offers.push_back(static_cast<std::uint32_t>(i));
    draft_.counts.push_back(draft_.offers.size() - before);
    view.machines[first + at].overhead = &overhead;
  }
}

const Overhead& PoolTables::overhead_in(View& view, std::vector<std::size_t> daemons) const {
  for (const Overhead& known : view.overheads)
    if (known.daemons == daemons) return known;
  Row amounts = overhead_of(daemons);
  return view.overheads.emplace_back(std::move(daemons), std::move(amounts));
}

// By price, and what they refer to in their order.
void PoolTables::lay_out(View& view) {
  const std::size_t columns = columns_.size();
  std::size_t offers = 0;
  for (std::size_t i = 0; i < view.machines.size(); ++i) {
    view.machines[i].room = Amounts(draft_.rooms).subspan(i * columns, columns);
    view.machines[i].offers = std::span(draft_.offers).subspan(offers, draft_.counts[i]);
    offers += draft_.counts[i];
  }
  std::stable_sort(view.machines.begin(), view.machines.end(),
                   [](const Machine& a, const Machine& b) {
                     return std::tie(a.price, a.type) < std::tie(b.price, b.type);
                   });
  view.rooms.reserve(draft_.rooms.size());
  view.offers.reserve(draft_.offers.size());
  for (Machine& machine : view.machines) {
    const auto room = view.rooms.insert(view.rooms.end(), machine.room.begin(), machine.room.end());
    const auto own =
        view.offers.insert(view.offers.end(), machine.offers.begin(), machine.offers.end());
    machine.room = {room, machine.room.size()};
    machine.offers = {own, machine.offers.size()};
  }
  draft_.rooms.clear();
  draft_.offers.clear();
  draft_.counts.clear();
}

void PoolTables::add_domains(const PoolTable& table, const model::Requirements& wanted,
                             View& view) {
  view.domains.resize(domains_.keys.size());
  view.is_unlabelled.resize(domains_.keys.size(), 0);
  for (std::size_t key = 0; key < domains_.keys.size(); ++key) {
    std::vector<int>& domains = view.domains[key];
    const std::string& name = domains_.keys[key];
    const model::ValueSet* asked = wanted.find(name);
    const auto add = [&](const model::ValueSet& set) {
      if (set.complement) return false;
      for (const std::string& value : set.values)
        if (asked == nullptr || asked->contains(value)) domains.push_back(domains_.id(key, value));
      return true;
    };
    bool known = false, unlabelled = false;
    std::vector<char> seen(table.source->types.demands(), 0);  // what offers say, once each
    std::size_t silent = SIZE_MAX;  // the last type that was asked because its offers say nothing
    for (const Machine& machine : view.machines) {
      const TypeRow& type = table.types[machine.type];
      for (const std::size_t at : machine.offers) {
        const OfferRow& offer = type.offers[at];
        if (seen[offer.demand] != 0) continue;
        const model::ValueSet* set = offer.demands.find(name);
        if (set != nullptr)
          seen[offer.demand] = 1;
        else if (std::exchange(silent, machine.type) != machine.type)
          set = type.requirements.find(name);
        else
          continue;
        if (set != nullptr) known |= add(*set);
        unlabelled |= set == nullptr || (!set->complement && set->values.empty());
      }
    }
    view.is_unlabelled[key] = known && unlabelled && asked == nullptr ? 1 : 0;
    if (!known && asked != nullptr && !view.machines.empty()) add(*asked);
    std::sort(domains.begin(), domains.end());
    domains.erase(std::unique(domains.begin(), domains.end()), domains.end());
  }
}

}  // namespace karst::scheduling
