// The part of Packer that finds machines for claims, old and new.
#include <algorithm>
#include <set>

#include "base/check.h"
#include "scheduling/packer.h"

namespace karst::scheduling {

void Packer::sum_with(const Claim* claim, const PodRow& row, Row& sum) const {
  sum = row.request;
  if (claim != nullptr) add_times(sum, claim->content, 1);
  for (const auto& [column, volume] : row.shared_volumes)
    if (claim == nullptr ||
        std::find(claim->volumes.begin(), claim->volumes.end(), volume) == claim->volumes.end())
      ++sum[column];
}

bool Packer::machine_fits(const Claim* claim, const PoolTable& table, const View& view,
                          const Machine& machine, const PodRow& row, const Row& sum) const {
  if (!fits(sum, machine.room)) return false;
  const auto pool = static_cast<std::size_t>(&table - prepared_.pools.pools().data());
  const std::vector<std::int64_t>& limited = table.types[machine.type].limited;
  for (std::size_t i = 0; i < limited.size(); ++i)
    if (limited[i] - (claim == nullptr ? 0 : claim->held[i]) > limits_[pool][i]) return false;
  if (!view.daemons_use_ports) return true;
  for (const std::size_t daemon : machine.overhead->daemons) {
    const auto& ports = prepared_.problem.daemons[daemon].shape.host_ports;
    if (ports_conflict(ports, row.source->shape.host_ports) ||
        (claim != nullptr && ports_conflict(ports, claim->ports)))
      return false;
  }
  return true;
}

std::size_t Packer::number_of(const Claim* claim) const {
  return claim == nullptr ? claims_.size() : static_cast<std::size_t>(claim - claims_.data());
}

// As many reservations as minValues need: a claim that holds some comes up as nothing else.
bool Packer::choose_reservations(const Claim* claim, const PoolTable& table, const View& view,
                                 const std::vector<std::size_t>& fitting, Fit& fit) {
  std::vector<int> chosen;
  std::vector<std::int64_t> hold(limits_[fit.pool].size(), 0);
  const auto is_chosen = [&](std::size_t machine) {
    return std::find(chosen.begin(), chosen.end(), view.machines[machine].reservation) !=
           chosen.end();
  };
  for (std::size_t at = 0; at < table.min_values.size(); ++at) {
    std::set<std::string_view> values;
    const auto add = [&](std::size_t machine) {
      const std::vector<std::string>& own = table.types[view.machines[machine].type].counted[at];
      const std::size_t before = values.size();
      values.insert(own.begin(), own.end());
      return values.size() > before;
    };
    const auto is_met = [&] {
      return static_cast<int>(values.size()) >= table.min_values[at].second;
    };
    for (const std::size_t machine : fitting)
      if (is_chosen(machine)) add(machine);
    for (const std::size_t machine : fitting)
      if (!is_met() && !is_chosen(machine) &&
          reservations_.may_take(number_of(claim), view.machines[machine].reservation) &&
          add(machine))
        chosen.push_back(view.machines[machine].reservation);
    if (!is_met()) return false;
  }
  if (chosen.empty()) return false;
  for (const std::size_t machine : fitting) {
    if (!is_chosen(machine)) continue;
    if (fit.machine == kNone) fit.machine = machine;
    const auto& limited = table.types[view.machines[machine].type].limited;
    for (std::size_t i = 0; i < hold.size(); ++i) hold[i] = std::max(hold[i], limited[i]);
  }
  fit.hold = std::move(hold);
  fit.reservations = std::move(chosen);
  fit.needs_all = true;
  fit.is_reserved = true;
  return true;
}

// The cheapest reserved machine that fits and whose reservation can be had, and all reservations
// that would do as well: what the limits hold for the machine is enough for theirs.
Packer::Found Packer::find_reserved(const Claim* claim, const PoolTable& table, const View& view,
                                    const PodRow& row, const Row& sum, bool minded, Fit& fit) {
  std::vector<std::size_t> fitting;
  for (std::size_t i = 0; i < view.machines.size(); ++i)
    if (view.machines[i].reservation != kNotReserved &&
        machine_fits(claim, table, view, view.machines[i], row, sum))
      fitting.push_back(i);
  if (minded && choose_reservations(claim, table, view, fitting, fit)) return Found::kYes;
  if (minded &&
      (claim != nullptr || prepared_.problem.options.min_values == MinValuesPolicy::kStrict))
    return fitting.empty() ? Found::kNo : Found::kReservedOut;
  fit.min_values_relaxed = minded;
  const auto limited = [&](std::size_t machine) -> const std::vector<std::int64_t>& {
    return table.types[view.machines[machine].type].limited;
  };
  for (const std::size_t held : fitting) {
    std::set<int> options;
    for (const std::size_t other : fitting) {
      bool no_larger = true;
      for (std::size_t i = 0; i < limited(held).size(); ++i)
        no_larger &= limited(other)[i] <= limited(held)[i];
      if (no_larger) options.insert(view.machines[other].reservation);
    }
    fit.reservations.assign(options.begin(), options.end());
    const bool could = claim == nullptr
                           ? reservations_.could_hold(fit.reservations)
                           : reservations_.could_hold(number_of(claim), fit.reservations);
    if (could) {
      fit.machine = held;
      fit.is_reserved = true;
      return Found::kYes;
    }
    if (!table.is_limited()) break;  // the options are the same for each
  }
  fit.reservations.clear();
  fit.min_values_relaxed = false;
  return fitting.empty() ? Found::kNo : Found::kReservedOut;
}

std::size_t Packer::cheapest_machine(const Claim* claim, const PoolTable& table, const View& view,
                                     const PodRow& row, const Row& sum) {
  if (!view.daemons_use_ports) {
    const bool same = claim != nullptr && claim->view == &view && !table.is_limited();
    const auto cheapest =
        std::lower_bound(view.steps.begin(), view.steps.end(), same ? claim->machine : 0);
    auto step = static_cast<std::size_t>(cheapest - view.steps.begin());
    while ((step = first_step(claim, view, nothing_, sum, step, view.steps.size())) <
           view.steps.size()) {
      const std::size_t machine = view.steps[step++];
      if (machine_fits(claim, table, view, view.machines[machine], row, sum)) return machine;
    }
    return kNone;
  }
  for (std::size_t i = 0; i < view.machines.size(); ++i)
    if (view.machines[i].reservation == kNotReserved &&
        machine_fits(claim, table, view, view.machines[i], row, sum))
      return i;
  return kNone;
}

Packer::Found Packer::find_machine(const Claim* claim, std::size_t pool, const View& view,
                                   const PodRow& row, const Row& sum, Fit& fit) {
  const PoolTable& table = prepared_.pools.pools()[pool];
  fit = Fit{};
  fit.pool = pool;
  fit.view = &view;
  const bool minded = !table.min_values.empty() && !strategy_.lowers_min_values &&
                      (claim == nullptr || !claim->min_values_relaxed);
  if (view.has_reserved && (claim == nullptr || claim->is_reserved)) {
    const Found found = find_reserved(claim, table, view, row, sum, minded, fit);
    if (found == Found::kReservedOut && claim == nullptr &&
        prepared_.problem.options.reserved == ReservedMode::kStrict)
      return found;
  }
  if (claim != nullptr && claim->is_reserved && !fit.is_reserved) return Found::kNo;
  if (!fit.is_reserved) fit.machine = cheapest_machine(claim, table, view, row, sum);
  if (fit.machine == kNone) return Found::kNo;
  fit.price = view.machines[fit.machine].price;
  if (fit.needs_all) return Found::kYes;
  fit.hold = table.types[view.machines[fit.machine].type].limited;
  return !minded || fit.min_values_relaxed || meets_min_values(claim, table, view, row, sum, fit)
             ? Found::kYes
             : Found::kNo;
}

bool Packer::meets_min_values(const Claim* claim, const PoolTable& table, const View& view,
                              const PodRow& row, const Row& sum, Fit& fit) {
  for (std::size_t at = 0; at < table.min_values.size(); ++at) {
    const int count = table.min_values[at].second;
    std::set<std::string_view> values;
    for (const Machine& machine : view.machines) {
      const std::vector<std::string>& own = table.types[machine.type].counted[at];
      if (own.empty() || static_cast<int>(values.size()) >= count ||
          machine.reservation != kNotReserved ||
          !machine_fits(claim, table, view, machine, row, sum))
        continue;
      values.insert(own.begin(), own.end());
      const auto& limited = table.types[machine.type].limited;
      for (std::size_t i = 0; i < limited.size(); ++i)
        fit.hold[i] = std::max(fit.hold[i], limited[i]);
    }
    if (static_cast<int>(values.size()) >= count) continue;
    if (claim != nullptr || prepared_.problem.options.min_values == MinValuesPolicy::kStrict)
      return false;
    fit.min_values_relaxed = true;
  }
  return true;
}

bool Packer::fits_claim(const Claim& claim, std::size_t row, const Stage& stage, Fit& fit) {
  const PodRow& pod = prepared_.rows[row];
  const PoolTable& table = prepared_.pools.pools()[claim.pool];
  const View& view = *claim.view;
  const std::size_t columns = pod.request.size();
  if (!claim.is_reserved &&
      std::none_of(view.largest.begin(), view.largest.end(), [&](std::size_t largest) {
        return fits_beside(claim.content.data(), pod.request.data(),
                           view.machines[largest].room.data(), columns);
      }))
    return false;
  if (!tolerates(pod, stage, table.spec().taints) ||
      ports_conflict(pod.source->shape.host_ports, claim.ports))
    return false;
  const auto index = static_cast<std::size_t>(&claim - claims_.data());
  const int host = static_cast<int>(node_count() + index);
  sum_.clear();
  for (const Way& way : stage.ways) {
    if (!host_allows(pod, stage, host, way.strict)) continue;
    // What one pod rules out ("no such label") defines no label for the next one: the pool must
    // know whatever a pod asks for.
    const RequirementId with_pod = prepared_.requirements.combine(view.requirements, way.wanted);
    if (with_pod == kImpossible ||
        prepared_.requirements.combine(table.base, way.wanted) == kImpossible)
      continue;
    for (const RequirementId volumes : pod.volume_ways) {
      const RequirementId all = prepared_.requirements.combine(with_pod, volumes);
      if (all == kImpossible ||
          prepared_.requirements.combine(table.base, volumes) == kImpossible ||
          !choose_domains(&claim, claim.pool, all, pod, stage, way.strict, narrowed_))
        continue;
      if (sum_.empty()) sum_with(&claim, pod, sum_);
      for (const RequirementId one : narrowed_) {
        if (find_machine(&claim, claim.pool, prepared_.pools.view(claim.pool, one), pod, sum_,
                         fit) != Found::kYes)
          continue;
        if (skip_ == 0) return true;
        --skip_;
      }
    }
  }
  return false;
}

// Pools of one weight are one class: in the order of asking, or the cheapest of the class.
Packer::Found Packer::fits_new(std::size_t row, const Stage& stage, Fit& best) {
  if (hosts_are_final_) return Found::kNo;
  const auto& pools = prepared_.pools.pools();
  Found found = Found::kNo;
  for (std::size_t pool = 0; pool < pools.size(); ++pool) {
    if (found == Found::kYes && pools[pool].spec().weight < pools[best.pool].spec().weight) break;
    Fit fit;
    const Found one = fits_pool(pool, row, stage, fit);
    if (one == Found::kReservedOut) {
      if (found == Found::kNo) found = one;
      break;
    }
    if (one == Found::kNo || (found == Found::kYes && fit.price >= best.price)) continue;
    best = std::move(fit);
    found = one;
    if (!strategy_.cheapest_pool) break;
  }
  return found;
}

Packer::Found Packer::fits_pool(std::size_t pool, std::size_t row, const Stage& stage, Fit& best) {
  const PodRow& pod = prepared_.rows[row];
  const PoolTable& table = prepared_.pools.pools()[pool];
  if (!table.possible || (table.limits_nodes && nodes_left_[pool] <= 0) ||
      !tolerates(pod, stage, table.spec().taints))
    return Found::kNo;
  sum_with(nullptr, pod, sum_new_);
  const int host = static_cast<int>(node_count() + claims_.size());
  Found found = Found::kNo;
  for (const Way& way : stage.ways) {
    if (!host_allows(pod, stage, host, way.strict)) continue;
    const RequirementId with_pod = prepared_.requirements.combine(table.base, way.wanted);
    if (with_pod == kImpossible) continue;
    for (const RequirementId volumes : pod.volume_ways) {
      const RequirementId all = prepared_.requirements.combine(with_pod, volumes);
      if (all == kImpossible ||
          !choose_domains(nullptr, pool, all, pod, stage, way.strict, narrowed_new_))
        continue;
      for (const RequirementId one : narrowed_new_) {
        Fit fit;
        Found here =
            find_machine(nullptr, pool, prepared_.pools.view(pool, one), pod, sum_new_, fit);
        if (here == Found::kYes && gives_up_reserved(pool, all, pod, stage, sum_new_, fit))
          here = Found::kReservedOut;
        if (here == Found::kReservedOut && found == Found::kNo) found = here;
        if (here != Found::kYes) continue;
        if (skip_ > 0) {
          --skip_;
          continue;
        }
        if (found != Found::kYes || fit.price < best.price) best = std::move(fit);
        found = Found::kYes;
        break;
      }
      if (found == Found::kYes && !strategy_.cheapest_pool) return found;
    }
  }
  return found;
}

// In strict mode a pod waits for a reservation rather than go without; that others want it in a
// domain that sells none is no way around.
bool Packer::gives_up_reserved(std::size_t pool, RequirementId wanted, const PodRow& row,
                               const Stage& stage, const Row& sum, const Fit& fit) {
  if (fit.is_reserved || prepared_.problem.options.reserved != ReservedMode::kStrict) return false;
  RequirementId own = wanted;
  for (const Constraint& constraint : stage.constraints) {
    const int key = prepared_.topology.groups()[constraint.group].key;
    if (key == kHostKey) continue;
    std::vector<std::string> names;
    for (const int domain : fit.view->domains[static_cast<std::size_t>(key)])
      names.push_back(prepared_.domains.name(static_cast<std::size_t>(key), domain));
    if (!names.empty())
      own = prepared_.requirements.combine(
          own, prepared_.requirements.one_of(prepared_.topology.key_name(key), names));
  }
  if (own == kImpossible) return false;
  const PoolTable& table = prepared_.pools.pools()[pool];
  const View& view = prepared_.pools.view(pool, own);
  return &view != fit.view && view.has_reserved &&
         std::any_of(view.machines.begin(), view.machines.end(), [&](const Machine& machine) {
           return machine.reservation != kNotReserved &&
                  machine_fits(nullptr, table, view, machine, row, sum);
         });
}

void Packer::open(std::size_t row, const Fit& fit) {
  const PoolTable& table = prepared_.pools.pools()[fit.pool];
  Claim claim;
  claim.pool = fit.pool;
  claim.view = fit.view;
  claim.content.assign(prepared_.columns.size(), 0);
  claim.is_reserved = fit.is_reserved;
  claim.held.assign(limits_[fit.pool].size(), 0);
  claim.min_values_relaxed = fit.min_values_relaxed;
  claims_.push_back(std::move(claim));
  if (table.limits_nodes) --nodes_left_[fit.pool];
  note_made(claims_.back());
  join(claims_.size() - 1, row, fit);
}

void Packer::join(std::size_t at, std::size_t row, const Fit& fit) {
  Claim& claim = claims_[at];
  const PodRow& pod = prepared_.rows[row];
  if (claim.view != fit.view) {
    count_all(at, -1);
    claim.view = fit.view;
    count_all(at, 1);
    note_made(claim);
  }
  sum_with(&claim, pod, sum_);
  claim.content = sum_;
  claim.machine = fit.machine;
  for (std::size_t i = 0; i < fit.hold.size(); ++i)
    limits_[claim.pool][i] -= fit.hold[i] - claim.held[i];
  claim.held = fit.hold;
  if (fit.needs_all)
    reservations_.hold_all(at, fit.reservations);
  else if (fit.is_reserved)
    KARST_CHECK(reservations_.hold(at, fit.reservations), "what could be held is held");
  for (const auto& [column, volume] : pod.shared_volumes)
    if (std::find(claim.volumes.begin(), claim.volumes.end(), volume) == claim.volumes.end())
      claim.volumes.push_back(volume);
  const auto& ports = pod.source->shape.host_ports;
  claim.ports.insert(claim.ports.end(), ports.begin(), ports.end());
  if (!claim.shares.empty() && claim.shares.back().group == row)
    ++claim.shares.back().count;
  else
    claim.shares.push_back({row, 1});
  ++claim.pods;
  count(at, row, 1);
  tell(at, row);
  note_slack(at);
  if (queued_row_ != kNone) queue_claim(at);
}

// A claim's turns are told once no group that counts its pods is in doubt about their domain over
// any key; until then nobody goes by them.
void Packer::tell(std::size_t at, std::size_t row) {
  Claim& claim = claims_[at];
  for (const GroupId group : prepared_.rows[row].matched) {
    const TopologyGroup& own = prepared_.topology.groups()[group];
    if (goes_by_sure(own) && std::find(claim.counted_keys.begin(), claim.counted_keys.end(),
                                       own.key) == claim.counted_keys.end())
      claim.counted_keys.push_back(own.key);
  }
  claim.waiting.push_back({row, true, at, 1});
  if (std::any_of(claim.counted_keys.begin(), claim.counted_keys.end(), [&](int key) {
        return claim.view->domains[static_cast<std::size_t>(key)].size() > 1;
      }))
    return;
  tell_waiting(at);
}

void Packer::tell_waiting(std::size_t at) {
  Claim& claim = claims_[at];
  for (const Turn& turn : claim.waiting) count_told(at, turn.group, 1);
  order_.insert(order_.end(), claim.waiting.begin(), claim.waiting.end());
  claim.waiting.clear();
}

}  // namespace karst::scheduling
