#include "tools/solve_claims.h"

#include <algorithm>

#include "model/labels.h"

namespace karst::tools {
namespace {

using objects::ManifestPods;
using scheduling::Volume;

}  // namespace

std::vector<std::string> named_claims(const ManifestPods& pods) {
  std::vector<std::string> names = pods.pod.shape.volume_claims;
  for (const model::VolumeClaim& own : pods.ephemeral)
    std::erase(names, pods.pod.pod.name + "-" + own.name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

ClaimResolver::ClaimResolver(const objects::Manifests& manifests) {
  for (const auto& claim : manifests.volume_claims)
    claims_[claim.namespace_name + "/" + claim.name] = &claim;
  for (const auto& volume : manifests.volumes) volumes_[volume.name] = &volume;
  for (const auto& one : manifests.storage_classes) {
    classes_[one.name] = &one;
    if (one.is_default) default_class_ = &one;
  }
  any_class_.immediate = false;
}

void ClaimResolver::note_users(const ManifestPods& pods) {
  for (const std::string& name : named_claims(pods))
    users_[pods.pod.pod.namespace_name + "/" + name] += pods.count;
}

void ClaimResolver::note_hosts(const std::vector<scheduling::Node>& nodes) {
  for (const scheduling::Node& node : nodes)
    if (node.takes_pods || node.stays)
      hosts_.emplace(model::label_value(node.labels, model::kHostnameLabel));
}

void ClaimResolver::note_bound(const ManifestPods& pods) {
  for (const std::string& name : pods.pod.shape.volume_claims)
    in_use_.insert(pods.pod.pod.namespace_name + "/" + name);
}

std::string ClaimResolver::once_per_pod(const ManifestPods& pods) const {
  for (const std::string& name : named_claims(pods))
    if (const model::VolumeClaim* one = claim(pods.pod.pod.namespace_name, name);
        one != nullptr && one->once_per_pod)
      return one->namespace_name + "/" + name;
  return "";
}

const model::VolumeClaim* ClaimResolver::claim(const std::string& namespace_name,
                                               const std::string& name) const {
  const auto at = claims_.find(namespace_name + "/" + name);
  return at == claims_.end() ? nullptr : at->second;
}

const model::PersistentVolume* ClaimResolver::volume(const std::string& name) const {
  if (volumes_.empty()) return &any_volume_;
  const auto at = volumes_.find(name);
  return at == volumes_.end() ? nullptr : at->second;
}

const model::StorageClass* ClaimResolver::storage_class(const std::string& name) const {
  if (classes_.empty()) return &any_class_;
  const auto at = classes_.find(name);
  return at == classes_.end() ? nullptr : at->second;
}

const model::StorageClass* ClaimResolver::default_class() const {
  return classes_.empty() ? &any_class_ : default_class_;
}

base::Result<std::vector<Volume>> ClaimResolver::volumes_of(const ManifestPods& pods,
                                                            std::int64_t ordinal) const {
  std::vector<Volume> volumes;
  const model::Pod& pod = pods.pod.pod;
  for (const std::string& name : named_claims(pods)) {
    if (claims_.empty()) break;  // no claim is in the files
    auto volume = scheduling::resolve_named(*this, pod.namespace_name, name);
    if (!volume) return base::fail(std::move(volume.error()));
    const std::string key = pod.namespace_name + "/" + name;
    const auto users = users_.find(key);
    if (users != users_.end() && users->second > 1) volume->claim = key;
    volumes.push_back(std::move(*volume));
  }
  const auto add_own = [&](const model::VolumeClaim& own, const std::string& name) -> base::Status {
    const std::string key = pod.namespace_name + "/" + name;
    const auto at = claims_.find(key);
    auto volume = scheduling::resolve_claim(*this, at == claims_.end() ? own : *at->second, key);
    if (!volume) return base::fail(std::move(volume.error()));
    volumes.push_back(std::move(*volume));
    return {};
  };
  for (const model::VolumeClaim& own : pods.templates)
    KARST_TRY(add_own(own, own.name + "-" + pod.name + "-" + std::to_string(ordinal)));
  for (const model::VolumeClaim& own : pods.ephemeral)
    KARST_TRY(add_own(own, pod.name + "-" + own.name));
  std::sort(volumes.begin(), volumes.end());
  return volumes;
}

}  // namespace karst::tools
