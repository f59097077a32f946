// What EC2 offers to a node class, in Karpenter's terms (v1.14): labels, resources, allocatable,
// offerings. From the embedded table of us-east-1: on-demand prices are of July 2026; there are no
// spot prices in it, and spot is listed at the on-demand price, as Karpenter does until it has
// asked EC2. What EC2 answers in an account always counts before this. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/cloud.h"
#include "providers/aws/node_class.h"
#include "providers/aws/table.h"

namespace karst::providers::aws {

inline constexpr std::string_view kNodeClassGroup = "karpenter.k8s.aws";
inline constexpr std::string_view kNodeClassKind = "EC2NodeClass";
inline constexpr std::string_view kZoneIdLabel = "topology.k8s.aws/zone-id";
inline constexpr std::string_view kVolumeDriver = "ebs.csi.aws.com";
inline constexpr std::string_view kNodeClassLabel = "karpenter.k8s.aws/ec2nodeclass";
inline constexpr std::string_view kWindowsBuildLabel = "node.kubernetes.io/windows-build";
inline constexpr std::int64_t kNanosPerMicro = 1'000;  // of a dollar

// Where machines may be: zones of one region.
struct Place {
  std::string region{kRegion};
  std::vector<std::string> zones;  // names, sorted; empty: all that the table has, of kRegion only
};

// The place of these zones. Errors: kInvalid when they are of several regions, or of one that the
// table does not know.
base::Result<Place> place_of(std::vector<std::string> zones);
// "eu-west-1a" → "eu-west-1"; empty when it is no name of an ordinary zone.
std::string_view region_of(std::string_view zone);

// One type as machines of this class have it, with all its offerings; none where it is not sold.
model::InstanceType make_type(const TypeFacts& facts, const NodeClassSettings& settings,
                              const Place& place = {});

// Whether machines of this class can be of that type at all.
bool fits(const TypeFacts& facts, const NodeClassSettings& settings);

// All that are sold and fit, sorted by type name; offerings by zone, then capacity type.
model::Catalogue make_catalogue(const NodeClassSettings& settings, const Place& place = {});

// The label keys that its types and offerings define beyond the well-known ones, sorted.
std::span<const std::string_view> label_keys();
// The same and those that depend on how a machine is bought, sorted.
std::span<const std::string_view> own_labels();

// "us-east-1a" → its id; empty for a zone that the table does not have.
std::string_view zone_id_of(std::string_view zone);

// EBS volumes that a machine of this type can attach beside its root volume; 0: not known.
std::int64_t attachable_volumes(std::string_view type_name);

}  // namespace karst::providers::aws
