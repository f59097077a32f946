#include "scheduling/improve.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "scheduling/host_ties.h"
#include "scheduling/refill.h"
#include "scheduling/spare_limits.h"

namespace karst::scheduling {
namespace {

// Topology keys other than the host over which the row has to do with other pods.
std::vector<int> tied_keys(const PodRow& row, const std::vector<TopologyGroup>& groups) {
  std::vector<int> keys;
  const auto note = [&](GroupId group) {
    if (groups[group].key != kHostKey) keys.push_back(groups[group].key);
  };
  for (const Stage& stage : row.stages)
    for (const Constraint& constraint : stage.constraints) note(constraint.group);
  for (const GroupId group : row.matched) note(group);
  for (const GroupId group : row.repels) note(group);
  return keys;
}

// The claims of one pool under one view.
struct Part {
  std::size_t pool = 0;
  const View* view = nullptr;
  std::vector<std::size_t> claims;
  Row loose;  // what their loose pods ask for; all 0: there are none
};

class Improver {
 public:
  Improver(Prepared& prepared, Packer& packer)
      : prepared_(prepared),
        packer_(packer),
        old_(packer.claims()),
        claims_(packer.claims()),
        is_gone_(old_.size(), false),
        sector_of_(old_.size(), kNone),
        limits_(prepared.pools, packer),
        all_placed_(std::all_of(packer.left().begin(), packer.left().end(),
                                [](std::int64_t pods) { return pods == 0; })) {
    const auto& groups = prepared.topology.groups();
    rank_.resize(prepared.rows.size());
    for (std::size_t rank = 0; rank < rank_.size(); ++rank) rank_[prepared.by_size[rank]] = rank;
    for (const PodRow& row : prepared.rows) {
      ties_.push_back(host_ties(row, groups));
      keys_.push_back(tied_keys(row, groups));
      may_move_.push_back(row.stages.size() == 1 && row.shared_volumes.empty() &&
                          row.source->shape.host_ports.empty() && !ties_.back().is_bound);
    }
  }

  void run() {
    find_parts();
    for (std::size_t pool = 0; pool < prepared_.pools.pools().size(); ++pool) {
      std::vector<std::size_t> own;  // parts with loose pods
      for (std::size_t part = 0; part < parts_.size(); ++part)
        if (parts_[part].pool == pool && has_loose(parts_[part])) own.push_back(part);
      if (own.empty()) continue;
      std::optional<Plan> best;
      std::size_t tried = kNone;
      for (const Guests guests : {Guests::kHomeless, Guests::kAll})
        if (std::optional<Plan> found = plan(own, guests, tried);
            found && (!best || found->saved > best->saved))
          best = std::move(found);
      if (best) {
        take(*best);
        continue;
      }
      if (own.size() == 1 && tried == 0) continue;
      for (const std::size_t part : own) {
        tried = kNone;
        if (const std::optional<Plan> alone = plan({part}, Guests::kNone, tried)) take(*alone);
      }
    }
    if (!views_.empty()) hand_over();
  }

 private:
  // Where limits leave pods over, what is left of them would be told wrong afterwards.
  bool is_open_to_change(const Claim& claim) const {
    const PoolTable& pool = prepared_.pools.pools()[claim.pool];
    return (all_placed_ || !(pool.is_limited() || pool.limits_nodes)) && pool.min_values.empty() &&
           !claim.is_reserved && !claim.view->has_reserved && !claim.view->daemons_use_ports;
  }

  // Wherever it is among the claims of the view, others over zones see it where they saw it.
  bool is_loose(std::size_t row, const View& view) const {
    return may_move_[row] && std::all_of(keys_[row].begin(), keys_[row].end(), [&](int key) {
             return view.domains[static_cast<std::size_t>(key)].size() <= 1;
           });
  }
  static bool has_loose(const Part& part) { return part.loose[kPodsColumn] > 0; }

