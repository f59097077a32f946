#include "scheduling/refill.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/check.h"
#include "scheduling/fill_value.h"

namespace karst::scheduling {
namespace {

// Pods that ask for the same.
struct SizeClass {
  Row request;
  std::int64_t value = 0;
  std::int64_t pods = 0;
  std::vector<Share> rows;
};

// The best of a counted number of ways to fill one room: whatever is worth most.
class Dive {
 public:
  explicit Dive(const std::vector<SizeClass>& classes) : classes_(classes) {}

  // `room`: what is left on the machine; `blocked`: classes that may not be used. Returns the worth
  // of best().
  std::int64_t search(const Row& room, const std::vector<char>& blocked, std::int64_t& looks) {
    room_ = room;
    taken_.assign(classes_.size(), 0);
    blocked_ = &blocked;
    looks_ = &looks;
    visits_ = kFillVisitsMax;
    least_.resize((classes_.size() + 1) * room.size());
    if (is_new_) note_least();
    best_value_ = -1;
    items_.clear();
    visit(0, 0);
    return best_value_;
  }
  const std::vector<std::size_t>& best() const { return best_; }  // classes, one for each pod
  // The classes are others now.
  void restart() { is_new_ = true; }

 private:
  // By class and column the least that it or any smaller class asks for.
  void note_least() {
    const std::size_t columns = room_.size();
    is_new_ = false;
    for (std::size_t at = classes_.size(); at-- > 0;)
      for (std::size_t i = 0; i < columns; ++i)
        least_[at * columns + i] =
            at + 1 == classes_.size()
                ? classes_[at].request[i]
                : std::min(classes_[at].request[i], least_[(at + 1) * columns + i]);
  }
  bool has_room_for_any(std::size_t from) const {
    for (std::size_t i = 0; i < room_.size(); ++i)
      if (const std::int64_t least = least_[from * room_.size() + i]; least > 0 && least > room_[i])
        return false;
    return true;
  }

  bool has_room_for(const SizeClass& one) const {
    for (std::size_t i = 0; i < room_.size(); ++i)
      if (one.request[i] > 0 && one.request[i] > room_[i]) return false;
    return true;
  }

  void visit(std::size_t from, std::int64_t value) {
    if (value > best_value_) {
      best_value_ = value;
      best_ = items_;
    }
    if (--visits_ <= 0 || from == classes_.size()) return;
    --*looks_;
    if (!has_room_for_any(from)) return;
    // The largest first: those that ask for more CPU than there is are passed over at once.
    from = static_cast<std::size_t>(
        std::partition_point(classes_.begin() + static_cast<std::ptrdiff_t>(from), classes_.end(),
                             [&](const SizeClass& one) { return one.request[0] > room_[0]; }) -
        classes_.begin());
    for (std::size_t at = from; at < classes_.size() && visits_ > 0; ++at) {
      const SizeClass& one = classes_[at];
      --*looks_;
      if (one.pods <= taken_[at] || (*blocked_)[at] != 0 || !has_room_for(one)) continue;
      ++taken_[at];
      for (std::size_t i = 0; i < room_.size(); ++i) room_[i] -= one.request[i];
      items_.push_back(at);
      visit(at, value + one.value);
      items_.pop_back();
      for (std::size_t i = 0; i < room_.size(); ++i) room_[i] += one.request[i];
      --taken_[at];
    }
  }

  const std::vector<SizeClass>& classes_;
  std::vector<std::int64_t> taken_;
  Row room_;
  const std::vector<char>* blocked_ = nullptr;
  std::int64_t* looks_ = nullptr;
  int visits_ = 0;
  std::int64_t best_value_ = 0;
  std::vector<std::size_t> items_, best_;
  std::vector<std::int64_t> least_;
  bool is_new_ = true;
};

class Refill {
 public:
  Refill(const Prepared& prepared, const std::vector<HostTies>& ties, const Sector& sector,
         Alternatives& alternatives, std::int64_t& looks)
      : prepared_(prepared),
        ties_(ties),
        sector_(sector),
        view_(*sector.view),
        looks_(looks),
        dive_(classes_),
        state_(prepared.topology.groups().size()) {
    for (const std::size_t step : view_.steps)
      if (alternatives.of(view_, step) >= sector.fewest_types) ladder_.push_back(step);
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
    if (ladder_.empty()) return std::nullopt;
    const FillValue value(view_, ladder_, sum_);
    std::optional<Refilled> best;
    for (const bool spares_small : {true, false}) {
      if (looks_ <= 0) break;
      deal_anew(value, spares_small);
      Refilled found;
      if (!fill_all(found)) continue;
      const std::int64_t least = best ? best->price : sector_.price;
      if (found.price < least) best = std::move(found);
    }
    return best;
  }

