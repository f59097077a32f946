// Where greed leaves over some of a few pods: every place for each of them is tried, those that are
// there first. Internal to the search.
#pragma once

#include <cstddef>
#include <memory>

#include "scheduling/packer.h"
#include "scheduling/prepared.h"

namespace karst::scheduling {

inline constexpr std::int64_t kFewPodsMax = 7;       // of the problem
inline constexpr std::size_t kFewNodesMax = 8;       // of the problem
inline constexpr std::size_t kFewPlacesMax = 3'000;  // looked at, without and with other domains

// The packing that leaves over the fewest pods, the cheapest of those, if it leaves over fewer than
// `left`; nullptr: there is none, or the problem is larger than that, or knows priorities or
// reservations.
std::unique_ptr<Packer> place_few(Prepared& prepared, const Strategy& strategy, std::int64_t left);

}  // namespace karst::scheduling