  void find_parts() {
    std::vector<std::size_t> part_of;  // by view
    for (std::size_t at = 0; at < old_.size(); ++at) {
      const Claim& claim = old_[at];
      if (!is_open_to_change(claim)) continue;
      if (claim.view->index >= part_of.size()) part_of.resize(claim.view->index + 1, kNone);
      std::size_t& part = part_of[claim.view->index];
      if (part == kNone) {
        part = parts_.size();
        parts_.push_back({claim.pool, claim.view, {}, Row(prepared_.columns.size(), 0)});
      }
      parts_[part].claims.push_back(at);
      for (const Share& share : claim.shares)
        if (is_loose(share.group, *claim.view))
          add_times(parts_[part].loose, prepared_.rows[share.group].request, share.count);
    }
  }

  // The row's pods would find there all that they demand.
  bool may_live(std::size_t row, const View& view) {
    const RequirementId base = prepared_.pools.pools()[view.pool].base;
    const auto adds_nothing = [&](RequirementId demand) {
      return prepared_.requirements.combine(view.requirements, demand) == view.requirements &&
             prepared_.requirements.combine(base, demand) != kImpossible;
    };
    const PodRow& pod = prepared_.rows[row];
    const std::vector<Way>& ways = pod.stages.front().ways;
    return std::any_of(ways.begin(), ways.end(),
                       [&](const Way& way) { return adds_nothing(way.wanted); }) &&
           std::any_of(pod.volume_ways.begin(), pod.volume_ways.end(), adds_nothing);
  }

  // A claim may come under any of these views: whoever stays on it has no ties over zones. Its
  // loose pods stay behind, where their view has a part; else they must come along.
  bool may_join(const Claim& claim, const std::vector<std::size_t>& own, bool has_part) {
    for (const Share& share : claim.shares) {
      const bool stays_behind = has_part && is_loose(share.group, *claim.view);
      if (stays_behind) continue;
      if (!keys_[share.group].empty() || prepared_.rows[share.group].stages.size() > 1 ||
          !std::all_of(own.begin(), own.end(),
                       [&](std::size_t part) { return may_live(share.group, *parts_[part].view); }))
        return false;
    }
    return true;
  }

  // Claims without ties that may go to another part than their own: none; those whose own part has
  // nobody who could fill them; all.
  enum class Guests { kNone, kHomeless, kAll };

  // Parts of one pool, all refilled, and what that saves.
  struct Plan {
    std::vector<Sector> sectors;
    std::vector<std::size_t> members;  // claims that are replaced
    // By claim the sector to which its loose pods go.
    std::vector<std::size_t> home;
    // By sector: loose pods by rank, and what everything there asks for.
    std::vector<std::map<std::size_t, std::int64_t>> loose;
    std::vector<Row> sums;
    std::vector<Refilled> refilled;
    std::int64_t saved = 0;
    SpareLimits::Change limits;
  };

  // nullopt: it is not cheaper, or one with so many guests was `tried`, which is set.
  std::optional<Plan> plan(const std::vector<std::size_t>& own, Guests which, std::size_t& tried) {
    Plan plan;
    plan.limits.pool = parts_[own.front()].pool;
    for (const std::size_t part : own)
      plan.sectors.push_back(
          {parts_[part].pool, parts_[part].view, {}, {}, Alternatives::wanted(*parts_[part].view)});
    plan.loose.resize(own.size());
    plan.sums.assign(own.size(), Row(prepared_.columns.size(), 0));
    plan.home.assign(old_.size(), kNone);
    std::vector<std::size_t> guests;
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      const auto place = std::find(own.begin(), own.end(), part);
      const bool has_part = place != own.end();
      const bool may_leave = which == Guests::kAll || (which == Guests::kHomeless && !has_part);
      if (!has_part && (!may_leave || parts_[part].pool != parts_[own.front()].pool)) continue;
      for (const std::size_t at : parts_[part].claims) {
        if (has_part) plan.home[at] = static_cast<std::size_t>(place - own.begin());
        if (may_leave && may_join(old_[at], own, has_part))
          guests.push_back(at);
        else if (has_part)
          put(at, plan.home[at], plan);
        else
          continue;
        plan.members.push_back(at);
        SpareLimits::add(plan.limits, old_[at].held, -1);
        plan.saved += old_[at].view->machines[old_[at].machine].price;
      }
    }
    if (guests.size() == tried) return std::nullopt;
    tried = guests.size();
    seat(std::move(guests), own, plan);
    for (std::size_t to = 0; to < own.size(); ++to) {
      for (const auto& [rank, count] : plan.loose[to])
        plan.sectors[to].loose.push_back({prepared_.by_size[rank], count});
      std::optional<Refilled> one =
          refill(prepared_, ties_, plan.sectors[to], alternatives_, looks_);
      if (!one) return std::nullopt;
      plan.saved -= one->price;
      for (const Refilled::Filled& filled : one->claims)
        SpareLimits::add(plan.limits, held_by(plan.sectors[to], filled), 1);
      plan.refilled.push_back(std::move(*one));
    }
    if (plan.saved <= 0 || !limits_.allow(plan.limits)) return std::nullopt;
    return plan;
  }

