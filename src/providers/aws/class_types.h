// The catalogue that is logged, and what of it a node class can have. The logged one is of no
// class: its types are as AL2023 with kubelet's defaults has them, and their `facts` hold the
// columns from which every class's pods and disks follow. Pure.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "model/cloud.h"
#include "providers/aws/node_class_spec.h"
#include "providers/aws/resolved.h"
#include "providers/aws/table.h"
#include "providers/provider.h"

namespace karst::providers::aws {

inline constexpr std::string_view kReservationIdLabel = "karpenter.k8s.aws/capacity-reservation-id";
inline constexpr std::string_view kPlacementGroupIdLabel = "karpenter.k8s.aws/placement-group-id";
inline constexpr std::string_view kPlacementGroupPartitionLabel =
    "karpenter.k8s.aws/placement-group-partition";

// One over this many of the on-demand price: what a reserved machine counts, so that any
// reservation comes before all else.
inline constexpr std::int64_t kReservedDivisor = 10'000'000;

// A type for the logged catalogue, without offerings.
model::InstanceType base_type(const TypeFacts& facts, const std::string& region);

// The embedded table's types with us-east-1's offerings.
model::Catalogue embedded_base_catalogue();

// What sizes of machines depend on: the class's own settings, and the cluster's.
NodeClassSettings settings_of(const NodeClassSpec& spec, const Resolved& resolved);

// The same type as machines of this class have it; offerings as they are.
model::InstanceType adapted(const model::InstanceType& base, const NodeClassSettings& settings);

// Puts the memory that such machines have shown with this image (`seen`, sorted by type and image)
// in the place of the estimate.
void use_seen_memory(model::InstanceType& type, const NodeClassSettings& settings,
                     const Image* image, std::span<const SeenMemory> seen);

// Adds what the reservations have left of this type, at the price above; the type keeps its order
// of offerings (zone, capacity type, reservation). Nothing for a type without an on-demand price.
// Everything else says that it does not carry a reservation's labels.
void add_reserved(const std::vector<Reservation>& reservations, model::InstanceType& type);

// What machines of this class can be: types that fit the family and have an image, with the memory
// that such machines have shown (`seen`, sorted by type and image); offerings in zones that have a
// subnet, with the zone's id, and those of its capacity reservations. In a region that the
// catalogue does not have, the embedded table's types of that region at us-east-1's prices.
std::vector<model::InstanceType> types_for(const model::Catalogue& catalogue,
                                           const NodeClassSpec& spec, const Resolved& resolved,
                                           std::span<const SeenMemory> seen = {});

}  // namespace karst::providers::aws
