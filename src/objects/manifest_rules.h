// What Kubernetes and Karpenter demand of manifests beyond the types of the fields, as functions by
// type name (schema.h): all that its API server refuses of what says where pods go and how many
// there are, and of the rest what is most often wrong. Sources: the Kubernetes API reference 1.34
// and its server's answers; the schemas of Karpenter 1.14's own kinds. Pure functions.
#pragma once

#include <cstdint>
#include <limits>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "objects/schema.h"

namespace karst::objects {

using RuleEntry = std::pair<std::string_view, Rule>;

inline constexpr std::int64_t kInt32Max = std::numeric_limits<std::int32_t>::max();

const std::vector<RuleEntry>& manifest_rules();

// Its parts.
std::vector<RuleEntry> metadata_rules();
std::vector<RuleEntry> pod_rules();
std::vector<RuleEntry> container_rules();
std::vector<RuleEntry> resource_rules();
std::vector<RuleEntry> placement_rules();
std::vector<RuleEntry> workload_rules();
std::vector<RuleEntry> cluster_rules();
std::vector<RuleEntry> karpenter_rules();
std::vector<RuleEntry> aws_rules();

// For rules: refuses the field `name` of `object`, at its line.
void refuse_field(Review& review, const TreeValue& object, std::string_view name, std::string what);
// Refuses the field with `bad`'s answer when that is not empty. Absent fields and such as are no
// string are fine.
void check_text(Review& review, const TreeValue& object, std::string_view name,
                std::string (*bad)(std::string_view));
// The whole number in a field; `fallback` when it is absent or none.
std::int64_t number_of(const TreeValue& object, std::string_view name, std::int64_t fallback);
// Refuses a whole number outside the range. Absent fields are fine.
void check_range(Review& review, const TreeValue& object, std::string_view name, std::int64_t least,
                 std::int64_t most);
// Every key and value of a map of labels.
void check_labels(Review& review, const TreeValue& object, std::string_view name);
// Refuses a list or map that is there and empty, or is not there.
void check_not_empty(Review& review, const TreeValue& object, std::string_view name);
// Refuses an element of a list whose `key` field was there before.
void check_unique(Review& review, const TreeValue& object, std::string_view name,
                  std::string_view key);

// Containers mount only volumes that the pod has, or that are named in `volumes`.
void check_mounts(Review& review, const TreeValue& pod_spec, std::set<std::string_view> volumes);
// Refuses huge pages without cpu or memory in the same resources; `beside`: they are elsewhere.
void check_huge_pages(Review& review, const TreeValue& resources, bool beside);
// What is asked for the pod as a whole, beside what its containers ask for.
void check_whole_resources(Review& review, const TreeValue& pod_spec);
// Refuses an object without spec.
void check_spec_is_there(Review& review, const TreeValue& object);

}  // namespace karst::objects
