// What a machine has, and what of it pods may use: Karpenter's estimate (v1.14) of what kubelet
// will report, from the type's facts and the node class. Requests round up and capacity rounds
// down. Pure.
#pragma once

#include "model/resources.h"
#include "providers/aws/node_class.h"
#include "providers/aws/table.h"

namespace karst::providers::aws {

model::Resources capacity_of(const TypeFacts& facts, const NodeClassSettings& settings);
model::Resources allocatable_of(const TypeFacts& facts, const NodeClassSettings& settings);

}  // namespace karst::providers::aws
