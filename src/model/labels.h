// Labels and annotations: key and value pairs sorted by key, each key once. And the label keys that
// karst reads or writes.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace karst::model {

using Labels = std::vector<std::pair<std::string, std::string>>;

inline Labels::const_iterator find_label(const Labels& labels, std::string_view key) {
  const auto at = std::lower_bound(labels.begin(), labels.end(), key,
                                   [](const auto& x, std::string_view y) { return x.first < y; });
  return at != labels.end() && at->first == key ? at : labels.end();
}

// The value of `key`, empty when absent.
inline std::string_view label_value(const Labels& labels, std::string_view key) {
  const auto at = find_label(labels, key);
  return at == labels.end() ? std::string_view() : std::string_view(at->second);
}

inline bool has_label(const Labels& labels, std::string_view key) {
  return find_label(labels, key) != labels.end();
}

inline void set_label(Labels& labels, std::string_view key, std::string_view value) {
  auto at = std::lower_bound(labels.begin(), labels.end(), key,
                             [](const auto& x, std::string_view y) { return x.first < y; });
  if (at != labels.end() && at->first == key)
    at->second = value;
  else
    labels.insert(at, {std::string(key), std::string(value)});
}

inline constexpr std::string_view kNodePoolLabel = "karpenter.sh/nodepool";
inline constexpr std::string_view kCapacityTypeLabel = "karpenter.sh/capacity-type";
inline constexpr std::string_view kRegisteredLabel = "karpenter.sh/registered";
inline constexpr std::string_view kInitializedLabel = "karpenter.sh/initialized";
inline constexpr std::string_view kZoneLabel = "topology.kubernetes.io/zone";
inline constexpr std::string_view kRegionLabel = "topology.kubernetes.io/region";
inline constexpr std::string_view kInstanceTypeLabel = "node.kubernetes.io/instance-type";
inline constexpr std::string_view kArchLabel = "kubernetes.io/arch";
inline constexpr std::string_view kOsLabel = "kubernetes.io/os";
inline constexpr std::string_view kHostnameLabel = "kubernetes.io/hostname";

inline constexpr std::string_view kDoNotDisruptAnnotation = "karpenter.sh/do-not-disrupt";
inline constexpr std::string_view kTerminationTimestampAnnotation =
    "karpenter.sh/nodeclaim-termination-timestamp";
// Of node classes: "karpenter.k8s.aws/termination", as Karpenter's providers name theirs.
inline std::string class_finalizer(std::string_view group) {
  return std::string(group) + "/termination";
}

// What a class's claims are compared with to find drift: "karpenter.k8s.aws/ec2nodeclass-hash" and
// "…-hash-version", likewise.
inline std::string class_hash_key(std::string_view group, std::string_view kind) {
  std::string key = std::string(group) + "/";
  for (const char c : kind) key += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return key + "-hash";
}
inline std::string class_hash_version_key(std::string_view group, std::string_view kind) {
  return class_hash_key(group, kind) + "-version";
}

// What a pool's claims are compared with to find drift: a hash of its template, and its recipe.
inline constexpr std::string_view kPoolHashAnnotation = "karpenter.sh/nodepool-hash";
inline constexpr std::string_view kPoolHashVersionAnnotation = "karpenter.sh/nodepool-hash-version";
// Of a claim made for pods: "true" when it has fewer kinds of instance types than its pool's
// minValues ask for, which only MIN_VALUES_POLICY BestEffort allows; else "false".
inline constexpr std::string_view kMinValuesRelaxedAnnotation =
    "karpenter.sh/nodeclaim-min-values-relaxed";
// The CommandId that made the object (docs/decisions/0003): AlreadyExists with our own id in it
// means done.
inline constexpr std::string_view kCommandIdAnnotation = "karst.sh/command-id";
inline constexpr std::string_view kTerminationFinalizer = "karpenter.sh/termination";

}  // namespace karst::model
