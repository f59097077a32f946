#include "scheduling/storage.h"

#include <algorithm>

#include "model/labels.h"

namespace karst::scheduling {
namespace {

tl::unexpected<base::Error> refuse(std::string why) {
  return base::fail(base::Kind::kInvalid, std::move(why));
}

std::string quoted(std::string_view kind, const std::string& name) {
  return std::string(kind) + " \"" + name + "\"";
}

// A volume of one machine's own disk names that machine, which a new node cannot be.
model::Topology without_lost_hosts(const Storage& storage, const model::PersistentVolume& volume) {
  const auto is_there = [&](const std::string& host) { return storage.has_host(host); };
  model::Topology topology;
  for (const auto& term : volume.topology) {
    std::vector<model::RequirementSpec> specs;
    for (const model::RequirementSpec& spec : term)
      if (!volume.on_node || spec.key != model::kHostnameLabel ||
          std::any_of(spec.values.begin(), spec.values.end(), is_there))
        specs.push_back(spec);
    topology.push_back(std::move(specs));
  }
  // One term without a demand: anywhere.
  if (std::any_of(topology.begin(), topology.end(), [](const auto& term) { return term.empty(); }))
    topology.clear();
  return topology;
}

base::Result<Volume> resolve_bound(const Storage& storage, const model::VolumeClaim& claim) {
  const model::PersistentVolume* volume = storage.volume(claim.volume);
  if (volume == nullptr)
    return refuse(quoted("persistentvolume", claim.volume) + " " + std::string(storage.missing()));
  if (volume->deleting) return refuse("persistentvolume is being deleted");
  return Volume{volume->driver, "", without_lost_hosts(storage, *volume)};
}

base::Result<Volume> resolve_unbound(const Storage& storage, const model::VolumeClaim& claim) {
  if (claim.storage_class && claim.storage_class->empty())
    return refuse("unbound, without a storage class: it must be bound first");
  const model::StorageClass* made_by =
      claim.storage_class ? storage.storage_class(*claim.storage_class) : storage.default_class();
  if (made_by == nullptr)
    return refuse(claim.storage_class ? quoted("storageclass", *claim.storage_class) + " " +
                                            std::string(storage.missing())
                                      : "no storage class, and none is the default");
  if (made_by->immediate)
    return refuse(quoted("storageclass", made_by->name) +
                  " binds immediately: the claim must be bound first");
  Volume volume{model::csi_driver(made_by->provisioner), "", made_by->topology};
  std::erase_if(volume.topology, [](const auto& term) { return term.empty(); });
  return volume;
}

base::Result<Volume> resolve(const Storage& storage, const model::VolumeClaim& claim) {
  if (claim.deleting) return refuse("is being deleted");
  if (claim.lost) return refuse("bound to non-existent persistentvolume");
  return claim.volume.empty() ? resolve_unbound(storage, claim) : resolve_bound(storage, claim);
}

}  // namespace

base::Result<Volume> resolve_claim(const Storage& storage, const model::VolumeClaim& claim,
                                   const std::string& place) {
  base::Result<Volume> volume = resolve(storage, claim);
  if (volume) return volume;
  return refuse(quoted("persistentvolumeclaim", place) + ": " + volume.error().message);
}

base::Result<Volume> resolve_named(const Storage& storage, const std::string& namespace_name,
                                   const std::string& name) {
  const std::string place = namespace_name + "/" + name;
  const model::VolumeClaim* claim = storage.claim(namespace_name, name);
  if (claim == nullptr)
    return refuse(quoted("persistentvolumeclaim", place) + " " + std::string(storage.missing()));
  return resolve_claim(storage, *claim, place);
}

std::vector<std::pair<std::string, std::string>> mounted(const Storage& storage,
                                                         const std::string& namespace_name,
                                                         const std::vector<std::string>& claims) {
  std::vector<std::pair<std::string, std::string>> found;
  for (const std::string& name : claims) {
    const auto volume = resolve_named(storage, namespace_name, name);
    if (volume && !volume->driver.empty())
      found.emplace_back(volume->driver, namespace_name + "/" + name);
  }
  return found;
}

}  // namespace karst::scheduling
