// What every simulation is made of, whether its problem is made for it or asked of one that is kept
// (simulation.h, simulator.h): who moves, who stays, what pools can supply, and the answer told.
#pragma once

#include <cstddef>
#include <vector>

#include "disruption/pods.h"
#include "disruption/simulation.h"
#include "disruption/world.h"

namespace karst::disruption {

// Whose a pod to be placed is.
enum class Origin { kPending, kCandidate, kLeaving };

// Pods that are placed as one group.
struct Moving {
  Origin origin = Origin::kPending;
  std::size_t first = 0;  // the first of them: index into World::pods
};

// Inside its pool's consolidateAfter: it is spared moves for the sake of packing.
bool in_window(const World& world, const Node& node);

// Pools that can supply a machine.
std::vector<const Pool*> suppliers(const World& world);
// As the scheduler takes it: what is used of its limits is used by nodes that are not away.
scheduling::Pool supplier(const World& world, const Pool& pool, const std::vector<bool>& away);

// One such pod to be placed, and one that stays where it is.
scheduling::PodGroup group_of(const World& world, const Pod& pod);
scheduling::BoundPods bound_pod(const World& world, const Pod& pod);

// `moving`: by group of the answer; `pools`: by index into its problem's.
Simulation simulation_of(const World& world, const scheduling::Answer& answer,
                         const std::vector<Moving>& moving, const std::vector<const Pool*>& pools);

}  // namespace karst::disruption
