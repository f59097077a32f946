// Whether a class's machines may be made, asked of EC2 before the first is needed: the launch
// template and, in a subnet, a machine of it, both as dry runs that make nothing (Karpenter 1.14
// makes a real template for it). Whether CreateFleet is allowed is not asked: EC2 checks that
// against a template that is there. Only what is certain holds a class: a denial, an instance
// profile that the class names and EC2 does not know, user data that is too long. Anything else (a
// type that the region lacks, a throttle) is asked again the next time. Pure.
#pragma once

#include <optional>
#include <vector>

#include "providers/aws/kubelet.h"
#include "providers/aws/selectors.h"

namespace karst::providers::aws {

inline constexpr std::size_t kDryRunSubnetsMax = 4;             // tried until one passes
inline constexpr std::int64_t kDryRunLifeMillis = 30 * 60'000;  // as Karpenter's; denials: none
inline constexpr std::string_view kDryRunPasses = "DryRunOperation";

// Adds what is still to be asked, when all else is found. Keys: "dry-run/template",
// "dry-run/instance/SUBNET".
void ask_dry_run(std::vector<Question>& out, const NodeClassSubject& subject,
                 const Resolved& resolved, const Answers& answers);

// What holds the class, in Karpenter's words; nullopt: nothing that is known.
std::optional<Finding> dry_run_finding(const NodeClassSubject& subject, const Resolved& resolved,
                                       const Answers& answers);

}  // namespace karst::providers::aws
