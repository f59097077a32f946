// What is asked of the account about the cluster itself, beside its classes' selectors: the
// control plane's version, and which zones its traffic is shifted away from (ARC zonal shift).
// Pure. https://docs.aws.amazon.com/arc-zonal-shift/latest/api/API_GetManagedResource.html
#pragma once

#include <vector>

#include "providers/aws/selectors.h"

namespace karst::providers::aws {

inline constexpr std::string_view kClusterKey = "cluster";
inline constexpr std::string_view kShiftsKey = "zonal-shift";
inline constexpr std::int64_t kShiftsLifeMillis = 30'000;       // as Karpenter's
inline constexpr std::int64_t kVersionLifeMillis = 5 * 60'000;  // as Karpenter's

void ask_about_cluster(std::vector<Question>& out, const Cluster& cluster);

// The cluster as answers have it. What was not answered stays as it was known.
Cluster as_answered(Cluster cluster, const Answers& answers);

// Of the subnets' zones those that a shift is in force for now, sorted.
std::vector<std::string> shifted_zones(const Answers& answers, const std::vector<Subnet>& subnets,
                                       std::int64_t now_millis);

}  // namespace karst::providers::aws
