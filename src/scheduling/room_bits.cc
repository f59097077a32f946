#include "scheduling/room_bits.h"

#include <algorithm>

namespace karst::scheduling {

RoomBits::RoomBits(const std::vector<const Row*>& rooms)
    : words_((rooms.size() + 63) / 64), machines_(rooms.size()) {
  columns_.resize(rooms.empty() ? 0 : rooms.front()->size());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    Column& column = columns_[i];
    for (const Row* room : rooms) column.amounts.push_back((*room)[i]);
    std::sort(column.amounts.begin(), column.amounts.end());
    column.amounts.erase(std::unique(column.amounts.begin(), column.amounts.end()),
                         column.amounts.end());
    column.machines.assign(column.amounts.size() * words_, 0);
    for (std::size_t amount = 0; amount < column.amounts.size(); ++amount)
      for (std::size_t machine = 0; machine < rooms.size(); ++machine)
        if ((*rooms[machine])[i] >= column.amounts[amount])
          column.machines[amount * words_ + machine / 64] |= std::uint64_t{1} << machine % 64;
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
