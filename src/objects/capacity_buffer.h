// CapacityBuffers: room that is kept free for pods that may come, asked for as pods that never do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "objects/json.h"

namespace karst::objects {

struct CapacityBuffer {
  std::string namespace_name;
  std::string name;
  std::string strategy;       // empty: the only one that Karpenter knows
  std::string template_name;  // a PodTemplate; or
  std::string scalable_kind;  // a workload
  std::string scalable_name;
  std::optional<std::int64_t> replicas;
  std::optional<std::int64_t> percentage;                    // of the workload's replicas
  std::vector<std::pair<std::string, std::int64_t>> limits;  // by resource; cpu in millicores
};

// kInvalid with the path of the first wrong field.
base::Result<CapacityBuffer> reduce_capacity_buffer(simdjson::dom::element object);

}  // namespace karst::objects
