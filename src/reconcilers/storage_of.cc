#include "reconcilers/storage_of.h"

#include <algorithm>

namespace karst::reconcilers {

const model::StorageClass* StateStorage::default_class() const {
  const model::StorageClass* found = nullptr;
  state_.for_each<model::StorageClass>([&](const model::StorageClass& one, const auto&) {
    if (one.is_default && found == nullptr) found = &one;
  });
  return found;
}

bool StateStorage::has_host(const std::string& host) const {
  for (const auto& [name, slot] : state_.nodes().slots()) {
    const NodeRow& row = slot.row;
    if (model::label_value(row.node.labels, model::kHostnameLabel) != host) continue;
    const ClaimRow* claim = state_.claim_by_provider_id(row.node.provider_id);
    return row.node.deletion_millis == 0 && row.tainted_at == Position() &&
           (claim == nullptr || (!claim->leaving() && claim->interrupted_at.value() == 0 &&
                                 claim->gone_at.value() == 0));
  }
  return false;
}

void resolve_volumes(const scheduling::Storage& storage, scheduling::PodGroup& pods) {
  for (const std::string& name : pods.shape.volume_claims) {
    auto volume = scheduling::resolve_named(storage, pods.namespace_name, name);
    if (!volume) {
      pods.volume_error = std::move(volume.error().message);
      return;
    }
    volume->claim = pods.namespace_name + "/" + name;
    pods.volumes.push_back(std::move(*volume));
  }
  std::sort(pods.volumes.begin(), pods.volumes.end());
}

void add_attach_limits(const ClusterState& state, scheduling::Problem& problem) {
  const bool asked =
      std::any_of(problem.pods.begin(), problem.pods.end(),
                  [](const scheduling::PodGroup& pods) { return !pods.volumes.empty(); });
  if (!asked) return;
  for (scheduling::Node& node : problem.nodes) {
    if (const auto* limits = state.object<model::CsiNode>("", node.name))
      node.attach_limits = {limits->limits.begin(), limits->limits.end()};
    std::sort(node.volumes.begin(), node.volumes.end());
    node.volumes.erase(std::unique(node.volumes.begin(), node.volumes.end()), node.volumes.end());
  }
}

}  // namespace karst::reconcilers
