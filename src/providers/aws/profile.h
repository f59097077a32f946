// The instance profile of a node class: the one it names, or one of ours for the role it names,
// looked up, made, and given its role, each step when the one before was answered. IAM's calls are
// idempotent by name. Pure.
#pragma once

#include <string>
#include <vector>

#include "providers/aws/selectors.h"

namespace karst::providers::aws {

// How long a profile that is there, with a role, is taken to stay. As Karpenter's.
inline constexpr std::int64_t kProfileLifeMillis = 15 * 60'000;

// "<cluster>_<hash>", at most 128 characters, the same for the same cluster, region, class and
// role, so that another role is another profile.
std::string profile_name(const NodeClassSubject& subject, const Cluster& cluster);

// Of all that is made for one class: "/karpenter/<region>/<cluster>/<uid>/".
std::string profile_path(const Cluster& cluster, const std::string& class_uid);

// Adds GetInstanceProfile, then CreateInstanceProfile where it is not there, then
// AddRoleToInstanceProfile where it has no role. Keys: "profile", "profile/create", "profile/role".
void ask_for_profile(std::vector<Question>& out, const NodeClassSubject& subject,
                     const Cluster& cluster, const Answers& answers);

// Sets `resolved.instance_profile`; returns what stands in the way, empty when nothing does.
std::string resolve_profile(const NodeClassSubject& subject, const Cluster& cluster,
                            const Answers& answers, Resolved& resolved);

}  // namespace karst::providers::aws
