// The kubelet map of an EC2NodeClass, held against upstream's KubeletConfiguration v1beta1
// (Kubernetes 1.34) as strictly as kubelet itself decodes it, and against what Karpenter (v1.14)
// and the image families take of it. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "providers/aws/node_class.h"

namespace karst::providers::aws {

// Why a condition is not True.
struct Finding {
  std::string reason;  // of the condition, Karpenter's words
  std::string message;
};

// The first thing that is wrong: reason InvalidKubeletConfiguration or
// UnsupportedKubeletConfiguration. `kubelet_json`: the map as JSON; empty: there is none.
std::optional<Finding> check_kubelet(std::string_view kubelet_json, Family family);

// Whether Karpenter itself passes this key on to every family.
bool is_managed_kubelet_key(std::string_view key);

}  // namespace karst::providers::aws
