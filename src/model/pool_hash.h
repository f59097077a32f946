// The drift hash of a NodePool's template, equal to Karpenter's of hash version v3 (v1.13 and
// later), so that a cluster that changes from one to the other sees no drift. It covers labels,
// annotations, taints, startup taints, node class, terminationGracePeriod and expireAfter; not the
// requirements, which are compared as such. Pure; never fails.
//
// Karpenter computes it with github.com/mitchellh/hashstructure v2 (slices as sets, zero values
// skipped); what is hashed is described in that library's documentation. A field that is absent
// does not count, one that is there and empty does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/cluster.h"

namespace karst::model {

inline constexpr std::string_view kPoolHashVersion = "v3";

// NodePool::empty_fields.
inline constexpr std::int64_t kEmptyLabels = 1;
inline constexpr std::int64_t kEmptyAnnotations = 2;
inline constexpr std::int64_t kEmptyTaints = 4;
inline constexpr std::int64_t kEmptyStartupTaints = 8;

// What is hashed; none: absent.
struct HashedTemplate {
  std::optional<Labels> labels;
  std::optional<Labels> annotations;
  std::optional<std::vector<Taint>> taints;
  std::optional<std::vector<Taint>> startup_taints;
  NodeClassRef node_class;
  std::optional<std::int64_t> termination_grace_millis;
  std::optional<std::int64_t> expire_after_millis;  // none: Never
};

std::uint64_t template_hash(const HashedTemplate& what);

// Of a pool's template, as a decimal number.
std::string pool_hash(const NodePool& pool);

}  // namespace karst::model
