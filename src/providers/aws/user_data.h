// What a machine is told at its first start so that it joins the cluster, per image family, merged
// with the user data of the node class. Rules are Karpenter's (v1.14), formats their owners':
// https://awslabs.github.io/amazon-eks-ami/nodeadm/doc/api/ (AL2023),
// https://bottlerocket.dev/en/os/latest/#/api/settings/kubernetes/ (Bottlerocket),
// RFC 2046 (MIME). Maps come out sorted: the same arguments give the same bytes. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/labels.h"
#include "model/taint.h"
#include "providers/aws/node_class.h"
#include "providers/aws/resolved.h"

namespace karst::providers::aws {

inline constexpr std::size_t kUserDataBytesMax = 16'384;  // EC2's limit, before base64
inline constexpr std::string_view kUserDataTooLong = "EC2 takes at most 16384";  // in that error

struct UserDataInput {
  Family family = Family::kAl2023;
  Cluster cluster;
  std::string custom;         // the class's userData
  std::string kubelet_json;   // the class's kubelet map, checked; empty: none
  bool raid = false;          // instance stores become one disk
  std::string alias_version;  // of the image; empty: no alias
  std::int64_t max_pods = 0;
  model::Labels labels;              // of the node; keys that kubelet may not set are left out
  std::vector<model::Taint> taints;  // all that kubelet registers with
};

// Before base64; empty for a Custom class without any. Errors: kInvalid when the class's own is
// broken, or the whole is larger than kUserDataBytesMax.
base::Result<std::string> user_data(const UserDataInput& input);

// Whether kubelet may put this label onto its own node: not of kubernetes.io or k8s.io.
bool kubelet_may_set(std::string_view label);

// The arguments of kubelet on AL2 and Windows.
std::string kubelet_arguments(const UserDataInput& input);

}  // namespace karst::providers::aws
