// What a request is worth on a view's machines: the prices of CPU and memory at which what a sector
// asks for costs most and no machine is sold below its price (the dual of the linear program over
// whole fleets, for shares of sixteenths). Other resources have no worth.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduling/columns.h"
#include "scheduling/pool_table.h"

namespace karst::scheduling {

class FillValue {
 public:
  // `sum`: everything that the sector asks for; `ladder`: machines of the view.
  FillValue(const View& view, const std::vector<std::size_t>& ladder, const Row& sum);
  // In nano-dollars per hour; at least 1, so that a pod that asks for neither finds a place, too.
  std::int64_t of(const Row& request) const;

 private:
  Wide per_whole_[2] = {0, 0};  // of the sector's CPU and of its memory, all together
  std::int64_t sum_[2] = {0, 0};
};

}  // namespace karst::scheduling
