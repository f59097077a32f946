#include "objects/manifest_kinds.h"

#include <algorithm>

namespace karst::objects {
namespace {

struct Entry {
  std::string_view api_version;
  std::string_view kind;
  Role role;
  bool namespaced;
};

constexpr Entry kKinds[] = {
    {"karpenter.sh/v1", "NodePool", Role::kNodePool, false},
    {"karpenter.sh/v1", "NodeClaim", Role::kNodeClaim, false},
    {"karpenter.sh/v1alpha1", "NodeOverlay", Role::kNodeOverlay, false},
    {"karpenter.k8s.aws/v1", "EC2NodeClass", Role::kNodeClass, false},
    {"v1", "Node", Role::kNode, false},
    {"v1", "Pod", Role::kPod, true},
    {"v1", "ReplicationController", Role::kWorkload, true},
    {"apps/v1", "Deployment", Role::kWorkload, true},
    {"apps/v1", "ReplicaSet", Role::kWorkload, true},
    {"apps/v1", "StatefulSet", Role::kWorkload, true},
    {"apps/v1", "DaemonSet", Role::kDaemonSet, true},
    {"v1", "PodTemplate", Role::kPodTemplate, true},
    {"autoscaling.x-k8s.io/v1beta1", "CapacityBuffer", Role::kCapacityBuffer, true},
    {"batch/v1", "Job", Role::kJob, true},
    {"batch/v1", "CronJob", Role::kChecked, true},
    {"policy/v1", "PodDisruptionBudget", Role::kChecked, true},
    {"v1", "PersistentVolumeClaim", Role::kVolumeClaim, true},
    {"v1", "PersistentVolume", Role::kVolume, false},
    {"storage.k8s.io/v1", "StorageClass", Role::kStorageClass, false},
    {"storage.k8s.io/v1", "CSINode", Role::kCsiNode, false},
    {"v1", "Namespace", Role::kNamespace, false},
    {"scheduling.k8s.io/v1", "PriorityClass", Role::kPriorityClass, false},
};

struct Legacy {
  std::string_view kind;
  std::string_view today;
};
constexpr Legacy kLegacy[] = {
    {"Provisioner", "karpenter.sh/v1 NodePool"},
    {"Machine", "karpenter.sh/v1 NodeClaim"},
    {"AWSNodeTemplate", "karpenter.k8s.aws/v1 EC2NodeClass"},
};

std::string_view group_of(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? "" : api_version.substr(0, slash);
}

bool is_karpenter(std::string_view group) {
  return group == "karpenter.sh" || group == "karpenter.k8s.aws";
}

KindInfo refused(std::string_view api_version, std::string_view kind, std::string_view expected) {
  KindInfo info;
  info.role = Role::kRefused;
  info.refusal = "no matches for kind \"" + std::string(kind) + "\" in version \"" +
                 std::string(api_version) + "\"; expected " + std::string(expected);
  return info;
}

}  // namespace

KindInfo kind_info(std::string_view api_version, std::string_view kind) {
  const std::string_view group = group_of(api_version);
  for (const Entry& entry : kKinds) {
    if (entry.kind != kind) continue;
    if (entry.api_version == api_version) return {entry.role, entry.kind, entry.namespaced, {}};
    if (group_of(entry.api_version) == group || group == "extensions" || is_karpenter(group))
      return refused(api_version, kind, entry.api_version);
  }
  if (is_karpenter(group))
    for (const Legacy& legacy : kLegacy)
      if (legacy.kind == kind) return refused(api_version, kind, legacy.today);
  if (kind.ends_with("NodeClass") && !group.empty())
    return {Role::kNodeClass, "GenericNodeClass", false, {}};
  return {};
}

}  // namespace karst::objects
