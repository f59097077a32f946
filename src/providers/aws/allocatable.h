// What a machine has, and what of it pods may use: Karpenter's estimate (v1.14) of what kubelet
// will report, from the type's facts and the node class. Requests round up and capacity rounds
// down. Pure.
#pragma once

#include "model/resources.h"
#include "providers/aws/node_class.h"
#include "providers/aws/table.h"

namespace karst::providers::aws {

inline constexpr std::string_view kEfaResource = "vpc.amazonaws.com/efa";

// `seen_memory_bytes`: what such machines have reported, instead of the estimate; 0: none has.
model::Resources capacity_of(const TypeFacts& facts, const NodeClassSettings& settings,
                             std::int64_t seen_memory_bytes = 0);
model::Resources allocatable_of(const TypeFacts& facts, const NodeClassSettings& settings,
                                std::int64_t seen_memory_bytes = 0);

}  // namespace karst::providers::aws
