#include "scheduling/room_bits.h"

#include <algorithm>
#include <numeric>

namespace karst::scheduling {

RoomBits::RoomBits(const std::vector<Amounts>& rooms)
    : words_(words_for(rooms.size())), machines_(rooms.size()) {
  columns_.resize(rooms.empty() ? 0 : rooms.front().size());
  std::vector<std::size_t> order(rooms.size());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const auto amount_of = [&](std::size_t machine) { return rooms[machine][i]; };
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return amount_of(a) < amount_of(b); });
    Column& column = columns_[i];
    for (const std::size_t machine : order)
      if (column.amounts.empty() || column.amounts.back() != amount_of(machine))
        column.amounts.push_back(amount_of(machine));
    column.machines.assign(column.amounts.size() * words_, 0);
    Bits bits(words_, 0);  // of the machines so far, the largest first
    auto machine = order.rbegin();
    for (std::size_t at = column.amounts.size(); at-- > 0;) {
      for (; machine != order.rend() && amount_of(*machine) == column.amounts[at]; ++machine)
        set_bit(bits, *machine);
      std::copy(bits.begin(), bits.end(),
                column.machines.begin() + static_cast<std::ptrdiff_t>(at * words_));
    }
  }
}

Bits RoomBits::holding(const Row& sum) const {
  Bits bits(words_, ~std::uint64_t{0});
  if (machines_ % 64 != 0) bits.back() = (std::uint64_t{1} << machines_ % 64) - 1;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (sum[i] <= 0) continue;
    const Column& column = columns_[i];
    const auto least = std::lower_bound(column.amounts.begin(), column.amounts.end(), sum[i]);
    if (least == column.amounts.end()) return Bits(words_, 0);
    const auto at = static_cast<std::size_t>(least - column.amounts.begin()) * words_;
    for (std::size_t word = 0; word < words_; ++word) bits[word] &= column.machines[at + word];
  }
  return bits;
}

}  // namespace karst::scheduling
