// Nodes that there are, filled as new ones would be. Who solves an answer that has been carried out
// (its claims are nodes now, and its pods are to be placed again) would else fill these nodes in
// another order than they were made in, and might need one more. Internal to the search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "scheduling/packer.h"
#include "scheduling/prepared.h"

namespace karst::scheduling {

inline constexpr std::int64_t kAsIfNewPodsMax = 1'000;  // of the problem
inline constexpr std::size_t kAsIfNewNodesMax = 200;    // of the problem

// Whether it may help: a small problem, and all pods but those `left` over, by row, fit together
// into all nodes together.
bool may_fill_as_if_new(const Prepared& prepared, const std::vector<std::int64_t>& left);

// The problem as if none of its nodes took pods, nor had used up anything of the limits; or as if
// there were no limits, since what nodes were bought within is not known.
Problem without_nodes(const Problem& problem, bool with_limits);

// What `as_new`, a packing of that, puts on each claim goes to the first node that holds it; the
// rest wherever it can.
std::unique_ptr<Packer> fill_as_if_new(Prepared& prepared, const Packer& as_new,
                                       const Strategy& strategy);

}  // namespace karst::scheduling
