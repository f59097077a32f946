// What each constraint of a pod takes away of a pool's catalogue, counted one constraint at a time.
#pragma once

#include <cstddef>

#include "scheduling/packer.h"
#include "scheduling/prepared.h"
#include "scheduling/problem.h"

namespace karst::scheduling {

// Fills types, offerings and removals of `reason`. Constraints that take nothing away are left out.
void count_removals(Prepared& prepared, Packer& packer, std::size_t row, std::size_t pool,
                    const Packer::Probe& probe, PoolReason& reason);

}  // namespace karst::scheduling
