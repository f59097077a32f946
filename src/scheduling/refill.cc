#include "scheduling/refill.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "scheduling/equal_pods.h"
#include "scheduling/fill_value.h"
#include "scheduling/filling.h"

namespace karst::scheduling {
namespace {

class Refill {
 public:
  Refill(const Prepared& prepared, const std::vector<HostTies>& ties, const Sector& sector,
         Alternatives& alternatives, std::int64_t& looks)
      : sector_(sector),
        alternatives_(alternatives),
        ladder_(prepared.pools, sector.faces, alternatives),
        looks_(looks),
        filling_(prepared, ties, sector, ladder_, looks) {}

  std::optional<Refilled> best() {
    if (ladder_.whole().empty()) return std::nullopt;
    const FillValue value(ladder_.whole(), filling_.sum(), RoomCounted::kAll);
    std::optional<Refilled> best;
    try_filling(value, 0, best);
    if (may_waste(best))
      try_filling(FillValue(ladder_.whole(), filling_.sum(), RoomCounted::kFilled), kFillLargerMax,
                  best);
    try_even(value, best);
    try_equal(best);
    return best;
  }

 private:
  std::int64_t pods() const { return filling_.sum()[kPodsColumn]; }

  // A small sector with pods that stay, and clearly dearer than machines of one size, all filled,
  // would be: each machine holds something back, which weighs less on a larger one.
  bool may_waste(const std::optional<Refilled>& best) const {
    if (!best || sector_.staying.empty() || pods() > kEvenPodsMax) return false;
    Wide least = best->price;
    for (const Rung& rung : ladder_.whole())
      least = std::min(least, price_of_share(filling_.sum(), rung));
    return least < best->price - best->price / 16;
  }

  void try_filling(const FillValue& value, int larger_max, std::optional<Refilled>& best) {
    for (const bool spares_small : {true, false}) {
      if (!filling_.may_look()) break;
      filling_.begin(with_worth(value, spares_small));
      if (fill_all(larger_max) && is_cheaper_than(best)) filling_.keep_in(best);
    }
  }

  bool is_cheaper_than(const std::optional<Refilled>& best) {
    return !best || filling_.found().price < best->price;
  }

  // The smallest fit everywhere, so that they are kept for where they are needed: `spares_small`
  // makes them worth less.
  SizeClasses with_worth(const FillValue& value, bool spares_small) const {
    SizeClasses classes = filling_.all();
    for (std::size_t at = 0; at < classes.size(); ++at) {
      const std::int64_t worth = value.of(classes.request(at));
      const bool is_small = classes.request(at)[0] == classes.request(classes.size() - 1)[0];
      classes.set_worth(at, spares_small && is_small ? worth - worth / 4 : worth);
    }
    return classes;
  }

