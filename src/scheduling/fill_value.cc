#include "scheduling/fill_value.h"

#include <algorithm>

namespace karst::scheduling {
namespace {

constexpr std::int64_t kShares = 16;
constexpr std::int64_t kScale = std::int64_t{1} << 20;

// The sector's price at least, when `share` sixteenths of it are for CPU.
Wide price_at(const std::vector<Rung>& rungs, const std::int64_t* sum, RoomCounted counted,
              std::int64_t share) {
  Wide least = -1;
  for (const Rung& rung : rungs) {
    const Machine& machine = rung.machine();
    if (machine.price == 0) continue;  // or nothing would be worth anything on the others
    Wide part = 0;  // of the sector that the machine could hold, in 1 / (kScale * kShares)
    for (const std::size_t i : {0, 1})
      if (sum[i] > 0)
        part += static_cast<Wide>(std::clamp<std::int64_t>(
                    machine.room[i], 0, counted == RoomCounted::kAll ? kUnlimited : sum[i])) *
                kScale / sum[i] * (i == 0 ? share : kShares - share);
    if (part <= 0) continue;
    const Wide price = static_cast<Wide>(machine.price) * kScale * kShares / part;
    if (least < 0 || price < least) least = price;
  }
  return std::max<Wide>(least, 0);
}

}  // namespace

FillValue::FillValue(const std::vector<Rung>& rungs, const Row& sum, RoomCounted counted) {
  std::copy_n(sum.begin(), 2, sum_);
  std::int64_t best = kShares / 2;
  Wide most = -1;
  for (std::int64_t share = 0; share <= kShares; ++share)
    if (const Wide price = price_at(rungs, sum_, counted, share); price > most) {
      most = price;
      best = share;
    }
  // What there is enough of is not worth nothing: it is wasted last.
  if (counted == RoomCounted::kAll) best = std::clamp<std::int64_t>(best, 1, kShares - 1);
  per_whole_[0] = most * best / kShares;
  per_whole_[1] = most * (kShares - best) / kShares;
}

std::int64_t FillValue::of(Amounts request) const {
  Wide value = 0;
  for (const std::size_t i : {0, 1})
    if (sum_[i] > 0) value += per_whole_[i] * request[i] / sum_[i];
  return static_cast<std::int64_t>(std::clamp<Wide>(value, 1, kUnlimited));
}

}  // namespace karst::scheduling
