#include "scheduling/improve.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "scheduling/heavier.h"
#include "scheduling/joints.h"
#include "scheduling/mobility.h"
#include "scheduling/refill.h"
#include "scheduling/spare_limits.h"

namespace karst::scheduling {
namespace {

class Improver {
 public:
  Improver(Prepared& prepared, Packer& packer)
      : prepared_(prepared),
        packer_(packer),
        old_(packer.claims()),
        mobility_(prepared),
        alternatives_(prepared.pools),
        heavier_(prepared, mobility_, alternatives_,
                 [this](const View& view) { return is_open_to_change(view); }),
        claims_(packer.claims()),
        is_gone_(old_.size(), false),
        sector_of_(old_.size(), kNone),
        limits_(prepared.pools, packer),
        is_wanted_(pools_wanted(prepared, packer)) {
    rank_.resize(prepared.rows.size());
    for (std::size_t rank = 0; rank < rank_.size(); ++rank) rank_[prepared.by_size[rank]] = rank;
  }

  void run() {
    parts_ = parts_of(prepared_, mobility_, old_,
                      [&](const View& view) { return is_open_to_change(view); });
    const auto& pools = prepared_.pools.pools();
    for (std::size_t first = 0, last = 0; first < pools.size(); first = last) {
      while (last < pools.size() && pools[last].spec().weight == pools[first].spec().weight) ++last;
      improve_pools({first, last, first});
    }
    if (sectors_ > 0) hand_over();
  }

 private:
  // Pools that lie side by side, all of one weight.
  struct Pools {
    std::size_t first = 0;
    std::size_t last = 0;     // the one after
    std::size_t heavier = 0;  // so many before them have more weight
    bool contain(const Part& part) const {
      return first <= part.view->pool && part.view->pool < last;
    }
  };

  void improve_pools(const Pools& pools) {
    std::vector<Plan> best;
    SpareLimits limits = limits_;  // plans of several pools may take of one heavier pool's
    for (std::size_t pool = pools.first; pool < pools.last; ++pool) {
      const Pools alone{pool, pool + 1, pools.heavier};
      for (Plan& plan : plans_for(alone, apart(parts_, with_loose(alone)), limits)) {
        limits.take(plan.limits);
        best.push_back(std::move(plan));
      }
    }
    if (pools.last - pools.first > 1) {
      const std::vector<std::size_t> own = with_loose(pools);
      std::vector<Plan> joined =
          plans_for(pools,
                    together(prepared_, mobility_, parts_, own, pools.first, pools.last,
                             [&](const View& view) { return is_open_to_change(view); }),
                    limits_);
      if (saved_by(joined) > saved_by(best)) best = std::move(joined);
    }
    for (const Plan& plan : best) take(plan);
  }

  // Where limits leave pods over, what is left of them would be told wrong afterwards. What
  // minValues hold of limits is not worked out here. Claims in a domain where none were would be
  // counted by spreads that did not count them.
  bool is_open_to_change(const View& view) const {
    const PoolTable& pool = prepared_.pools.pools()[view.pool];
    return (!pool.has_limits() || (!is_wanted_[view.pool] && pool.min_values.empty())) &&
           !view.has_reserved && !view.daemons_use_ports && !packer_.would_add_domain(view);
  }

  std::vector<std::size_t> with_loose(const Pools& pools) const {
    std::vector<std::size_t> own;
    for (std::size_t part = 0; part < parts_.size(); ++part)
      if (pools.contain(parts_[part]) && !parts_[part].loose.empty()) own.push_back(part);
    return own;
  }

  // A claim may come under any of these views: whoever stays on it has no ties over zones. Its
  // loose pods stay behind, where their view has a part; else they must come along.
  bool may_join(const Claim& claim, Anywhere& anywhere, bool has_part) {
    return std::all_of(claim.shares.begin(), claim.shares.end(), [&](const Share& share) {
      if (has_part && mobility_.is_loose(share.group, *claim.view)) return true;  // stays behind
      return anywhere.may_live(share.group);
    });
  }

  // Claims without ties that may go to another part than their own: none; those whose own part has
  // nobody who could fill them; all.
  enum class Guests { kNone, kHomeless, kAll };

