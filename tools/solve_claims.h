// The volumes of pods that come from manifests: what each claim restricts, by Karpenter's rules.
// For solve_manifests.cc.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "objects/manifest.h"
#include "scheduling/problem.h"
#include "scheduling/storage.h"

namespace karst::tools {

class ClaimResolver final : public scheduling::Storage {
 public:
  explicit ClaimResolver(const objects::Manifests& manifests);

  // The volumes of one pod; `ordinal` is its number in a StatefulSet. Errors: kInvalid, why a pod
  // with such a claim cannot be placed.
  base::Result<std::vector<scheduling::Volume>> volumes_of(const objects::ManifestPods& pods,
                                                           std::int64_t ordinal) const;
  // Claims named in the pod itself are shared by all pods of a workload.
  void note_users(const objects::ManifestPods& pods);

  bool any_claims() const { return !claims_.empty(); }
  bool any_classes() const { return !classes_.empty(); }

  // Storage. Where no volume or no class is in the files at all, any name stands for one that can
  // be reached anywhere.
  const model::VolumeClaim* claim(const std::string& namespace_name,
                                  const std::string& name) const override;
  const model::PersistentVolume* volume(const std::string& name) const override;
  const model::StorageClass* storage_class(const std::string& name) const override;
  const model::StorageClass* default_class() const override;
  std::string_view missing() const override { return "is not in the files"; }

 private:
  std::map<std::string, const model::VolumeClaim*> claims_;  // by "namespace/name"
  std::map<std::string, const model::PersistentVolume*> volumes_;
  std::map<std::string, const model::StorageClass*> classes_;
  const model::StorageClass* default_class_ = nullptr;
  model::PersistentVolume any_volume_;
  model::StorageClass any_class_;
  std::map<std::string, std::int64_t> users_;  // pods by claim
};

// Names of claims that the pod itself says, without those of its ephemeral volumes; sorted, each
// once.
std::vector<std::string> named_claims(const objects::ManifestPods& pods);

}  // namespace karst::tools
