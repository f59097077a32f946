// Bit sets of machines with room, beside asking one machine after the other.
#include "scheduling/room_bits.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "tests/scheduling/random.h"

namespace karst::scheduling::test {
namespace {

Row random_row(std::size_t columns, std::int64_t least) {
  Row row;
  for (std::size_t i = 0; i < columns; ++i) row.push_back(pick(least, 6));
  return row;
}

// Rooms may be negative, where the daemons need more than there is; requests may be 0, which always
// fits.
TEST(RoomBits, SayWhatOneLookAtEachMachineSays) {
  EXPECT_TRUE(rc::check("room bits", [] {
    const auto columns = static_cast<std::size_t>(pick(1, 6));
    std::vector<Row> rooms;
    for (std::int64_t i = pick(0, 200); i > 0; --i) rooms.push_back(random_row(columns, -1));
    const RoomBits bits(std::vector<Amounts>(rooms.begin(), rooms.end()));
    Rooms side_by_side;
    for (const Row& room : rooms) side_by_side.add(room);
    const Row sum = random_row(columns, 0);
    const Bits holding = rooms.empty() ? Bits() : bits.holding(sum);
    for (std::size_t i = 0; i < rooms.size(); ++i)
      RC_ASSERT((holding[i / 64] >> i % 64 & 1) == (fits(sum, rooms[i]) ? 1u : 0u));
    for (std::size_t i = rooms.size(); i < 64 * holding.size(); ++i)
      RC_ASSERT((holding[i / 64] >> i % 64 & 1) == 0u);
    const Row content = random_row(columns, 0);
    std::size_t first = 0;
    while (first < rooms.size() &&
           !fits_beside(content.data(), sum.data(), rooms[first].data(), columns))
      ++first;
    RC_ASSERT(side_by_side.first_for(content, sum, 0, rooms.size()) == first);
    const auto to = static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(rooms.size()) + 1));
    RC_ASSERT(side_by_side.first_for(content, sum, 0, to) == std::min(first, to));
  }));
}

// More columns than are worked out at once.
TEST(RoomBits, RoomsOfManyColumns) {
  Row content(40, 1);
  Row request(40, 1);
  Row large(40, 2);
  Rooms rooms;
  for (std::size_t column = 0; column < 40; ++column) {
    Row small = large;
    small[column] = 1;
    rooms.add(small);
  }
  rooms.add(large);
  EXPECT_EQ(rooms.first_for(content, request, 0, 41), 40u);
  EXPECT_EQ(rooms.first_for(content, request, 41, 41), 41u);
  request[7] = 0;
  EXPECT_EQ(rooms.first_for(content, request, 0, 41), 7u);
}

}  // namespace
}  // namespace karst::scheduling::test