  // Claims of pools of one weight, all refilled, and what that saves.
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
  static std::int64_t saved_by(const std::vector<Plan>& plans) {
    return std::accumulate(plans.begin(), plans.end(), std::int64_t{0},
                           [](std::int64_t sum, const Plan& plan) { return sum + plan.saved; });
  }

  // The best for all of the joints, or for each that has one; nothing is taken yet.
  std::vector<Plan> plans_for(const Pools& pools, const std::vector<Joint>& own,
                              SpareLimits limits) {
    if (own.empty()) return {};
    std::vector<Plan> best;
    std::size_t tried = kNone;
    for (const Guests guests : {Guests::kHomeless, Guests::kAll}) {
      const std::int64_t budget = looks_, most = looks_ / 4 * 3;
      if (std::optional<Plan> found = plan(pools, own, guests, limits, tried, most);
          found && (best.empty() || found->saved > best.front().saved)) {
        best.clear();
        best.push_back(std::move(*found));
      } else if (budget - looks_ >= most) {
        break;  // with more guests it takes longer
      }
    }
    if (!best.empty() || (own.size() == 1 && tried == 0)) return best;
    std::int64_t to_come = 0;          // pods
    std::vector<Joint> by_pods = own;  // the largest first: what it leaves is for the others
    for (const Joint& joint : own) to_come += joint.asked[kPodsColumn];
    std::stable_sort(by_pods.begin(), by_pods.end(), [](const Joint& a, const Joint& b) {
      return a.asked[kPodsColumn] > b.asked[kPodsColumn];
    });
    for (const Joint& joint : by_pods) {
      tried = kNone;
      const std::int64_t pods = joint.asked[kPodsColumn];
      auto alone =
          plan(pools, {joint}, Guests::kNone, limits, tried, part_of(looks_, pods, to_come));
      to_come -= pods;
      if (!alone) continue;
      limits.take(alone->limits);
      best.push_back(std::move(*alone));
    }
    return best;
  }

  // nullopt: not cheaper, more than `looks`, or one with so many guests was `tried`, which is set.
  std::optional<Plan> plan(const Pools& pools, const std::vector<Joint>& own, Guests which,
                           const SpareLimits& limits, std::size_t& tried, std::int64_t looks) {
    Plan plan;
    for (const Joint& joint : own) {
      plan.sectors.emplace_back();
      for (const View* view : joint.faces)
        plan.sectors.back().faces.push_back({view, Alternatives::wanted(*view)});
    }
    plan.loose.resize(own.size());
    plan.sums.assign(own.size(), Row(prepared_.columns.size(), 0));
    plan.home.assign(old_.size(), kNone);
    std::vector<std::size_t> joint_of(parts_.size(), kNone);
    for (std::size_t joint = 0; joint < own.size(); ++joint)
      for (const std::size_t part : own[joint].parts) joint_of[part] = joint;
    Anywhere anywhere(mobility_, own);
    std::vector<std::size_t> guests;
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      if (!pools.contain(parts_[part])) continue;
      const bool has_part = joint_of[part] != kNone;
      const bool may_leave = which == Guests::kAll || (which == Guests::kHomeless && !has_part);
      if (!has_part && !may_leave) continue;
      for (const std::size_t at : parts_[part].claims) {
        if (has_part) plan.home[at] = joint_of[part];
        if (may_leave && may_join(old_[at], anywhere, has_part))
          guests.push_back(at);
        else if (has_part)
          put(at, plan.home[at], old_[at].view, plan);
        else
          continue;
        plan.members.push_back(at);
        SpareLimits::add(plan.limits, old_[at].pool, old_[at].held, -1);
        plan.saved += old_[at].view->machines[old_[at].machine].price;
      }
    }
    if (guests.size() == tried) return std::nullopt;
    tried = guests.size();
    seat(std::move(guests), own, plan);
    if (!refill_all(pools, limits, looks, plan) || plan.saved <= 0 || !limits.allow(plan.limits))
      return std::nullopt;
    return plan;
  }

