// What is asked of the account about the cluster itself, beside its classes' selectors: the
// control plane's version. Pure.
#pragma once

#include <vector>

#include "providers/aws/selectors.h"

namespace karst::providers::aws {

inline constexpr std::string_view kClusterKey = "cluster";
inline constexpr std::int64_t kVersionLifeMillis = 5 * 60'000;  // as Karpenter's

void ask_about_cluster(std::vector<Question>& out, const Cluster& cluster);

// The cluster as answers have it. What was not answered stays as it was known.
Cluster as_answered(Cluster cluster, const Answers& answers);

}  // namespace karst::providers::aws
