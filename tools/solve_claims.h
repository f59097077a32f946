// The volumes of pods that come from manifests: what each claim restricts, by Karpenter's rules.
// For solve_manifests.cc.
#pragma once

#include <cstdint>
#include <map>
#include <set>
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

  // Nodes that are there to stay, by host name.
  void note_hosts(const std::vector<scheduling::Node>& nodes);
  // A pod that runs; its claims are in use.
  void note_bound(const objects::ManifestPods& pods);
  // The claim of these pods that one pod at a time may use ("namespace/name"); empty: none. `take`
  // is false when a pod uses it already, and else this one does from now on.
  std::string once_per_pod(const objects::ManifestPods& pods) const;
  bool take(const std::string& claim) { return in_use_.insert(claim).second; }

  bool any_claims() const { return !claims_.empty(); }
  bool any_classes() const { return !classes_.empty(); }

  // Storage. Where no volume or no class is in the files at all, any name stands for one that can
  // be reached anywhere.
  const model::VolumeClaim* claim(const std::string& namespace_name,
                                  const std::string& name) const override;
  const model::PersistentVolume* volume(const std::string& name) const override;
  const model::StorageClass* storage_class(const std::string& name) const override;
  const model::StorageClass* default_class() const override;
  bool has_host(const std::string& host) const override { return hosts_.contains(host); }
  std::string_view missing() const override { return "is not in the files"; }

 private:
  std::map<std::string, const model::VolumeClaim*> claims_;  // by "namespace/name"
  std::map<std::string, const model::PersistentVolume*> volumes_;
  std::map<std::string, const model::StorageClass*> classes_;
  const model::StorageClass* default_class_ = nullptr;
  model::PersistentVolume any_volume_;
  model::StorageClass any_class_;
  std::map<std::string, std::int64_t> users_;  // pods by claim
  std::set<std::string> in_use_;               // by running pods, or by those that were told before
  std::set<std::string> hosts_;
};

// Names of claims that the pod itself says, without those of its ephemeral volumes; sorted, each
// once.
std::vector<std::string> named_claims(const objects::ManifestPods& pods);

}  // namespace karst::tools
