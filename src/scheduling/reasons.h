// Why pods were left over: per pool, in Karpenter's grammar, with what each constraint removes.
// The grammar is that of the FailedScheduling event of Karpenter 1.14; the pool's name is karst's
// addition (docs/solve.md shows the texts).
#pragma once

#include <string>
#include <vector>

#include "scheduling/packer.h"
#include "scheduling/prepared.h"
#include "scheduling/problem.h"

namespace karst::scheduling {

// "dedicated=gpu:NoSchedule".
std::string describe(const model::Taint& taint);

// One entry per row with pods left, in the problem's order; without relaxations.
std::vector<Unplaced> explain(Prepared& prepared, Packer& packer);

}  // namespace karst::scheduling