  const std::vector<std::int64_t>& held_by(const Sector& sector,
                                           const Refilled::Filled& filled) const {
    const std::size_t type = sector.view->machines[filled.machine].type;
    return prepared_.pools.pools()[sector.pool].types[type].limited;
  }

  // The claim is one of the sector; its loose pods go to its home, which may be another one.
  void put(std::size_t at, std::size_t to, Plan& plan) {
    const Claim& claim = old_[at];
    if (plan.home[at] == kNone) plan.home[at] = to;
    const std::size_t home = plan.home[at];
    Sector& sector = plan.sectors[to];
    sector.fewest_types =
        std::min(sector.fewest_types, alternatives_.of(*claim.view, claim.machine));
    Sector::Staying staying{at, claim.content, {}};
    for (const Share& share : claim.shares) {
      if (!is_loose(share.group, *claim.view)) {
        staying.shares.push_back(share);
        continue;
      }
      const Row& request = prepared_.rows[share.group].request;
      plan.loose[home][rank_[share.group]] += share.count;
      add_times(plan.sums[home], request, share.count);
      add_times(staying.content, request, -share.count);
    }
    add_times(plan.sums[to], staying.content, 1);
    if (!staying.shares.empty()) sector.staying.push_back(std::move(staying));
  }

  // Guests go where what they ask for makes CPU and memory come out even; each sector gets as large
  // a part of them as it has of the loose pods.
  void seat(std::vector<std::size_t> guests, const std::vector<std::size_t>& own, Plan& plan) {
    Row all(prepared_.columns.size(), 0);
    std::vector<std::int64_t> seats(own.size(), 0);
    std::int64_t pods = 0;
    for (std::size_t to = 0; to < own.size(); ++to) {
      const Row& loose = parts_[own[to]].loose;
      add_times(all, loose, 1);
      seats[to] = loose[kPodsColumn];
      pods += loose[kPodsColumn];
    }
    const auto count = static_cast<std::int64_t>(guests.size());
    for (std::int64_t& one : seats) one = one * count / pods + 1;
    const auto even = [&](const Row& sum) {  // CPU less memory, as parts of all
      return static_cast<Wide>(sum[0]) * std::max<std::int64_t>(all[1], 1) -
             static_cast<Wide>(sum[1]) * std::max<std::int64_t>(all[0], 1);
    };
    const auto size = [](Wide number) { return number < 0 ? -number : number; };
    // The most uneven first.
    std::stable_sort(guests.begin(), guests.end(), [&](std::size_t a, std::size_t b) {
      return size(even(old_[a].content)) > size(even(old_[b].content));
    });
    for (const std::size_t at : guests) {
      std::size_t best = kNone;
      Wide least = 0;
      for (std::size_t to = 0; to < own.size(); ++to) {
        if (seats[to] == 0) continue;
        const Wide before = even(plan.sums[to]);
        const Wide change = size(before + even(old_[at].content)) - size(before);
        if (best != kNone && change >= least) continue;
        best = to;
        least = change;
      }
      --seats[best];
      put(at, best, plan);
    }
  }

  void take(const Plan& plan) {
    limits_.take(plan.limits);
    for (const std::size_t at : plan.members) {
      is_gone_[at] = true;
      sector_of_[at] = views_.size() + plan.home[at];
    }
    for (std::size_t to = 0; to < plan.sectors.size(); ++to)
      take(plan.sectors[to], plan.refilled[to]);
  }

