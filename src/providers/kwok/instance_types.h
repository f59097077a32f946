// The instance types of the kwok cloud from a file, as Karpenter's --instance-types-file-path takes
// it (v1.14): a JSON array of
//   {name, architecture, operatingSystems, resources, offerings: [{Price, Available, Requirements,
//   ReservationCapacity}]}
// with an offering's zone and capacity type in its Requirements. Available is always true, as it is
// there. Reserved offerings are refused. Pure.
#pragma once

#include <string_view>

#include "base/result.h"
#include "model/cloud.h"

namespace karst::providers::kwok {

inline constexpr std::size_t kInstanceTypesFileMax = 16u << 20;  // bytes
inline constexpr std::size_t kInstanceTypesMax = 5'000;

// Sorted by name; offerings by zone, then capacity type. Errors: kInvalid with the line.
base::Result<model::Catalogue> read_instance_types(std::string_view json);

}  // namespace karst::providers::kwok
