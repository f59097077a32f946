#include "objects/manifest_kinds.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/nearest.h"
#include "objects/schema.h"

namespace karst::objects {
namespace {

constexpr std::size_t kNameShownMax = 80;

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
    {"policy/v1", "PodDisruptionBudget", Role::kBudget, true},
    {"v1", "PersistentVolumeClaim", Role::kVolumeClaim, true},
    {"v1", "PersistentVolume", Role::kVolume, false},
    {"storage.k8s.io/v1", "StorageClass", Role::kStorageClass, false},
    {"storage.k8s.io/v1", "CSINode", Role::kCsiNode, false},
    {"v1", "Namespace", Role::kNamespace, false},
    {"v1", "Service", Role::kService, true},
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

// What else Kubernetes 1.34 serves (the API reference at kubernetes.io/docs/reference): kinds by
// group. Such objects say nothing about where pods go.
struct Group {
  std::string_view name;  // "" is the core
  std::string_view kinds;
};
constexpr Group kGroups[] = {
    {"",
     "Binding ComponentStatus ConfigMap Endpoints Event LimitRange ResourceQuota Secret "
     "ServiceAccount"},
    {"admissionregistration.k8s.io",
     "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration "
     "ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration"},
    {"apiextensions.k8s.io", "CustomResourceDefinition"},
    {"apiregistration.k8s.io", "APIService"},
    {"apps", "ControllerRevision"},
    {"authentication.k8s.io", "SelfSubjectReview TokenRequest TokenReview"},
    {"authorization.k8s.io",
     "LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview "
     "SubjectAccessReview"},
    {"autoscaling", "HorizontalPodAutoscaler Scale"},
    {"batch", ""},
    {"certificates.k8s.io", "CertificateSigningRequest ClusterTrustBundle PodCertificateRequest"},
    {"coordination.k8s.io", "Lease LeaseCandidate"},
    {"discovery.k8s.io", "EndpointSlice"},
    {"events.k8s.io", "Event"},
    {"flowcontrol.apiserver.k8s.io", "FlowSchema PriorityLevelConfiguration"},
    {"karpenter.k8s.aws", ""},
    {"karpenter.sh", ""},
    {"networking.k8s.io", "Ingress IngressClass IPAddress NetworkPolicy ServiceCIDR"},
    {"node.k8s.io", "RuntimeClass"},
    {"policy", "Eviction"},
    {"rbac.authorization.k8s.io", "ClusterRole ClusterRoleBinding Role RoleBinding"},
    {"resource.k8s.io",
     "DeviceClass DeviceTaintRule ResourceClaim ResourceClaimTemplate ResourceSlice"},
    {"scheduling.k8s.io", ""},
    {"storage.k8s.io", "CSIDriver CSIStorageCapacity VolumeAttachment VolumeAttributesClass"},
};

std::string_view group_of(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? "" : api_version.substr(0, slash);
}

bool is_karpenter(std::string_view group) {
  return group == "karpenter.sh" || group == "karpenter.k8s.aws";
}

// `hint`: "; expected apps/v1", or nothing.
KindInfo refused(std::string_view api_version, std::string_view kind, const std::string& hint) {
  KindInfo info;
  info.role = Role::kRefused;
  info.refusal = "no matches for kind \"" + std::string(kind.substr(0, kNameShownMax)) +
                 "\" in version \"" + std::string(api_version.substr(0, kNameShownMax)) + "\"" +
                 hint;
  return info;
}

// The kinds that a group has; nullopt for one that Kubernetes does not know, which may be
// anybody's.
std::optional<std::vector<std::string_view>> kinds_of(std::string_view group) {
  const auto* known = std::find_if(std::begin(kGroups), std::end(kGroups),
                                   [&](const Group& one) { return one.name == group; });
  if (known == std::end(kGroups)) return std::nullopt;
  std::vector<std::string_view> kinds;
  for (std::string_view rest = known->kinds; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    kinds.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  for (const Entry& entry : kKinds)
    if (group_of(entry.api_version) == group) kinds.push_back(entry.kind);
  return kinds;
}

// A group that is probably a misspelt one of those that have this kind. Groups of one word are
// Kubernetes' own: others must hold a dot.
std::string misspelt_group(std::string_view group, std::string_view kind) {
  std::vector<std::string_view> groups;
  for (const Entry& entry : kKinds)
    if (entry.kind == kind) groups.push_back(group_of(entry.api_version));
  if (const std::string_view near = base::nearest(group, groups); !near.empty())
    for (const Entry& entry : kKinds)
      if (entry.kind == kind && group_of(entry.api_version) == near)
        return "; did you mean " + std::string(entry.api_version) + "?";
  return {};
}

KindInfo known_or_refused(std::string_view api_version, std::string_view kind,
                          const std::vector<std::string_view>& kinds) {
  const std::string_view one = kind.ends_with("List") ? kind.substr(0, kind.size() - 4) : kind;
  if (one.empty() || std::find(kinds.begin(), kinds.end(), one) != kinds.end()) return {};
  if (const std::string_view near = base::nearest(kind, kinds); !near.empty())
    return refused(api_version, kind, "; did you mean " + std::string(near) + "?");
  for (const Entry& entry : kKinds)
    if (entry.kind == kind)
      return refused(api_version, kind, "; expected " + std::string(entry.api_version));
  return refused(api_version, kind, "");
}

}  // namespace

KindInfo kind_info(std::string_view api_version, std::string_view kind) {
  const std::string_view group = group_of(api_version);
  for (const Entry& entry : kKinds) {
    if (entry.kind != kind) continue;
    if (entry.api_version == api_version) return {entry.role, entry.kind, entry.namespaced, {}};
    if (group_of(entry.api_version) == group || group == "extensions" || is_karpenter(group))
      return refused(api_version, kind, "; expected " + std::string(entry.api_version));
  }
  if (is_karpenter(group))
    for (const Legacy& legacy : kLegacy)
      if (legacy.kind == kind)
        return refused(api_version, kind, "; expected " + std::string(legacy.today));
  if (const auto kinds = kinds_of(group)) return known_or_refused(api_version, kind, *kinds);
  if (const std::string hint = misspelt_group(group, kind);
      !hint.empty() || (group.find('.') == group.npos && group != "extensions"))
    return refused(api_version, kind, hint);
  if (kind.ends_with("NodeClass") && !group.empty())
    return {Role::kNodeClass, "GenericNodeClass", false, {}};
  return {};
}

}  // namespace karst::objects
