#include "scheduling/refill.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/check.h"
#include "scheduling/dive.h"
#include "scheduling/equal_pods.h"
#include "scheduling/fill_value.h"

namespace karst::scheduling {
namespace {

std::int64_t part_of(std::int64_t count, std::int64_t part, std::int64_t whole) {
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(count, part, &product)) return product / whole;
  return static_cast<std::int64_t>(static_cast<Wide>(count) * part / whole);
}

class Refill {
 public:
  Refill(const Prepared& prepared, const std::vector<HostTies>& ties, const Sector& sector,
         Alternatives& alternatives, std::int64_t& looks)
      : prepared_(prepared),
        ties_(ties),
        sector_(sector),
        alternatives_(alternatives),
        ladder_(prepared.pools, sector.faces, alternatives),
        looks_(looks),
        dive_(classes_),
        state_(prepared.topology.groups().size()) {
    for (std::size_t i = 0; i < sector.staying.size(); ++i) order_.push_back(i);
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      return sector.staying[b].content < sector.staying[a].content;
    });
    sum_.assign(prepared.columns.size(), 0);
    room_ = sum_;
    for (const Sector::Staying& claim : sector.staying) add_times(sum_, claim.content, 1);
    for (const Share& share : sector.loose)
      add_times(sum_, prepared.rows[share.group].request, share.count);
  }

  std::optional<Refilled> best() {
    if (ladder_.whole().empty()) return std::nullopt;
    const FillValue value(ladder_.whole(), sum_, RoomCounted::kAll);
    std::optional<Refilled> best;
    try_filling(value, 0, best);
    if (may_waste(best))
      try_filling(FillValue(ladder_.whole(), sum_, RoomCounted::kFilled), kFillLargerMax, best);
    try_even(value, best);
    try_equal(value, best);
    return best;
  }

 private:
  // A small sector with pods that stay, and clearly dearer than machines of one size, all filled,
  // would be: each machine holds something back, which weighs less on a larger one.
  bool may_waste(const std::optional<Refilled>& best) const {
    if (!best || sector_.staying.empty() || sum_[kPodsColumn] > kEvenPodsMax) return false;
    Wide least = best->price;
    for (const Rung& rung : ladder_.whole()) least = std::min(least, price_of_share(sum_, rung));
    return least < best->price - best->price / 16;
  }
  void try_filling(const FillValue& value, int larger_max, std::optional<Refilled>& best) {
    larger_max_ = larger_max;
    for (const bool spares_small : {true, false}) {
      if (looks_ <= 0) break;
      deal_anew(value, spares_small);
      Refilled found;
      if (!fill_all(found)) continue;
      const std::int64_t least = best ? best->price : INT64_MAX;
      if (found.price < least) best = std::move(found);
    }
  }

  // All loose pods are to be dealt out. The smallest fit everywhere, so that they are kept for
  // where they are needed: `spares_small` makes them worth less.
  void deal_anew(const FillValue& value, bool spares_small) {
    classes_.clear();
    left_.assign(sum_.size(), 0);
    std::map<Row, std::size_t, std::greater<>> by_request;
    dive_.restart();
    for (const Share& share : sector_.loose)
      by_request.try_emplace(prepared_.rows[share.group].request, 0);
    for (auto& [request, at] : by_request) {
      at = classes_.size();
      classes_.push_back({request, value.of(request), 0, {}});
    }
    for (const Share& share : sector_.loose) {
      SizeClass& own = classes_[by_request.at(prepared_.rows[share.group].request)];
      own.pods += share.count;
      own.rows.push_back(share);
      add_times(left_, own.request, share.count);
    }
    for (SizeClass& own : classes_) {
      if (spares_small && own.request[0] == classes_.back().request[0]) own.value -= own.value / 4;
      // Who minds the others first: later there is less choice.
      std::stable_sort(own.rows.begin(), own.rows.end(), [&](const Share& a, const Share& b) {
        return ties_[b.group].at_most.size() < ties_[a.group].at_most.size();
      });
    }
  }

  // All loose pods, by size: by CPU, by memory, by worth.
  std::vector<std::vector<SizeClass>> orders(const FillValue& value) {
    deal_anew(value, false);
    std::vector<std::vector<SizeClass>> orders(3, classes_);
    const auto sort = [](std::vector<SizeClass>& order, const auto& size) {
      std::stable_sort(order.begin(), order.end(),
                       [&](const auto& a, const auto& b) { return size(a) > size(b); });
    };
    sort(orders[0], [](const SizeClass& one) { return one.request[0]; });
    sort(orders[1], [](const SizeClass& one) { return one.request[1]; });
    sort(orders[2], [](const SizeClass& one) { return one.value; });
    return orders;
  }

  // Pods of one size, nobody stays: the cheapest machines there are for them.
  void try_equal(const FillValue& value, std::optional<Refilled>& best) {
    if (!sector_.staying.empty() || looks_ <= 0) return;
    deal_anew(value, false);
    if (classes_.size() != 1) return;
    const Row& request = classes_.front().request;
    std::vector<Seats> seats;
    std::vector<Rung> rungs;
    for (const Rung& step : ladder_.steps()) {
      const Machine& machine = step.machine();
      const std::int64_t pods = fit_count(machine.room, request, classes_.front().pods);
      Row content(sum_.size(), 0);
      add_times(content, request, pods);
      if (pods == 0 || (!seats.empty() && pods <= seats.back().pods) ||
          !has_alternatives(step, content))
        continue;
      seats.push_back({pods, machine.price});
      rungs.push_back(step);
    }
    looks_ -=
        std::min(classes_.front().pods, kEqualPodsMax) * static_cast<std::int64_t>(seats.size());
    Refilled found;
    for (const std::size_t one : cheapest_for(classes_.front().pods, seats))
      if (!fill_with(rungs[one], found)) return;
    if (pods_left() > 0 || !settle(found, ladder_.steps()) || !have_alternatives(found)) return;
    if (found.price < (best ? best->price : INT64_MAX)) best = std::move(found);
  }

  // Small sectors without anybody who stays, all on machines of one size: first-fit, the largest
  // first, each claim then as small as it may be.
  void try_even(const FillValue& value, std::optional<Refilled>& best) {
    if (!sector_.staying.empty() || sum_[kPodsColumn] > kEvenPodsMax) return;
    std::vector<std::pair<Wide, Rung>> sizes;  // those that promise most first
    for (const Rung& step : ladder_.steps()) sizes.emplace_back(price_of_all(sum_, step), step);
    std::stable_sort(sizes.begin(), sizes.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    if (sizes.size() > kEvenMachinesMax) sizes.resize(kEvenMachinesMax);
    const std::vector<std::vector<SizeClass>> all = orders(value);
    for (const auto& [price, step] : sizes)
      for (const std::vector<SizeClass>& order : all) {
        if (looks_ <= 0) return;
        classes_ = order;
        left_ = sum_;
        Refilled found;
        while (pods_left() > 0)
          if (looks_ <= 0 || !fill_with(step, found)) break;
        if (pods_left() > 0 || !settle(found, ladder_.steps())) continue;
        if (found.price < (best ? best->price : INT64_MAX) && have_alternatives(found))
          best = std::move(found);
      }
  }

  // One claim of that size with as many as fit; false: nobody does.
  bool fill_with(const Rung& rung, Refilled& found) {
    Refilled::Filled claim{kNone, rung, Row(sum_.size(), 0), {}};
    look_at(nullptr, claim);
    room_beside(claim.content, rung);
    for (std::size_t at = 0; at < classes_.size(); ++at) deal_up_to(classes_[at].pods, at, claim);
    if (claim.shares.empty()) return false;
    found.claims.push_back(std::move(claim));
    return true;
  }

  // Each claim has alternatives enough, as it is filled.
  bool have_alternatives(const Refilled& found) const {
    return std::all_of(found.claims.begin(), found.claims.end(), [&](const auto& claim) {
      return has_alternatives(claim.rung, claim.content);
    });
  }
  bool has_alternatives(const Rung& rung, const Row& content) const {
    const auto face = std::find_if(sector_.faces.begin(), sector_.faces.end(),
                                   [&](const Face& one) { return one.view == rung.view; });
    return alternatives_.are_enough_for(*face, content);
  }

  // Each claim on the cheapest of the machines that has room for it; false: there is none. Claims
  // with pods that stay are the first, in their order.
  bool settle(Refilled& found, const std::vector<Rung>& rungs) const {
    found.price = 0;
    for (std::size_t i = 0; i < found.claims.size(); ++i) {
      Refilled::Filled& claim = found.claims[i];
      const auto& own = claim.claim == kNone ? rungs : ladder_.whole(staying(i).view);
      claim.rung = cheapest(claim.content, own);
      if (claim.rung.view == nullptr) return false;
      found.price += claim.rung.machine().price;
    }
    return true;
  }

  bool fill_all(Refilled& found) {
    for (const std::size_t at : order_)
      if (looks_ <= 0 || !fill_claim(at, found)) return false;
    for (std::size_t i = 0; i < order_.size() && pods_left() > 0; ++i)
      top_up(order_[i], found.claims[i]);
    while (pods_left() > 0)
      if (looks_ <= 0 || !fill_new(found)) return false;
    return settle(found, ladder_.whole());
  }

  std::int64_t pods_left() const { return left_[kPodsColumn]; }
  const Sector::Staying& staying(std::size_t place) const { return sector_.staying[order_[place]]; }

  // `rungs`: by price.
  static Rung cheapest(const Row& content, const std::vector<Rung>& rungs) {
    for (const Rung& rung : rungs)
      if (fits(content, rung.machine().room)) return rung;
    return {};
  }

  // Who is on the host: those that stay and those that were dealt to it.
  void look_at(const Sector::Staying* staying, const Refilled::Filled& claim) {
    state_.clear();
    if (staying != nullptr)
      for (const Share& share : staying->shares) state_.add(ties_[share.group], share.count);
    for (const Share& share : claim.shares) state_.add(ties_[share.group], share.count);
  }

  const Row& room_beside(const Row& content, const Rung& rung) {
    const Amounts room = rung.machine().room;
    for (std::size_t i = 0; i < room.size(); ++i) room_[i] = room[i] - content[i];
    return room_;
  }

  bool fill_claim(std::size_t at, Refilled& found) {
    const Sector::Staying& staying = sector_.staying[at];
    Refilled::Filled claim{staying.claim, {}, staying.content, {}};
    std::vector<std::size_t> items;
    std::int64_t least = INT64_MAX;
    blocked_.assign(classes_.size(), 0);
    int tried = 0;
    std::int64_t last_price = 0;
    for (const Rung& rung : ladder_.whole(staying.view)) {
      if (tried == kFillMachinesMax + larger_max_) break;
      const std::int64_t price = rung.machine().price;
      if (tried >= kFillMachinesMax && price - last_price < last_price / 2) continue;
      if (!fits(staying.content, rung.machine().room)) continue;
      ++tried;
      last_price = price;
      const std::int64_t worth = dive_.search(room_beside(staying.content, rung), blocked_, looks_);
      const std::int64_t unused = rung.machine().price - worth;
      if (unused >= least) continue;
      least = unused;
      claim.rung = rung;
      items = dive_.best();
    }
    if (claim.rung.view == nullptr) return false;
    look_at(&staying, claim);
    bool is_refused = false;
    for (const std::size_t item : items)
      if (!deal(item, claim)) {
        blocked_[item] = 1;
        is_refused = true;
      }
    if (is_refused) {
      dive_.search(room_beside(claim.content, claim.rung), blocked_, looks_);
      for (const std::size_t item : dive_.best()) deal(item, claim);
    }
    found.claims.push_back(std::move(claim));
    return true;
  }

  // What fits without a larger machine.
  void top_up(std::size_t at, Refilled::Filled& claim) {
    if (looks_ <= 0) return;
    blocked_.assign(classes_.size(), 0);
    if (dive_.search(room_beside(claim.content, claim.rung), blocked_, looks_) <= 0) return;
    look_at(&sector_.staying[at], claim);
    for (const std::size_t item : dive_.best()) deal(item, claim);
  }

  // One pod of the class; false: none of it may be there.
  bool deal(std::size_t at, Refilled::Filled& claim) {
    SizeClass& own = classes_[at];
    for (std::size_t i = 0; i < own.rows.size(); ++i) {
      const std::size_t row = own.rows[i].group;
      if (!state_.takes(ties_[row])) continue;
      state_.add(ties_[row], 1);
      add_times(claim.content, own.request, 1);
      add_times(left_, own.request, -1);
      if (!claim.shares.empty() && claim.shares.back().group == row)
        ++claim.shares.back().count;
      else
        claim.shares.push_back({row, 1});
      --own.pods;
      if (--own.rows[i].count == 0)
        own.rows.erase(own.rows.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    }
    return false;
  }

  // As many pods of the class as fit, at most so many. room_ is what is left on the claim's
  // machine, before and after.
  void deal_up_to(std::int64_t most, std::size_t at, Refilled::Filled& claim) {
    std::int64_t count = most == 0 ? 0 : fit_count(room_, classes_[at].request, most);
    looks_ -= count + 1;
    if (count == 0) return;
    while (count > 0 && deal(at, claim)) --count;
    room_beside(claim.content, claim.rung);
  }

  // A new claim for what is left: of the machines with which all of it would be cheapest; first a
  // like part of every class, so that no resource is left over without the other, then what fits.
  bool fill_new(Refilled& found) {
    const Row left = left_;
    const Rung rung = rung_for(left);
    if (rung.view == nullptr) return false;
    looks_ -= static_cast<std::int64_t>(ladder_.whole().size() + classes_.size());
    const Amounts room = rung.machine().room;
    std::size_t scarce = 0;  // the column that is short first
    for (std::size_t i = 1; i < left.size(); ++i)
      if (static_cast<Wide>(left[i]) * std::max<std::int64_t>(room[scarce], 1) >
          static_cast<Wide>(left[scarce]) * std::max<std::int64_t>(room[i], 1))
        scarce = i;
    Refilled::Filled claim{kNone, rung, Row(sum_.size(), 0), {}};
    look_at(nullptr, claim);
    room_beside(claim.content, rung);
    for (const bool all : {false, true})
      for (std::size_t at = 0; at < classes_.size(); ++at) {
        std::int64_t count = classes_[at].pods;
        if (!all && left[scarce] > room[scarce]) count = part_of(count, room[scarce], left[scarce]);
        deal_up_to(count, at, claim);
      }
    if (claim.shares.empty()) return false;
    found.claims.push_back(std::move(claim));
    return true;
  }

  Rung rung_for(const Row& left) const {
    Rung best;
    Wide least = 0;
    // The smallest first; the smallest of all are soon dealt out.
    const auto smallest = std::find_if(classes_.rbegin(), classes_.rend(),
                                       [](const SizeClass& one) { return one.pods > 0; });
    for (const Rung& rung : ladder_.whole()) {
      if (std::none_of(smallest, classes_.rend(), [&](const SizeClass& one) {
            return one.pods > 0 && fits(one.request, rung.machine().room);
          }))
        continue;
      const Wide price = price_of_all(left, rung);
      if (best.view != nullptr && price > least) continue;
      best = rung;
      least = price;
    }
    return best;
  }

  const Prepared& prepared_;
  const std::vector<HostTies>& ties_;
  const Sector& sector_;
  const Alternatives& alternatives_;
  const Ladder ladder_;
  std::int64_t& looks_;
  int larger_max_ = 0;              // of kFillLargerMax, while it fills
  std::vector<std::size_t> order_;  // of the staying, the largest first
  Row sum_;                         // of everything
  std::vector<SizeClass> classes_;  // the largest first; what is still to be dealt out
  Row left_;                        // what they ask for together
  Dive dive_;
  HostState state_;
  std::vector<char> blocked_;
  Row room_;
};

}  // namespace

std::optional<Refilled> refill(const Prepared& prepared, const std::vector<HostTies>& ties,
                               const Sector& sector, Alternatives& alternatives,
                               std::int64_t& looks) {
  return Refill(prepared, ties, sector, alternatives, looks).best();
}

}  // namespace karst::scheduling
