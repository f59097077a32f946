#include "tools/solve_claims.h"

#include <algorithm>

#include "model/labels.h"

namespace karst::tools {
namespace {

using objects::ManifestPods;
using scheduling::Volume;

tl::unexpected<base::Error> refuse(std::string why) {
  return base::fail(base::Kind::kInvalid, std::move(why));
}

// A volume of one machine's own disk names that machine, which a new node cannot be.
model::Topology without_hosts(const model::PersistentVolume& volume) {
  model::Topology topology;
  for (const auto& term : volume.topology) {
    std::vector<model::RequirementSpec> specs;
    for (const model::RequirementSpec& spec : term)
      if (!volume.on_node || spec.key != model::kHostnameLabel) specs.push_back(spec);
    topology.push_back(std::move(specs));
  }
  // One term without a demand: anywhere.
  if (std::any_of(topology.begin(), topology.end(), [](const auto& term) { return term.empty(); }))
    topology.clear();
  return topology;
}

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
}

void ClaimResolver::note_users(const ManifestPods& pods) {
  for (const std::string& name : named_claims(pods))
    users_[pods.pod.pod.namespace_name + "/" + name] += pods.count;
}

base::Result<Volume> ClaimResolver::resolve_bound(const model::VolumeClaim& claim) const {
  const auto at = volumes_.find(claim.volume);
  if (at == volumes_.end()) {
    if (volumes_.empty()) return Volume{};  // no volume is in the files
    return refuse("persistentvolume \"" + claim.volume + "\" is not in the files");
  }
  if (at->second->deleting) return refuse("persistentvolume is being deleted");
  return Volume{at->second->driver, "", without_hosts(*at->second)};
}

base::Result<Volume> ClaimResolver::resolve_unbound(const model::VolumeClaim& claim) const {
  if (claim.storage_class && claim.storage_class->empty())
    return refuse("unbound, without a storage class: it must be bound first");
  if (classes_.empty()) return Volume{};  // no class is in the files
  const model::StorageClass* storage = default_class_;
  if (claim.storage_class) {
    const auto at = classes_.find(*claim.storage_class);
    if (at == classes_.end())
      return refuse("storageclass \"" + *claim.storage_class + "\" is not in the files");
    storage = at->second;
  }
  if (storage == nullptr) return refuse("no storage class, and none in the files is the default");
  if (storage->immediate)
    return refuse("storageclass \"" + storage->name +
                  "\" binds immediately: the claim must be bound first");
  Volume volume{model::csi_driver(storage->provisioner), "", storage->topology};
  std::erase_if(volume.topology, [](const auto& term) { return term.empty(); });
  return volume;
}

base::Result<Volume> ClaimResolver::resolve(const model::VolumeClaim& claim,
                                            const std::string& key) const {
  const auto named = [&](base::Result<Volume> result) -> base::Result<Volume> {
    if (result) return result;
    return refuse("persistentvolumeclaim \"" + key + "\": " + result.error().message);
  };
  if (claim.deleting) return named(refuse("is being deleted"));
  if (claim.lost) return named(refuse("bound to non-existent persistentvolume"));
  return named(claim.volume.empty() ? resolve_unbound(claim) : resolve_bound(claim));
}

base::Result<std::vector<Volume>> ClaimResolver::volumes_of(const ManifestPods& pods,
                                                            std::int64_t ordinal) const {
  std::vector<Volume> volumes;
  const model::Pod& pod = pods.pod.pod;
  for (const std::string& name : named_claims(pods)) {
    const std::string key = pod.namespace_name + "/" + name;
    const auto at = claims_.find(key);
    if (at == claims_.end()) {
      if (claims_.empty()) continue;  // no claim is in the files
      return refuse("persistentvolumeclaim \"" + key + "\" is not in the files");
    }
    auto volume = resolve(*at->second, key);
    if (!volume) return base::fail(std::move(volume.error()));
    const auto users = users_.find(key);
    if (users != users_.end() && users->second > 1) volume->claim = key;
    volumes.push_back(std::move(*volume));
  }
  const auto add_own = [&](const model::VolumeClaim& own, const std::string& name) -> base::Status {
    const std::string key = pod.namespace_name + "/" + name;
    const auto at = claims_.find(key);
    auto volume = resolve(at == claims_.end() ? own : *at->second, key);
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

std::vector<std::pair<std::string, std::string>> ClaimResolver::mounted_by(
    const ManifestPods& pods) const {
  std::vector<std::pair<std::string, std::string>> mounted;
  for (const std::string& name : pods.pod.shape.volume_claims) {
    const std::string key = pods.pod.pod.namespace_name + "/" + name;
    const auto at = claims_.find(key);
    if (at == claims_.end()) continue;
    const auto volume = resolve(*at->second, key);
    if (volume && !volume->driver.empty()) mounted.emplace_back(volume->driver, key);
  }
  return mounted;
}

}  // namespace karst::tools
