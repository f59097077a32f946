// Volumes of a scheduling case: claims, volumes and storage classes of the document, resolved to
// what the solver needs. Owner: one reader.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "objects/json.h"
#include "scheduling/problem.h"
#include "scheduling/storage.h"

namespace karst::tools {

class VolumeReader final : public scheduling::Storage {
 public:
  // The document's `volumes`.
  void read(const objects::Object& volumes);
  // Every pod to be placed, before any is resolved: which claims are shared.
  void note(const objects::Object& pod);
  void note_mounted(const std::string& claim) { ++users_[claim]; }
  // Claims that do not exist, or that lead nowhere, are left out.
  std::vector<scheduling::Volume> of(const objects::Object& pod) const;
  // CSI drivers of the document.
  const std::set<std::string>& drivers() const { return drivers_; }

  const model::VolumeClaim* claim(const std::string& namespace_name,
                                  const std::string& name) const override;
  const model::PersistentVolume* volume(const std::string& name) const override;
  const model::StorageClass* storage_class(const std::string& name) const override;
  const model::StorageClass* default_class() const override { return nullptr; }

 private:
  void read_volume(const objects::Object& volume);
  void read_storage_class(const objects::Object& storage_class);

  std::map<std::string, model::VolumeClaim> claims_;  // by "namespace/name"
  std::map<std::string, model::PersistentVolume> volumes_;
  std::map<std::string, model::StorageClass> storage_classes_;
  std::set<std::string> drivers_;
  std::map<std::string, int> users_;  // pods and nodes by claim
};

}  // namespace karst::tools
