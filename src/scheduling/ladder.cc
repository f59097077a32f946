#include "scheduling/ladder.h"

#include <algorithm>
#include <utility>

namespace karst::scheduling {
namespace {

// Steps of several views: without those that a step before them has as much room as. What limits
// allow is not known here, so that steps of pools that have some stay.
std::vector<Rung> without_covered(const PoolTables& pools, std::vector<Rung> steps) {
  std::stable_sort(steps.begin(), steps.end(), [](const Rung& a, const Rung& b) {
    return a.machine().price < b.machine().price;
  });
  std::vector<Rung> kept;
  for (const Rung& step : steps) {
    const bool is_covered = !pools.pools()[step.view->pool].has_limits() &&
                            std::any_of(kept.begin(), kept.end(), [&](const Rung& other) {
                              return other.view != step.view &&
                                     !pools.pools()[other.view->pool].has_limits() &&
                                     covers(other.machine().room, step.machine().room);
                            });
    if (!is_covered) kept.push_back(step);
  }
  return kept;
}

}  // namespace

Ladder::Ladder(const PoolTables& pools, const std::vector<Face>& faces,
               Alternatives& alternatives) {
  for (const Face& face : faces) {
    std::vector<Rung>& own = whole_under_[face.view->index];
    for (const std::size_t step : face.view->steps) {
      steps_.push_back({face.view, step});
      if (alternatives.are_enough(face, step)) own.push_back(steps_.back());
    }
    whole_.insert(whole_.end(), own.begin(), own.end());
  }
  if (faces.size() == 1) return;
  steps_ = without_covered(pools, std::move(steps_));
  whole_ = without_covered(pools, std::move(whole_));
}

Wide price_of_all(const Row& asked, const Rung& rung) {
  const Machine& machine = rung.machine();
  std::int64_t times = 1;
  for (std::size_t i = 0; i < asked.size(); ++i)
    if (asked[i] > 0)
      times =
          machine.room[i] <= 0 ? kUnlimited : std::max(times, (asked[i] - 1) / machine.room[i] + 1);
  return static_cast<Wide>(times) * machine.price;
}

// One division instead of one a column.
bool costs_at_most(const Row& asked, const Rung& rung, Wide most) {
  const Machine& machine = rung.machine();
  if (most < machine.price) return false;  // one at least
  if (machine.price <= 0) return price_of_all(asked, rung) <= most;
  const std::int64_t times =
      most <= INT64_MAX
          ? static_cast<std::int64_t>(most) / machine.price
          : static_cast<std::int64_t>(std::min<Wide>(most / machine.price, kUnlimited));
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (asked[i] <= 0) continue;
    std::int64_t room = 0;
    const bool overflows = __builtin_mul_overflow(machine.room[i], times, &room);
    if (machine.room[i] <= 0 ? times < kUnlimited : !overflows && asked[i] > room) return false;
  }
  return true;
}

Wide price_of_share(const Row& asked, const Rung& rung) {
  const Machine& machine = rung.machine();
  Wide price = machine.price;
  for (std::size_t i = 0; i < asked.size(); ++i)
    if (asked[i] > 0)
      price = machine.room[i] <= 0
                  ? kUnlimited
                  : std::max(price, static_cast<Wide>(machine.price) * asked[i] / machine.room[i]);
  return price;
}

}  // namespace karst::scheduling
