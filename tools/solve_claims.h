// The volumes of pods that come from manifests: what each claim restricts, by Karpenter's rules.
// For solve_manifests.cc.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "objects/manifest.h"
#include "scheduling/problem.h"

namespace karst::tools {

class ClaimResolver {
 public:
  explicit ClaimResolver(const objects::Manifests& manifests);

  // The volumes of one pod; `ordinal` is its number in a StatefulSet. Errors: kInvalid, why a pod
  // with such a claim cannot be placed.
  base::Result<std::vector<scheduling::Volume>> volumes_of(const objects::ManifestPods& pods,
                                                           std::int64_t ordinal) const;
  // Driver and claim of what a bound pod has mounted; what is not known is left out.
  std::vector<std::pair<std::string, std::string>> mounted_by(
      const objects::ManifestPods& pods) const;
  // Claims named in the pod itself are shared by all pods of a workload.
  void note_users(const objects::ManifestPods& pods);

  bool any_claims() const { return !claims_.empty(); }
  bool any_classes() const { return !classes_.empty(); }

 private:
  base::Result<scheduling::Volume> resolve(const model::VolumeClaim& claim,
                                           const std::string& key) const;
  base::Result<scheduling::Volume> resolve_bound(const model::VolumeClaim& claim) const;
  base::Result<scheduling::Volume> resolve_unbound(const model::VolumeClaim& claim) const;

  std::map<std::string, const model::VolumeClaim*> claims_;  // by "namespace/name"
  std::map<std::string, const model::PersistentVolume*> volumes_;
  std::map<std::string, const model::StorageClass*> classes_;
  const model::StorageClass* default_class_ = nullptr;
  std::map<std::string, std::int64_t> users_;  // pods by claim
};

// Names of claims that the pod itself says, without those of its ephemeral volumes; sorted, each
// once.
std::vector<std::string> named_claims(const objects::ManifestPods& pods);

}  // namespace karst::tools
