#include "reconcilers/once_per_pod.h"

#include <algorithm>

namespace karst::reconcilers {

bool OncePerPod::is_once(const std::string& namespace_name, const std::string& name) const {
  const auto* claim = state_.object<model::VolumeClaim>(namespace_name, name);
  return claim != nullptr && claim->once_per_pod;
}

bool OncePerPod::concerns(const std::string& namespace_name, const model::PodShape& shape) const {
  return std::any_of(shape.volume_claims.begin(), shape.volume_claims.end(),
                     [&](const std::string& name) { return is_once(namespace_name, name); });
}

void OncePerPod::note_users() {
  noted_ = true;
  for (const auto& [node, slot] : state_.nodes().slots())
    for (const projections::PodRow* pod : state_.pods().on_node(node.str())) {
      if (!pod->active() || pod->shape->volume_claims.empty() || pod->namespace_name == nullptr)
        continue;
      for (const std::string& name : pod->shape->volume_claims)
        if (is_once(*pod->namespace_name, name))
          users_.try_emplace(*pod->namespace_name + "/" + name, pod->uid.str());
    }
}

std::string OncePerPod::taken(const std::string& namespace_name, const projections::PodRow& pod) {
  if (!concerns(namespace_name, *pod.shape)) return {};
  if (!noted_) note_users();
  const auto& names = pod.shape->volume_claims;
  for (const std::string& name : names) {
    if (!is_once(namespace_name, name)) continue;
    const auto user = users_.find(namespace_name + "/" + name);
    if (user != users_.end() && user->second != pod.uid.str()) return user->first;
  }
  for (const std::string& name : names)
    if (is_once(namespace_name, name)) users_[namespace_name + "/" + name] = pod.uid.str();
  return {};
}

}  // namespace karst::reconcilers