 private:
  // All loose pods are to be dealt out. The smallest fit everywhere, so that they are kept for
  // where they are needed: `spares_small` makes them worth less.
  void deal_anew(const FillValue& value, bool spares_small) {
    classes_.clear();
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
    }
    for (SizeClass& own : classes_) {
      if (spares_small && own.request[0] == classes_.back().request[0]) own.value -= own.value / 4;
      // Who minds the others first: later there is less choice.
      std::stable_sort(own.rows.begin(), own.rows.end(), [&](const Share& a, const Share& b) {
        return ties_[b.group].at_most.size() < ties_[a.group].at_most.size();
      });
    }
  }

  bool fill_all(Refilled& found) {
    for (const std::size_t at : order_)
      if (looks_ <= 0 || !fill_claim(at, found)) return false;
    for (std::size_t i = 0; i < order_.size() && pods_left() > 0; ++i)
      top_up(order_[i], found.claims[i]);
    while (pods_left() > 0)
      if (looks_ <= 0 || !fill_new(found)) return false;
    found.price = 0;
    for (Refilled::Filled& claim : found.claims) {
      claim.machine = cheapest(claim.content);
      if (claim.machine == kNone) return false;
      found.price += view_.machines[claim.machine].price;
    }
    return true;
  }

  std::int64_t pods_left() const {
    std::int64_t sum = 0;
    for (const SizeClass& one : classes_) sum += one.pods;
    return sum;
  }

  std::size_t cheapest(const Row& content) const {
    for (const std::size_t step : ladder_)
      if (fits(content, view_.machines[step].room)) return step;
    return kNone;
  }

  // Who is on the host: those that stay and those that were dealt to it.
  void look_at(const Sector::Staying* staying, const Refilled::Filled& claim) {
    state_.clear();
    if (staying != nullptr)
      for (const Share& share : staying->shares) state_.add(ties_[share.group], share.count);
    for (const Share& share : claim.shares) state_.add(ties_[share.group], share.count);
  }

  const Row& room_beside(const Row& content, std::size_t machine) {
    const Row& room = view_.machines[machine].room;
    for (std::size_t i = 0; i < room.size(); ++i) room_[i] = room[i] - content[i];
    return room_;
  }

  bool fill_claim(std::size_t at, Refilled& found) {
    const Sector::Staying& staying = sector_.staying[at];
    Refilled::Filled claim{staying.claim, kNone, staying.content, {}};
    std::vector<std::size_t> items;
    std::int64_t least = INT64_MAX;
    blocked_.assign(classes_.size(), 0);
    int tried = 0;
    for (const std::size_t step : ladder_) {
      if (tried == kFillMachinesMax) break;
      if (!fits(staying.content, view_.machines[step].room)) continue;
      ++tried;
      const std::int64_t worth = dive_.search(room_beside(staying.content, step), blocked_, looks_);
      const std::int64_t unused = view_.machines[step].price - worth;
      if (unused >= least) continue;
      least = unused;
      claim.machine = step;
      items = dive_.best();
    }
    if (claim.machine == kNone) return false;
    look_at(&staying, claim);
    bool is_refused = false;
    for (const std::size_t item : items)
      if (!deal(item, claim)) {
        blocked_[item] = 1;
        is_refused = true;
      }
    if (is_refused) {
      dive_.search(room_beside(claim.content, claim.machine), blocked_, looks_);
      for (const std::size_t item : dive_.best()) deal(item, claim);
    }
    found.claims.push_back(std::move(claim));
    return true;
  }

