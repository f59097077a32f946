// Nodes that there are, filled as new ones would be. Who solves an answer that has been carried out
// (its claims are nodes now, and its pods are to be placed again) would else fill these nodes in
// another order than they were made in, and might need one more. Internal to the search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "scheduling/packer.h"
#include "scheduling/prepared.h"

namespace karst::scheduling {

inline constexpr std::int64_t kAsIfNewPodsMax = 1'000;  // of the problem
inline constexpr std::size_t kAsIfNewNodesMax = 200;    // of the problem

// Whether it may help a packing that buys something or leaves somebody over: a small problem, and
// if all are placed, they fit together into all nodes together.
bool may_fill_as_if_new(const Prepared& prepared, bool all_placed);

// Which nodes are taken for new ones: all that take pods, or those of the pools' on which there is
// nobody yet. Beside the limits, or as if there were none, since they may have changed after the
// nodes were bought.
struct AsIfNew {
  bool only_empty = false;
  bool with_limits = false;
};

// The problem before these nodes were bought: they take no pods, and nothing of the limits is used
// up by them. Empty: no node is taken for a new one, or with `only_empty` none is left out.
struct Before {
  Problem problem;
  std::vector<std::size_t> nodes;  // by node of it, which one of the problem it is
};
std::optional<Before> before_nodes(const Problem& problem, AsIfNew which);

// What `as_new`, a packing of that, puts on each claim goes to the first such node that holds it;
// what it puts on other nodes goes there, and the rest wherever it can.
std::unique_ptr<Packer> fill_as_if_new(Prepared& prepared, const Before& before,
                                       const Packer& as_new, const Strategy& strategy);

}  // namespace karst::scheduling
