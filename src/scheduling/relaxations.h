// What would help: the smallest changes of a pod, or of a pool's limits, with which a pod that was
// left over would be placed beside everything else. Each is tried before it is told.
#pragma once

#include "scheduling/packer.h"
#include "scheduling/prepared.h"
#include "scheduling/problem.h"

namespace karst::scheduling {

inline constexpr std::size_t kRelaxedRowsMax = 32;            // rows looked at; the others get none
inline constexpr std::size_t kRelaxationsMax = 3;             // told per row
inline constexpr std::size_t kSinglesMax = 24;                // changes tried per row
inline constexpr std::size_t kRelaxationWorkMax = 1'000'000;  // looks at nodes, per answer
inline constexpr std::size_t kPairedMax = 10;  // of those, in pairs when none alone will do

// The answer without relaxations; and place()'s.
Answer solve_once(Prepared& prepared);
Answer place_once(Prepared& prepared);
// Pods that the answer would leave over, by group: of two that place as many the cheaper one may
// leave over others.
std::vector<std::int64_t> left_over(Prepared& prepared);

// Fills `relaxations` of what is left over in `answer`.
void add_relaxations(Prepared& prepared, Answer& answer);

}  // namespace karst::scheduling
