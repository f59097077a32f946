// What a request is worth on a sector's machines: the prices of CPU and memory at which what a
// sector asks for costs most and no machine is sold below its price (the dual of the linear program
// over whole fleets, for shares of sixteenths). Other resources have no worth.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduling/columns.h"
#include "scheduling/ladder.h"

namespace karst::scheduling {

// What a machine counts for: all of its room, or what of it the sector could fill. The second is
// nearer the truth where the largest machines, which hold back least, are larger than the sector.
enum class RoomCounted { kAll, kFilled };

class FillValue {
 public:
  // `sum`: everything that the sector asks for; `rungs`: machines that it may have.
  FillValue(const std::vector<Rung>& rungs, const Row& sum, RoomCounted counted);
  // In nano-dollars per hour; at least 1, so that a pod that asks for neither finds a place, too.
  std::int64_t of(Amounts request) const;

 private:
  Wide per_whole_[2] = {0, 0};  // of the sector's CPU and of its memory, all together
  std::int64_t sum_[2] = {0, 0};
};

}  // namespace karst::scheduling
