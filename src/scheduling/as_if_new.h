// Nodes that there are, filled as new ones would be. Who solves an answer that has been carried out
// (its claims are nodes now, and its pods are to be placed again) would else fill these nodes in
// another order than they were made in, and might need one more. Internal to the search.
#pragma once

#include <cstddef>
#include <memory>

#include "scheduling/packer.h"
#include "scheduling/prepared.h"

namespace karst::scheduling {

inline constexpr std::int64_t kAsIfNewPodsMax = 1'000;  // of the problem
inline constexpr std::size_t kAsIfNewNodesMax = 200;    // of the problem

// Whether it may help: a small problem, and all pods together fit into all nodes together.
bool may_fill_as_if_new(const Prepared& prepared);

// The problem as if none of its nodes took pods, nor had used up anything of the limits.
Problem without_nodes(const Problem& problem);

// What `as_new`, a packing of that, puts on each claim goes to the first node that holds it; the
// rest wherever it can.
std::unique_ptr<Packer> fill_as_if_new(Prepared& prepared, const Packer& as_new,
                                       const Strategy& strategy);

}  // namespace karst::scheduling
