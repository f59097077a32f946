#include "tools/solve_buffers.h"

#include <algorithm>
#include <limits>

namespace karst::tools {
namespace {

using model::CapacityBuffer;
using objects::ManifestPods;

constexpr std::string_view kStrategy = "buffer.x-k8s.io/active-capacity";

const ManifestPods* find(const std::vector<ManifestPods>& all, const std::string& kind,
                         const std::string& namespace_name, const std::string& name) {
  for (const ManifestPods& pods : all)
    if (pods.kind == kind && pods.pod.pod.namespace_name == namespace_name &&
        pods.pod.pod.name == name)
      return &pods;
  return nullptr;
}

// The larger of both sizes, within the limits; without a size what the limits allow.
std::int64_t chunks_of(const CapacityBuffer& buffer, const ManifestPods& pods) {
  std::int64_t chunks = buffer.replicas.value_or(0);
  const std::int64_t percentage = buffer.percentage.value_or(0);
  if (!buffer.scalable_name.empty() && percentage > 0 && pods.count > 0)
    chunks = std::max(chunks, (percentage * pods.count + 99) / 100);
  const bool sized = buffer.replicas || buffer.percentage;
  std::int64_t most = sized ? chunks : objects::kManifestPodsMax;
  bool limited = false;
  for (const auto& [name, limit] : buffer.limits) {
    const std::int64_t one = pods.pod.shape.requests.amount(name);
    if (one <= 0) continue;
    limited = true;
    most = std::min(most, limit / one);
  }
  return sized || limited ? most : 0;
}

}  // namespace

std::vector<ManifestPods> buffer_pods(const objects::Manifests& manifests,
                                      std::vector<std::string>& notes) {
  std::vector<ManifestPods> all;
  for (const CapacityBuffer& buffer : manifests.buffers) {
    const std::string title = "CapacityBuffer " + buffer.name;
    if (!buffer.strategy.empty() && buffer.strategy != kStrategy) {
      notes.push_back(title + " has the strategy " + buffer.strategy + ": left out");
      continue;
    }
    const bool by_template = !buffer.template_name.empty();
    const ManifestPods* source = by_template ? find(manifests.pod_templates, "PodTemplate",
                                                    buffer.namespace_name, buffer.template_name)
                                             : find(manifests.pods, buffer.scalable_kind,
                                                    buffer.namespace_name, buffer.scalable_name);
    if (source == nullptr) {
      notes.push_back(title + ": its " + (by_template ? "PodTemplate" : "scalableRef") +
                      " is not in the files: it asks for nothing");
      continue;
    }
    ManifestPods pods = *source;
    pods.count = chunks_of(buffer, *source);
    pods.kind = "CapacityBuffer";
    pods.owner_kind.clear();
    pods.owner_name.clear();
    pods.templates.clear();
    pods.ephemeral.clear();
    pods.pod.pod.name = buffer.name;
    pods.pod.shape.volume_claims.clear();
    pods.pod.shape.priority = std::numeric_limits<std::int32_t>::min();
    all.push_back(std::move(pods));
  }
  return all;
}

}  // namespace karst::tools
