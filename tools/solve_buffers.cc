#include "tools/solve_buffers.h"

#include "scheduling/buffers.h"

namespace karst::tools {
namespace {

using model::CapacityBuffer;
using objects::ManifestPods;

const ManifestPods* find(const std::vector<ManifestPods>& all, const std::string& kind,
                         const std::string& namespace_name, const std::string& name) {
  for (const ManifestPods& pods : all)
    if (pods.kind == kind && pods.pod.pod.namespace_name == namespace_name &&
        pods.pod.pod.name == name)
      return &pods;
  return nullptr;
}

}  // namespace

std::vector<ManifestPods> buffer_pods(const objects::Manifests& manifests,
                                      std::vector<std::string>& notes) {
  std::vector<ManifestPods> all;
  for (const CapacityBuffer& buffer : manifests.buffers) {
    const std::string title = "CapacityBuffer " + buffer.name;
    if (!scheduling::is_active(buffer)) {
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
    pods.count = scheduling::buffer_pods(buffer, source->pod.shape.requests, source->count,
                                         objects::kManifestPodsMax);
    pods.kind = "CapacityBuffer";
    pods.owner_kind.clear();
    pods.owner_name.clear();
    pods.templates.clear();
    pods.ephemeral.clear();
    pods.pod.pod.name = buffer.name;
    pods.pod.shape = scheduling::buffer_shape(std::move(pods.pod.shape));
    all.push_back(std::move(pods));
  }
  return all;
}

}  // namespace karst::tools
