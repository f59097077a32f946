// CapacityBuffers as the pods that they stand for, by Karpenter's rules (v1.14): pods of the lowest
// priority that no kube-scheduler will ever see. Pure.
#pragma once

#include <cstdint>

#include "model/named_object.h"
#include "model/pod.h"

namespace karst::scheduling {

// Karpenter knows one strategy; a buffer with another asks for nothing.
bool is_active(const model::CapacityBuffer& buffer);

// How many pods the buffer stands for: the larger of `replicas` and its share of the workload's
// replicas, within its limits; without a size what the limits allow, at most `most`.
std::int64_t buffer_pods(const model::CapacityBuffer& buffer, const model::Resources& one_pod,
                         std::int64_t workload_replicas, std::int64_t most);

// A pod of the template as the buffer asks for it: without volumes, of the lowest priority.
model::PodShape buffer_shape(model::PodShape pod);

}  // namespace karst::scheduling