  void take(const Sector& sector, const Refilled& refilled) {
    const std::size_t id = views_.size();
    views_.push_back(sector.view);
    std::map<std::size_t, const std::vector<Share>*> staying;
    for (const Sector::Staying& one : sector.staying) staying[one.claim] = &one.shares;
    for (const Refilled::Filled& filled : refilled.claims) {
      const bool is_new = filled.claim == kNone;
      const std::size_t at = is_new ? claims_.size() : filled.claim;
      if (is_new) {
        claims_.emplace_back();
        is_gone_.push_back(false);
      }
      is_gone_[at] = false;
      Claim& claim = claims_[at];
      claim.pool = sector.pool;
      claim.view = sector.view;
      claim.machine = filled.machine;
      claim.content = filled.content;
      claim.held = held_by(sector, filled);
      claim.shares.clear();
      if (!is_new) claim.shares = *staying.at(at);
      claim.shares.insert(claim.shares.end(), filled.shares.begin(), filled.shares.end());
      claim.pods = 0;
      for (const Share& share : claim.shares) claim.pods += share.count;
      for (const Share& share : filled.shares)
        dealt_[{id, share.group}].push_back({at, share.count});
    }
  }

  // The turns are those that they were, with the claims that the pods are on now.
  void hand_over() {
    std::vector<std::size_t> index(claims_.size(), kNone);
    std::vector<Claim> claims;
    for (std::size_t at = 0; at < claims_.size(); ++at) {
      if (is_gone_[at]) continue;
      index[at] = claims.size();
      claims.push_back(std::move(claims_[at]));
    }
    std::vector<Turn> order;
    for (const Turn& turn : packer_.order()) {
      const std::size_t sector = turn.on_claim ? sector_of_[turn.target] : kNone;
      if (sector == kNone || !is_loose(turn.group, *old_[turn.target].view)) {
        order.push_back(turn);
        if (turn.on_claim) order.back().target = index[turn.target];
        continue;
      }
      std::vector<Dealt>& dealt = dealt_[{sector, turn.group}];
      for (std::int64_t left = turn.count; left > 0;) {
        KARST_CHECK(!dealt.empty(), "as many pods are dealt out as were taken");
        const std::int64_t count = std::min(left, dealt.back().count);
        order.push_back({turn.group, true, index[dealt.back().claim], count});
        left -= count;
        if ((dealt.back().count -= count) == 0) dealt.pop_back();
      }
    }
    packer_.replace(std::move(claims), std::move(order), limits_.amounts(), limits_.nodes());
  }

  struct Dealt {
    std::size_t claim = 0;
    std::int64_t count = 0;
  };

  Prepared& prepared_;
  Packer& packer_;
  const std::vector<Claim>& old_;
  std::int64_t looks_ = kRefillLooksMax;
  std::vector<HostTies> ties_;          // by row
  std::vector<std::vector<int>> keys_;  // by row: tied_keys()
  std::vector<std::size_t> rank_;       // by row: its place in the order of placing
  std::vector<bool> may_move_;          // by row, as far as its own claim goes
  std::vector<Part> parts_;
  Alternatives alternatives_;
  // The new state; claims by their old index, new ones behind them.
  std::vector<Claim> claims_;
  std::vector<bool> is_gone_;
  std::vector<std::size_t> sector_of_;  // by old claim: index into views_; kNone: unchanged
  std::vector<const View*> views_;      // of the sectors that were taken
  std::map<std::pair<std::size_t, std::size_t>, std::vector<Dealt>> dealt_;  // by sector and row
  SpareLimits limits_;
  bool all_placed_;
};

}  // namespace

void improve(Prepared& prepared, Packer& packer) {
  const auto& claims = packer.claims();
  const bool is_reserved = std::any_of(claims.begin(), claims.end(),
                                       [](const Claim& claim) { return claim.is_reserved; });
  if (!is_reserved && !claims.empty() && !packer.hosts_are_final())
    Improver(prepared, packer).run();
}

}  // namespace karst::scheduling
