// Why a NodeClaim may not become the other types that its pool's cloud sells, and why a launch
// order names fewer than the claim may become. Claims and orders are stored with the types that are
// left; what ruled the others out follows from the same state
// (docs/decisions/0024-what-was-ruled-out.md), and is asked by whoever explains a decision.
#pragma once

#include <string>
#include <vector>

#include "reconcilers/queries.h"

namespace karst::reconcilers {

// Why, of a type the first that holds:
//   offering          it is not sold where, and as what, the claim may come up
//   requirement KEY   the claim's demand of that label leaves it no value
//   capacity          lately there was none of what is sold, or its reservations are used up
//   resource NAME     its machines have less of it than the claim requests
//   price             the claim lists as many types as it may, none dearer than this one
//   order             the order names as many types as it may, none dearer than this one
//   other             what its pods demand of the type's name, limits of the pool, what the daemons
//                     of such machines request or which ports, volumes, a reservation that the
//                     claim takes, or minValues that others meet
struct RuledOut {
  std::string why;
  std::vector<std::string> types;  // sorted, at least one
  friend bool operator==(const RuledOut&, const RuledOut&) = default;
};

// Sorted by why. `state`: as it was when the command was decided. Of CreateNodeClaim every type
// that is sold and that the claim does not list; of Launch every type that its first claim lists
// and the order does not. Nothing of any other command, and nothing where the claim lists no types,
// or its pool, or what that can buy, is not known there.
std::vector<RuledOut> ruled_out(const ClusterState& state, const Context& context,
                                const model::CommandSpec& command);

}  // namespace karst::reconcilers
