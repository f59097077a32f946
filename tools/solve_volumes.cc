#include "tools/solve_volumes.h"

#include <algorithm>

#include "objects/words.h"

namespace karst::tools {
namespace {

using objects::Object;

std::string namespace_of(const Object& metadata) {
  const std::string name = metadata.text("namespace");
  return name.empty() ? "default" : name;
}

std::string name_of(const Object& object) {
  std::string name;
  object.object("metadata", [&](const Object& metadata) { name = metadata.text("name"); });
  return name;
}

template <class Value>
const Value* found(const std::map<std::string, Value>& values, const std::string& key) {
  const auto at = values.find(key);
  return at == values.end() ? nullptr : &at->second;
}

struct PodClaims {
  std::string namespace_name;
  std::vector<std::string> names;  // sorted, each once
};

PodClaims claims_of(const Object& pod) {
  PodClaims claims;
  std::string pod_name;
  pod.object("metadata", [&](const Object& metadata) {
    claims.namespace_name = namespace_of(metadata);
    pod_name = metadata.text("name");
  });
  std::vector<std::string>& names = claims.names;
  pod.object("spec", [&](const Object& spec) {
    spec.objects("volumes", [&](const Object& volume) {
      volume.object("persistentVolumeClaim",
                    [&](const Object& claim) { names.push_back(claim.text("claimName")); });
      if (volume.has("ephemeral")) names.push_back(pod_name + "-" + volume.text("name"));
    });
  });
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return claims;
}

}  // namespace

void VolumeReader::read(const Object& volumes) {
  volumes.objects("persistentVolumeClaims", [&](const Object& object) {
    model::VolumeClaim claim;
    object.object("metadata", [&](const Object& metadata) {
      claim.namespace_name = namespace_of(metadata);
      claim.name = metadata.text("name");
    });
    object.object("spec", [&](const Object& spec) {
      claim.volume = spec.text("volumeName");
      claim.storage_class = spec.text("storageClassName");
    });
    claims_[claim.namespace_name + "/" + claim.name] = std::move(claim);
  });
  volumes.objects("persistentVolumes", [&](const Object& object) { read_volume(object); });
  volumes.objects("storageClasses", [&](const Object& object) { read_storage_class(object); });
}

void VolumeReader::read_volume(const Object& object) {
  model::PersistentVolume& volume = volumes_[name_of(object)];
  object.object("spec", [&](const Object& spec) {
    volume.on_node = spec.has("local") || spec.has("hostPath");
    spec.object("csi", [&](const Object& csi) { volume.driver = csi.text("driver"); });
    if (volume.driver.empty() && spec.has("awsElasticBlockStore"))
      volume.driver = "ebs.csi.aws.com";
    const auto read_term = [&](const Object& term) {
      std::vector<model::RequirementSpec> specs;
      term.objects("matchExpressions", [&](const Object& one) {
        specs.push_back({one.text("key"), objects::read_operator(one), one.texts("values"), 0});
      });
      if (!specs.empty()) volume.topology.push_back(std::move(specs));
    };
    spec.object("nodeAffinity", [&](const Object& affinity) {
      affinity.object("required", [&](const Object& required) {
        required.objects("nodeSelectorTerms", read_term);
      });
    });
  });
  if (!volume.driver.empty()) drivers_.insert(volume.driver);
}

void VolumeReader::read_storage_class(const Object& object) {
  const std::string name = name_of(object);
  model::StorageClass& storage = storage_classes_[name];
  storage.name = name;
  storage.provisioner = object.text("provisioner");
  storage.immediate = false;  // the case's pods are to be placed: their claims wait for them
  object.objects("allowedTopologies", [&](const Object& term) {
    std::vector<model::RequirementSpec> specs;
    term.objects("matchLabelExpressions", [&](const Object& one) {
      specs.push_back({one.text("key"), model::Operator::kIn, one.texts("values"), 0});
    });
    storage.topology.push_back(std::move(specs));
  });
  const std::string driver = model::csi_driver(storage.provisioner);
  if (!driver.empty()) drivers_.insert(driver);
}

const model::VolumeClaim* VolumeReader::claim(const std::string& namespace_name,
                                              const std::string& name) const {
  return found(claims_, namespace_name + "/" + name);
}
const model::PersistentVolume* VolumeReader::volume(const std::string& name) const {
  return found(volumes_, name);
}
const model::StorageClass* VolumeReader::storage_class(const std::string& name) const {
  return found(storage_classes_, name);
}

void VolumeReader::note(const Object& pod) {
  const PodClaims claims = claims_of(pod);
  for (const std::string& name : claims.names) ++users_[claims.namespace_name + "/" + name];
}

std::vector<scheduling::Volume> VolumeReader::of(const Object& pod) const {
  const PodClaims claims = claims_of(pod);
  std::vector<scheduling::Volume> result;
  for (const std::string& name : claims.names) {
    auto volume = scheduling::resolve_named(*this, claims.namespace_name, name);
    if (!volume) continue;
    const std::string place = claims.namespace_name + "/" + name;
    const auto users = users_.find(place);
    if (users != users_.end() && users->second > 1) volume->claim = place;
    result.push_back(std::move(*volume));
  }
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace karst::tools
