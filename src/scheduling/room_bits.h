// Which of a view's machines have room for something, all at once: by column and amount a bit set
// of the machines that have at least so much.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scheduling/bits.h"
#include "scheduling/columns.h"

namespace karst::scheduling {

class RoomBits {
 public:
  // Takes as many bits as there are machines for every amount that one of them has.
  explicit RoomBits(const std::vector<Amounts>& rooms);
  // The machines with room for so much; as fits() says, a column of 0 always fits.
  Bits holding(const Row& sum) const;

 private:
  struct Column {
    std::vector<std::int64_t> amounts;  // sorted, each once
    Bits machines;                      // by amount, words_ each
  };
  std::size_t words_ = 0;
  std::size_t machines_ = 0;
  std::vector<Column> columns_;
};

}  // namespace karst::scheduling
