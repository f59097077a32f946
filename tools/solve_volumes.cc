#include "tools/solve_volumes.h"

#include <algorithm>

#include "model/labels.h"
#include "model/storage.h"

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

}  // namespace

void VolumeReader::read(const Object& volumes) {
  volumes.objects("persistentVolumeClaims", [&](const Object& object) {
    std::string name;
    object.object("metadata", [&](const Object& metadata) {
      name = namespace_of(metadata) + "/" + metadata.text("name");
    });
    object.object("spec", [&](const Object& spec) {
      claims_[name] = {spec.text("volumeName"), spec.text("storageClassName")};
    });
  });
  volumes.objects("persistentVolumes", [&](const Object& object) { read_volume(object); });
  volumes.objects("storageClasses", [&](const Object& object) { read_storage_class(object); });
}

void VolumeReader::read_volume(const Object& object) {
  Source& source = volumes_[name_of(object)];
  object.object("spec", [&](const Object& spec) {
    const bool of_one_node = spec.has("local") || spec.has("hostPath");
    spec.object("csi", [&](const Object& csi) { source.driver = csi.text("driver"); });
    if (source.driver.empty() && spec.has("awsElasticBlockStore"))
      source.driver = "ebs.csi.aws.com";
    const auto read_term = [&](const Object& term) {
      std::vector<model::RequirementSpec> specs;
      bool had_any = false;
      term.objects("matchExpressions", [&](const Object& one) {
        had_any = true;
        const auto op = model::parse_operator(one.view("operator"));
        if (!op) one.context().fail("operator is not known");
        if (of_one_node && one.view("key") == model::kHostnameLabel) return;
        specs.push_back(
            {one.text("key"), op.value_or(model::Operator::kExists), one.texts("values"), 0});
      });
      if (had_any) source.topology.push_back(std::move(specs));
    };
    spec.object("nodeAffinity", [&](const Object& affinity) {
      affinity.object("required", [&](const Object& required) {
        required.objects("nodeSelectorTerms", read_term);
      });
    });
  });
  if (!source.driver.empty()) drivers_.insert(source.driver);
}

void VolumeReader::read_storage_class(const Object& object) {
  Source& source = storage_classes_[name_of(object)];
  source.driver = model::csi_driver(object.text("provisioner"));
  object.objects("allowedTopologies", [&](const Object& term) {
    std::vector<model::RequirementSpec> specs;
    term.objects("matchLabelExpressions", [&](const Object& one) {
      specs.push_back({one.text("key"), model::Operator::kIn, one.texts("values"), 0});
    });
    if (!specs.empty()) source.topology.push_back(std::move(specs));
  });
  if (!source.driver.empty()) drivers_.insert(source.driver);
}

std::vector<std::string> VolumeReader::claims_of(const Object& pod) {
  std::string prefix;
  std::string pod_name;
  pod.object("metadata", [&](const Object& metadata) {
    prefix = namespace_of(metadata) + "/";
    pod_name = metadata.text("name");
  });
  std::vector<std::string> names;
  pod.object("spec", [&](const Object& spec) {
    spec.objects("volumes", [&](const Object& volume) {
      volume.object("persistentVolumeClaim", [&](const Object& claim) {
        names.push_back(prefix + claim.text("claimName"));
      });
      if (volume.has("ephemeral")) names.push_back(prefix + pod_name + "-" + volume.text("name"));
    });
  });
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

void VolumeReader::note(const Object& pod) {
  for (const std::string& claim : claims_of(pod)) ++users_[claim];
}

std::vector<scheduling::Volume> VolumeReader::of(const Object& pod) const {
  std::vector<scheduling::Volume> result;
  for (const std::string& name : claims_of(pod)) {
    const auto claim = claims_.find(name);
    if (claim == claims_.end()) continue;
    const bool is_bound = !claim->second.volume.empty();
    const auto& sources = is_bound ? volumes_ : storage_classes_;
    const auto source = sources.find(is_bound ? claim->second.volume : claim->second.storage_class);
    if (source == sources.end()) continue;
    const auto users = users_.find(name);
    const bool is_shared = users != users_.end() && users->second > 1;
    result.push_back({source->second.driver, is_shared ? name : "", source->second.topology});
  }
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace karst::tools