  // All loose pods, by size: by CPU, by memory, by worth.
  std::vector<SizeClasses> orders(const FillValue& value) const {
    const SizeClasses classes = with_worth(value, false);
    std::vector<SizeClasses> orders;
    const auto add = [&](const auto& size) {
      std::vector<std::size_t> order(classes.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::stable_sort(order.begin(), order.end(),
                       [&](std::size_t a, std::size_t b) { return size(a) > size(b); });
      orders.push_back(classes.in_order(order));
    };
    add([&](std::size_t at) { return classes.request(at)[0]; });
    add([&](std::size_t at) { return classes.request(at)[1]; });
    add([&](std::size_t at) { return classes.worth(at); });
    return orders;
  }

  // Pods of one size, nobody stays: the cheapest machines there are for them.
  void try_equal(std::optional<Refilled>& best) {
    if (!sector_.staying.empty() || !filling_.may_look()) return;
    const SizeClasses& classes = filling_.all();
    if (classes.size() != 1) return;
    const std::int64_t count = classes.pods(0);
    std::vector<Seats> seats;
    std::vector<Rung> rungs;
    for (const Rung& step : ladder_.steps()) {
      const Machine& machine = step.machine();
      const std::int64_t pods = fit_count(machine.room, classes.request(0), count);
      Row content(classes.columns(), 0);
      add_times(content, classes.request(0), pods);
      if (pods == 0 || (!seats.empty() && pods <= seats.back().pods) ||
          !has_alternatives(step, content))
        continue;
      seats.push_back({pods, machine.price});
      rungs.push_back(step);
    }
    looks_ -= std::min(count, kEqualPodsMax) * static_cast<std::int64_t>(seats.size());
    filling_.begin(classes);
    for (const std::size_t one : cheapest_for(count, seats))
      if (!filling_.fill_with(rungs[one])) return;
    if (filling_.pods_left() == 0 && settle(ladder_.steps()) && is_cheaper_than(best) &&
        have_alternatives())
      filling_.keep_in(best);
  }

  // Small sectors without anybody who stays, all on machines of one size: first-fit, the largest
  // first, each claim then as small as it may be.
  void try_even(const FillValue& value, std::optional<Refilled>& best) {
    if (!sector_.staying.empty() || pods() > kEvenPodsMax) return;
    std::vector<std::pair<Wide, Rung>> sizes;  // those that promise most first
    for (const Rung& step : ladder_.steps())
      sizes.emplace_back(price_of_all(filling_.sum(), step), step);
    std::stable_sort(sizes.begin(), sizes.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    if (sizes.size() > kEvenMachinesMax) sizes.resize(kEvenMachinesMax);
    const std::vector<SizeClasses> all = orders(value);
    for (const auto& [price, step] : sizes)
      for (const SizeClasses& order : all) {
        if (!filling_.may_look()) return;
        filling_.begin(order);
        while (filling_.pods_left() > 0)
          if (!filling_.may_look() || !filling_.fill_with(step)) break;
        if (filling_.pods_left() > 0 || !settle(ladder_.steps())) continue;
        if (is_cheaper_than(best) && have_alternatives()) filling_.keep_in(best);
      }
  }

  // Each claim has alternatives enough, as it is filled.
  bool have_alternatives() {
    const std::vector<Refilled::Filled>& claims = filling_.found().claims;
    return std::all_of(claims.begin(), claims.end(), [&](const auto& claim) {
      return has_alternatives(claim.rung, claim.content);
    });
  }
  bool has_alternatives(const Rung& rung, const Row& content) const {
    const auto face = std::find_if(sector_.faces.begin(), sector_.faces.end(),
                                   [&](const Face& one) { return one.view == rung.view; });
    return alternatives_.are_enough_for(*face, content);
  }

  // Each claim on the cheapest of the machines that has room for it; false: there is none.
  bool settle(const std::vector<Rung>& rungs) {
    Refilled& found = filling_.found();
    found.price = 0;
    for (std::size_t i = 0; i < found.claims.size(); ++i) {
      Refilled::Filled& claim = found.claims[i];
      const auto& own = claim.claim == kNone ? rungs : ladder_.whole(filling_.staying(i).view);
      claim.rung = cheapest(claim.content, own);
      if (claim.rung.view == nullptr) return false;
      found.price += claim.rung.machine().price;
    }
    return true;
  }

  bool fill_all(int larger_max) {
    if (!filling_.fill_staying(larger_max)) return false;
    while (filling_.pods_left() > 0)
      if (!filling_.may_look() || !filling_.fill_new()) return false;
    return settle(ladder_.whole());
  }

  // `rungs`: by price.
  static Rung cheapest(const Row& content, const std::vector<Rung>& rungs) {
    for (const Rung& rung : rungs)
      if (fits(content, rung.machine().room)) return rung;
    return {};
  }

  const Sector& sector_;
  const Alternatives& alternatives_;
  const Ladder ladder_;
  std::int64_t& looks_;
  Filling filling_;
};

}  // namespace

void keep_as_open_as(const Claim& claim, Alternatives& alternatives, Sector& sector) {
  const std::size_t types = alternatives.of(*claim.view, claim.machine);
  const bool is_among =
      std::any_of(sector.faces.begin(), sector.faces.end(),
                  [&](const Face& face) { return face.view->pool == claim.pool; });
  for (Face& face : sector.faces)
    if (!is_among || face.view->pool == claim.pool)
      face.fewest_types = std::min(face.fewest_types, types);
}

std::optional<Refilled> refill(const Prepared& prepared, const std::vector<HostTies>& ties,
                               const Sector& sector, Alternatives& alternatives,
                               std::int64_t& looks) {
  return Refill(prepared, ties, sector, alternatives, looks).best();
}

}  // namespace karst::scheduling