  // What fits without a larger machine.
  void top_up(std::size_t at, Refilled::Filled& claim) {
    if (looks_ <= 0) return;
    blocked_.assign(classes_.size(), 0);
    if (dive_.search(room_beside(claim.content, claim.machine), blocked_, looks_) <= 0) return;
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

  // A new claim for what is left: of the machines with which all of it would be cheapest; first a
  // like part of every class, so that no resource is left over without the other, then what fits.
  bool fill_new(Refilled& found) {
    Row left(sum_.size(), 0);
    for (const SizeClass& one : classes_) add_times(left, one.request, one.pods);
    const std::size_t machine = machine_for(left);
    if (machine == kNone) return false;
    looks_ -= static_cast<std::int64_t>(ladder_.size() + classes_.size());
    const Row& room = view_.machines[machine].room;
    std::size_t scarce = 0;  // the column that is short first
    for (std::size_t i = 1; i < left.size(); ++i)
      if (static_cast<Wide>(left[i]) * std::max<std::int64_t>(room[scarce], 1) >
          static_cast<Wide>(left[scarce]) * std::max<std::int64_t>(room[i], 1))
        scarce = i;
    Refilled::Filled claim{kNone, machine, Row(sum_.size(), 0), {}};
    look_at(nullptr, claim);
    for (const bool all : {false, true})
      for (std::size_t at = 0; at < classes_.size(); ++at) {
        std::int64_t count = classes_[at].pods;
        if (!all && left[scarce] > room[scarce])
          count = static_cast<std::int64_t>(static_cast<Wide>(count) * room[scarce] / left[scarce]);
        count = fit_count(room_beside(claim.content, machine), classes_[at].request, count);
        looks_ -= count + 1;
        while (count > 0 && deal(at, claim)) --count;
      }
    if (claim.shares.empty()) return false;
    found.claims.push_back(std::move(claim));
    return true;
  }

  std::size_t machine_for(const Row& left) const {
    std::size_t best = kNone;
    Wide least = 0;
    for (const std::size_t step : ladder_) {
      const Machine& machine = view_.machines[step];
      Wide times = 1;
      for (std::size_t i = 0; i < left.size(); ++i)
        if (left[i] > 0)
          times = machine.room[i] <= 0
                      ? kUnlimited
                      : std::max<Wide>(times, (static_cast<Wide>(left[i]) + machine.room[i] - 1) /
                                                  machine.room[i]);
      if (std::none_of(classes_.rbegin(), classes_.rend(), [&](const SizeClass& one) {
            return one.pods > 0 && fits(one.request, machine.room);
          }))
        continue;
      const Wide price = times * machine.price;
      if (best != kNone && price > least) continue;
      best = step;
      least = price;
    }
    return best;
  }

  const Prepared& prepared_;
  const std::vector<HostTies>& ties_;
  const Sector& sector_;
  const View& view_;
  std::int64_t& looks_;
  std::vector<std::size_t> ladder_;  // machines to choose from, by price
  std::vector<std::size_t> order_;   // of the staying, the largest first
  Row sum_;                          // of everything
  std::vector<SizeClass> classes_;   // the largest first; what is still to be dealt out
  Dive dive_;
  HostState state_;
  std::vector<char> blocked_;
  Row room_;
};

}  // namespace

std::size_t Alternatives::of(const View& view, std::size_t machine) {
  if (view.index >= known_.size()) known_.resize(view.index + 1);
  known_[view.index].resize(view.machines.size(), 0);
  std::size_t& known = known_[view.index][machine];
  if (known > 0) return known - 1;
  std::vector<std::size_t> types;
  for (std::size_t i = 0; i < view.machines.size() && types.size() < kAlternativesMin; ++i) {
    const Machine& other = view.machines[i];
    if (other.reservation != kNotReserved ||
        std::find(types.begin(), types.end(), other.type) != types.end())
      continue;
    bool covers = true;
    for (std::size_t k = 0; k < other.room.size() && covers; ++k)
      covers = other.room[k] >= view.machines[machine].room[k];
    if (covers) types.push_back(other.type);
  }
  known = types.size() + 1;
  return known - 1;
}

std::optional<Refilled> refill(const Prepared& prepared, const std::vector<HostTies>& ties,
                               const Sector& sector, Alternatives& alternatives,
                               std::int64_t& looks) {
  return Refill(prepared, ties, sector, alternatives, looks).best();
}

}  // namespace karst::scheduling