  // False: there is a sector for which nothing is found, or what heavier pools would have.
  bool refill_all(const Pools& pools, const SpareLimits& limits, std::int64_t looks, Plan& plan) {
    for (std::size_t to = 0; to < plan.sectors.size(); ++to) {
      Sector& sector = plan.sectors[to];
      for (const auto& [rank, count] : plan.loose[to])
        sector.loose.push_back({prepared_.by_size[rank], count});
      const std::int64_t before = looks;
      auto one = refill(prepared_, mobility_.host_ties(), sector, alternatives_, looks);
      looks_ -= before - looks;
      if (!one) return false;
      std::map<std::size_t, const std::vector<Share>*> staying;
      for (const Sector::Staying& own : sector.staying) staying[own.claim] = &own.shares;
      const std::vector<Share> none;
      for (Refilled::Filled& filled : one->claims) {
        const std::vector<Share>& own = filled.claim == kNone ? none : *staying.at(filled.claim);
        if (!heavier_.put_right(pools.heavier, filled, own, limits, plan.limits)) return false;
        plan.saved -= filled.rung.machine().price;
        SpareLimits::add(plan.limits, filled.rung.view->pool, held_by(filled.rung), 1);
      }
      plan.refilled.push_back(std::move(*one));
    }
    return true;
  }

  const std::vector<std::int64_t>& held_by(const Rung& rung) const {
    return prepared_.pools.pools()[rung.view->pool].types[rung.machine().type].limited;
  }

  // The claim is one of the sector, under that view or, nullptr, any; its loose pods go to its
  // home, which may be another one.
  void put(std::size_t at, std::size_t to, const View* view, Plan& plan) {
    const Claim& claim = old_[at];
    if (plan.home[at] == kNone) plan.home[at] = to;
    const std::size_t home = plan.home[at];
    Sector& sector = plan.sectors[to];
    keep_as_open_as(claim, alternatives_, sector);
    Sector::Staying staying{at, claim.content, {}, view};
    for (const Share& share : claim.shares) {
      if (!mobility_.is_loose(share.group, *claim.view)) {
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
  void seat(std::vector<std::size_t> guests, const std::vector<Joint>& own, Plan& plan) {
    Row all(prepared_.columns.size(), 0);
    std::vector<std::int64_t> seats(own.size(), 0);
    std::int64_t pods = 0;
    for (std::size_t to = 0; to < own.size(); ++to) {
      const Row& asked = own[to].asked;
      add_times(all, asked, 1);
      seats[to] = asked[kPodsColumn];
      pods += asked[kPodsColumn];
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
      put(at, best, nullptr, plan);
    }
  }

  void take(const Plan& plan) {
    limits_.take(plan.limits);
    for (const std::size_t at : plan.members) {
      is_gone_[at] = true;
      sector_of_[at] = sectors_ + plan.home[at];
    }
    for (std::size_t to = 0; to < plan.sectors.size(); ++to)
      take(plan.sectors[to], plan.refilled[to]);
  }

  void take(const Sector& sector, const Refilled& refilled) {
    const std::size_t id = sectors_;
    ++sectors_;
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
      claim.pool = filled.rung.view->pool;
      claim.view = filled.rung.view;
      claim.machine = filled.rung.index;
      claim.content = filled.content;
      claim.held = held_by(filled.rung);
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
      if (sector == kNone || !mobility_.is_loose(turn.group, *old_[turn.target].view)) {
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
  Mobility mobility_;
  Alternatives alternatives_;
  Heavier heavier_;
  std::int64_t looks_ = kRefillLooksMax;  // a plan for all may not take all of it
  std::vector<std::size_t> rank_;         // by row: its place in the order of placing
  std::vector<Part> parts_;
  // The new state; claims by their old index, new ones behind them.
  std::vector<Claim> claims_;
  std::vector<bool> is_gone_;
  std::vector<std::size_t> sector_of_;  // by old claim: of those taken; kNone: unchanged
  std::size_t sectors_ = 0;             // taken so far
  std::map<std::pair<std::size_t, std::size_t>, std::vector<Dealt>> dealt_;  // by sector and row
  SpareLimits limits_;
  std::vector<bool> is_wanted_;  // by pool
};

}  // namespace

void improve(Prepared& prepared, Packer& packer) {
  const auto& claims = packer.claims();
  const bool is_reserved = std::any_of(claims.begin(), claims.end(),
                                       [](const Claim& claim) { return claim.is_reserved; });
  if (!is_reserved && !claims.empty() && !packer.leans_on_hosts()) Improver(prepared, packer).run();
}

}  // namespace karst::scheduling
