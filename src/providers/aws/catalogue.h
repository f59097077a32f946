// What EC2 offers to a node class, in Karpenter's terms (v1.14): labels, resources, allocatable,
// offerings. From the embedded table of us-east-1: on-demand prices are of July 2026; there are no
// spot prices in it, and spot is listed at the on-demand price, as Karpenter does until it has
// asked EC2. What EC2 answers in an account always counts before this. Pure.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "model/cloud.h"
#include "providers/aws/node_class.h"
#include "providers/aws/table.h"

namespace karst::providers::aws {

inline constexpr std::string_view kNodeClassGroup = "karpenter.k8s.aws";
inline constexpr std::string_view kNodeClassKind = "EC2NodeClass";
inline constexpr std::string_view kZoneIdLabel = "topology.k8s.aws/zone-id";
inline constexpr std::string_view kVolumeDriver = "ebs.csi.aws.com";

// One type as machines of this class have it, with all its offerings; none where it is not sold.
model::InstanceType make_type(const TypeFacts& facts, const NodeClassSettings& settings);

// Whether machines of this class can be of that type at all.
bool fits(const TypeFacts& facts, const NodeClassSettings& settings);

// All that are sold and fit, sorted by type name; offerings by zone, then capacity type.
model::Catalogue make_catalogue(const NodeClassSettings& settings);

// The label keys that its types and offerings define beyond the well-known ones, sorted.
std::span<const std::string_view> label_keys();

// "us-east-1a" → its id; empty for a zone that the table does not have.
std::string_view zone_id_of(std::string_view zone);

// EBS volumes that a machine of this type can attach beside its root volume; 0: not known.
std::int64_t attachable_volumes(std::string_view type_name);

}  // namespace karst::providers::aws
