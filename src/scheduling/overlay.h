// NodeOverlays: what users lay over a catalogue before it is put to the solver, prices of their own
// and resources that the cloud does not tell of. Karpenter's rules (v1.14). Pure.
#pragma once

#include <string>
#include <vector>

#include "model/cloud.h"
#include "model/cluster.h"
#include "model/named_object.h"

namespace karst::scheduling {

struct PoolTypes {
  const model::NodePool* pool = nullptr;
  std::vector<model::InstanceType> types;
};

// Changes prices, capacities and allocatables in place. The overlay of the highest weight counts,
// for prices in each offering, for capacity in each type and resource. Of two that have equal
// weights and set the same thing somewhere the second in the order of application (weight, then
// name, both falling) does nothing at all; returns the names of these.
std::vector<std::string> apply_overlays(std::vector<model::NodeOverlay> overlays,
                                        std::vector<PoolTypes>& pools);

}  // namespace karst::scheduling
