#include "scheduling/buffers.h"

#include <algorithm>
#include <limits>
#include <string_view>

namespace karst::scheduling {
namespace {

constexpr std::string_view kStrategy = "buffer.x-k8s.io/active-capacity";

}  // namespace

bool is_active(const model::CapacityBuffer& buffer) {
  return buffer.strategy.empty() || buffer.strategy == kStrategy;
}

std::int64_t buffer_pods(const model::CapacityBuffer& buffer, const model::Resources& one_pod,
                         std::int64_t workload_replicas, std::int64_t most) {
  std::int64_t count = buffer.replicas.value_or(0);
  const std::int64_t percentage = buffer.percentage.value_or(0);
  if (!buffer.scalable_name.empty() && percentage > 0 && workload_replicas > 0)
    count = std::max(count, (percentage * workload_replicas + 99) / 100);
  const bool sized = buffer.replicas || buffer.percentage;
  std::int64_t allowed = sized ? std::min(count, most) : most;
  bool limited = false;
  for (const auto& [name, limit] : buffer.limits) {
    const std::int64_t one = one_pod.amount(name);
    if (one <= 0) continue;
    limited = true;
    allowed = std::min(allowed, limit / one);
  }
  return sized || limited ? allowed : 0;
}

model::PodShape buffer_shape(model::PodShape pod) {
  pod.volume_claims.clear();
  pod.priority = std::numeric_limits<std::int32_t>::min();
  return pod;
}

}  // namespace karst::scheduling
