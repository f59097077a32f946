// The kinds of objects that manifests may hold, and what becomes of each.
#pragma once

#include <string>
#include <string_view>

namespace karst::objects {

enum class Role {
  kNodePool,
  kNodeClaim,
  kNodeOverlay,
  kNodeClass,
  kNode,
  kPod,
  kWorkload,  // spec.template, spec.replicas
  kJob,       // spec.template, spec.parallelism
  kDaemonSet,
  kPodTemplate,
  kCapacityBuffer,
  kVolumeClaim,
  kVolume,
  kBudget,
  kStorageClass,
  kCsiNode,
  kNamespace,
  kPriorityClass,
  kService,
  kChecked,  // checked, and no further meaning
  kIgnored,  // not looked at
  kRefused,  // see `refusal`
};

struct KindInfo {
  Role role = Role::kIgnored;
  std::string_view type;  // in the schema
  bool namespaced = false;
  std::string refusal;  // why there is no such kind in this apiVersion
};

KindInfo kind_info(std::string_view api_version, std::string_view kind);

}  // namespace karst::objects
